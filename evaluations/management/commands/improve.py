"""`manage.py improve PROJECT --judge J`: search for changes that make a judge better, and prove
them on locked documents."""

from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from evaluations.improving.arms import ImproveError
from evaluations.improving.certificate import candidate_json, search_json, sentence_of
from evaluations.improving.locking import LOOKS, SHARE, lock_documents, locked_of
from evaluations.improving.looking import look
from evaluations.improving.work import request_search, work_on_search
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_criteria, find_judge, find_project
from evaluations.models import Candidate, Change, Criterion, Judge, Search


class Command(SiteCommand):
    help = (
        "Search for changes that make a judge better on documents that are not locked, and prove"
        " the best one on those that are."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("--judge", required=True, metavar="NAME")
        parser.add_argument(
            "--criterion", action="append", metavar="C", help="only this criterion; can be repeated"
        )
        parser.add_argument(
            "--change",
            default=",".join(Change.values),
            metavar="CHANGE,…",
            help=f"what may be changed, divided by commas: {', '.join(Change.values)} (all)",
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
        parser.add_argument("--json", action="store_true", help="print what was found as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = find_project(options["project"])
        judge = find_judge(project, options["judge"])
        changes = [name.strip() for name in options["change"].split(",") if name.strip()]
        try:
            if locked_of(project) is None:
                lock_documents(project, share=options["lock"] or SHARE, looks=options["looks"])
            elif options["lock"] is not None:
                raise CommandError("This project has locked documents already; leave --lock out.")
            found = [
                self._improve(judge, criterion, changes, looks=not options["no_look"])
                for criterion in find_criteria(project, options["criterion"])
            ]
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        except ImproveError as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.stdout.write(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())

    def _improve(
        self, judge: Judge, criterion: Criterion, changes: list[str], *, looks: bool
    ) -> dict[str, Any]:
        search = request_search(judge, criterion, changes)
        work_on_search(search.pk)
        search.refresh_from_db()
        if search.has_failed:
            raise ImproveError(search.message)
        best = best_of(search)
        if looks and best is not None:
            look(best)
        candidates = list(search.candidates.order_by("pk"))
        self.stderr.write(f"{criterion}: {search.found['training']} training documents,"
                          f" {search.found['locked']} locked.")  # fmt: skip
        for candidate in candidates:
            self.stderr.write(f"  {sentence_of(candidate)}")
        if not candidates:
            self.stderr.write("  Nothing better was found; no look was spent.")
        return search_json(search) | {
            "candidates": [candidate_json(candidate) for candidate in candidates]
        }


def best_of(search: Search) -> Candidate | None:
    """The candidate with the largest gain in rank on training documents, if any gains; else the map
    that brings scores nearer."""
    gaining = [one for one in search.candidates.order_by("pk") if one.training["gain"] > 0]
    return next(iter(gaining), None)
