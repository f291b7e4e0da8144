"""`manage.py improve PROJECT --judge J`: search for changes that make a judge better, and prove
them on locked documents."""

import time
from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from assurance.improving.adopting import adopt
from assurance.improving.certificate import candidate_json, not_tried, search_json, sentence_of
from assurance.improving.estimating import estimate_search
from assurance.improving.looking import look
from assurance.improving.trials import LOOK_SECONDS
from assurance.improving.work import (
    SearchLimits,
    pause_search,
    request_search,
    resume_search,
    work_on_search,
)
from evaluations.corpus.locks.locking import (
    lock_documents,
    locked_of,
    unlock_documents,
)
from evaluations.judging.runs.worker import work_on_run
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_criteria, find_judge, find_project
from evaluations.models import (
    Candidate,
    Change,
    Criterion,
    ErrandState,
    EvaluationRun,
    Judge,
    Project,
    RunState,
    Search,
)
from evaluations.models.improving import FREE_CHANGES
from geval.improving.ground import ImproveError
from geval.improving.words import MAP_CLAIM
from geval.statistics.held_out_test import ProofOutcome
from geval.statistics.locked_rule import LOOKS, SHARE
from geval_site.queues import worker_name

LOCKED = (
    "Documents are locked: their ratings are left out of reports and exports until the last of {}"
    " looks, or until --unlock."
)


class Command(SiteCommand):
    help = (
        "Search for a better judge, and prove it. Changes are tried on documents that are not"
        " locked, and the best one is proven on those that are. With --locked FILE instead of a"
        " project: the same from files, without a site (improve --help --locked lists its options)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("--judge", metavar="NAME", help="the judge to improve")
        parser.add_argument(
            "--criterion", action="append", metavar="C", help="only this criterion; can be repeated"
        )
        parser.add_argument(
            "--change",
            default=",".join(FREE_CHANGES),
            metavar="CHANGE,…",
            help=(
                f"what may be changed, divided by commas: {', '.join(Change.values)} (all but"
                " wording, examples and scoring, which make calls)"
            ),
        )
        parser.add_argument(
            "--calls",
            type=int,
            default=SearchLimits.most_calls,
            help=f"the calls that a search may make ({SearchLimits.most_calls})",
        )
        parser.add_argument(
            "--budget",
            type=Decimal,
            metavar="MONEY",
            help="what these calls may cost, in the currency of the judge's prices",
        )
        parser.add_argument(
            "--reflector",
            metavar="NAME",
            help="the judge whose model proposes wordings (the judge itself)",
        )
        parser.add_argument(
            "--lock",
            type=float,
            metavar="SHARE",
            help=f"lock this share of the documents first ({SHARE} if none are locked)",
        )
        parser.add_argument(
            "--looks",
            type=int,
            default=LOOKS,
            help=f"with --lock: how often locked documents may be looked at ({LOOKS})",
        )
        parser.add_argument(
            "--no-look",
            action="store_true",
            help="only search; spend no look at the locked documents",
        )
        parser.add_argument(
            "--look",
            type=int,
            metavar="ID",
            help="search for nothing: take a look with this change, found before",
        )
        parser.add_argument(
            "--use",
            action="store_true",
            help="what is proven becomes the judge's next version, or a judge of its own, and runs",
        )
        parser.add_argument(
            "--unlock",
            action="store_true",
            help=(
                "only open the locked documents, for good: their ratings are shown, and nothing can"
                " be proven on them afterwards"
            ),
        )
        parser.add_argument("--json", action="store_true", help="print what was found as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        if options["unlock"]:
            self._unlock(project)
            return
        if options["judge"] is None:
            raise CommandError("Name the judge to improve with --judge.")
        judge = find_judge(project, options["judge"])
        reflector = options["reflector"]
        limits = SearchLimits(
            most_calls=options["calls"],
            budget=options["budget"],
            reflector=find_judge(project, reflector) if reflector else None,
        )
        changes = [name.strip() for name in options["change"].split(",") if name.strip()]
        try:
            if locked_of(project) is None:
                locked = lock_documents(
                    project, share=options["lock"] or SHARE, looks=options["looks"]
                )
                self.stderr.write(LOCKED.format(locked.looks_allowed))
            elif options["lock"] is not None:
                raise CommandError("This project has locked documents already; leave --lock out.")
            searches = (
                [self._look_at(judge, options["look"])]
                if options["look"]
                else [
                    self._improve(judge, criterion, changes, limits, looks=not options["no_look"])
                    for criterion in find_criteria(project, options["criterion"])
                ]
            )
            if options["use"]:
                self._use(searches)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        except ImproveError as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(orjson.dumps(searches, option=orjson.OPT_INDENT_2).decode())

    def _unlock(self, project: Project) -> None:
        locked = locked_of(project)
        if locked is None:
            raise CommandError("No documents are locked.")
        unlock_documents(locked)
        self.stderr.write("The documents are unlocked. Nothing can be proven on them now.")

    def _improve(
        self,
        judge: Judge,
        criterion: Criterion,
        changes: list[str],
        limits: SearchLimits,
        *,
        looks: bool,
    ) -> dict[str, Any]:
        search = request_search(judge, criterion, changes, limits=limits)
        if search.asks_models:
            self._announce(judge, criterion, limits)
        if search.state == ErrandState.PAUSED:
            resume_search(search)
        self._until_done(search)
        best = best_of(search)
        if looks and best is not None:
            self._look(best)
        candidates = list(search.candidates.order_by("pk"))
        self.stderr.write(
            f"{criterion}: {search.found['training']} training documents,"
            f" {search.found['locked']} locked."
        )
        for sentence in search.found.get("what_numbers_speak_of", ()):
            self.stderr.write(f"  {sentence}")
        for candidate in candidates:
            self.stderr.write(f"  {sentence_of(candidate)}")
        if not candidates:
            self.stderr.write("  Nothing better was found; no look was spent.")
        for what, why in not_tried(search):
            self.stderr.write(f"  Without {what}: {why}.")
        return search_json(search) | {
            "candidates": [candidate_json(candidate) for candidate in candidates]
        }

    def _look_at(self, judge: Judge, pk: int) -> dict[str, Any]:
        """Take a look at a change from an earlier search."""
        candidate = (
            Candidate.objects.filter(pk=pk, search__judge=judge)
            .select_related("search__project", "search__judge", "search__criterion", "proposal")
            .first()
        )
        if candidate is None:
            raise CommandError(f"No search for {judge} has found a change with the ID {pk}.")
        self._look(candidate)
        self.stderr.write(f"{candidate.search.criterion}: {sentence_of(candidate)}")
        return search_json(candidate.search) | {"candidates": [candidate_json(candidate)]}

    def _announce(self, judge: Judge, criterion: Criterion, limits: SearchLimits) -> None:
        about = estimate_search(judge, criterion, calls=limits.most_calls)
        if about is not None:
            cost = "" if about.cost is None else f", which cost about {about.cost:.2f}"
            self.stderr.write(
                f"{criterion}: at most {about.calls:,} calls, about {about.tokens:,} tokens{cost}."
                " Ctrl-C pauses."
            )

    def _use(self, candidates: list[dict[str, Any]]) -> None:
        """Adopt the proven changes, and score every output with them."""
        ids = [proposed["candidate"] for search in candidates for proposed in search["candidates"]]
        for candidate in Candidate.objects.filter(
            pk__in=ids, look__outcome=ProofOutcome.PROVEN, adopted_as=None
        ).select_related("search__project", "search__judge", "search__criterion", "proposal"):
            judge, run = adopt(candidate)
            self._finish(run)
            self.stderr.write(
                f"{candidate.title} is used: {judge}, run {run.pk} is"
                f" {run.get_state_display().lower()}.{_what_it_changes(candidate)}"
            )

    def _finish(self, run: EvaluationRun) -> None:
        """Judge a run's items here, and wait for those that other workers have in hand."""
        work_on_run(run.pk, worker_name())
        run.refresh_from_db()
        while run.is_active:
            time.sleep(LOOK_SECONDS)
            work_on_run(run.pk, worker_name())
            run.refresh_from_db()

    def _until_done(self, search: Search) -> None:
        """Do the search here, or wait for the worker that does it.

        Raises:
            ImproveError: the search failed, or was paused or cancelled.
        """
        try:
            while search.is_open:
                work_on_search(search.pk)
                search.refresh_from_db()
                if search.is_open:
                    time.sleep(LOOK_SECONDS)
        except KeyboardInterrupt:
            pause_search(search, "the command line")
            raise CommandError(
                "The search is paused. The same command continues it; nothing is asked twice."
            ) from None
        if search.state != ErrandState.DONE:
            raise ImproveError(
                search.message or f"The search is {search.get_state_display().lower()}."
            )

    def _look(self, candidate: Candidate) -> None:
        """Take a look; for a wording, judge the documents first."""
        while look(candidate) is None:
            candidate.refresh_from_db()
            run = candidate.look_run
            assert run is not None
            self._finish(run)
            if not run.is_active and run.state != RunState.DONE:
                raise ImproveError(
                    f"Run {run.pk}, which judges the locked documents, is"
                    f" {run.get_state_display().lower()}: {run.message} Resume it, then take the"
                    " look on the page."
                )
        candidate.refresh_from_db()


def _what_it_changes(candidate: Candidate) -> str:
    """Return a clause saying that a map does not change the ranking; empty for other changes."""
    return f" {MAP_CLAIM[:1].upper()}{MAP_CLAIM[1:]}." if candidate.is_map else ""


def best_of(search: Search) -> Candidate | None:
    """Return the candidate with the largest gain in rank on training documents; if none gains, the
    map that brings scores closer to ratings than before and than the best constant does."""
    candidates = search.candidates.order_by("pk")
    return next((best for best in candidates if best.is_better_on_training), None)
