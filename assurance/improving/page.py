"""The page of improvements of a judge on a criterion."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, QuerySet

from assurance.improving.certificate import look_of, not_tried
from assurance.improving.looking import looks_taken
from assurance.improving.proposals import Progress, against_today, progress_of
from evaluations.corpus.locks.draws import POLICY, earlier_draws
from evaluations.corpus.locks.locking import locked_of
from evaluations.judging.judges.wordings import ChangedPart
from evaluations.models import (
    Candidate,
    Criterion,
    Document,
    Judge,
    LockedDocuments,
    LockEvent,
    Look,
    Project,
    Search,
)
from evaluations.models.changes import state_of
from evaluations.models.improving import OPEN_STATES, LockedText, withheld_documents
from geval.improving.changes import MEASURE_LABELS, measure_on
from geval.improving.words import constant_of, ranks_of
from geval.reports.drawings.forest import Axis, AxisSpan
from geval.statistics.cache import remembered_as
from geval.statistics.held_out_test import ProofOutcome
from geval.texts.numbers import or_dash, signed

# The axis of gains extends at least this far to both sides.
LEAST_REACH = 0.1
STEP = 0.05
# A page with more would be slow; the newest searches come first.
MOST_ROWS = 30


@dataclass(frozen=True)
class Row:
    """A candidate compared with today's judge: a ring for training, a dot and an interval for
    locked documents, as positions on the axis of gains. A map's gain is a distance in
    points, so it has a separate axis with `ticks`; 0 is in the middle of both."""

    candidate: Candidate
    gain: float
    look: Look | None
    ring: str
    dot: str | None
    span: AxisSpan | None
    ticks: tuple[tuple[str, str], ...] = ()

    @property
    def wording(self) -> list[ChangedPart]:
        """The changed parts of the prompt, compared with today's; empty for other changes."""
        return against_today(self.candidate.proposal) if self.candidate.proposal else []

    @property
    def stamp(self) -> str:
        """The CSS class of the outcome stamp."""
        if self.look is None:
            return "unseen"
        return "proven" if self.look.outcome == ProofOutcome.PROVEN else "not"

    @property
    def stamp_text(self) -> str:
        return self.look.outcome.capitalize() if self.look else "Not looked at"

    @property
    def ranks(self) -> str:
        """The number of documents in which each of the two judges ranks anything."""
        return ranks_of(self.look) if self.look else ""

    @property
    def constant(self) -> str:
        """For a map, the result of the best constant on the locked documents."""
        return constant_of(self.look) if self.look else ""

    @property
    def is_pending(self) -> bool:
        """Whether its look is taken and locked documents are still being judged."""
        return self.look is None and self.candidate.look_run_id is not None


@dataclass(frozen=True)
class ImprovePage:
    """Everything about a judge on a criterion; `lead` summarises it in a sentence."""

    judge: Judge | None
    criterion: Criterion | None
    judges: tuple[Judge, ...]
    criteria: tuple[Criterion, ...]
    locked: LockedDocuments | None
    looks: tuple[Look, ...]
    documents: int
    search: Search | None
    progress: Progress | None
    last: Search | None
    rows: tuple[Row, ...]
    not_tried: tuple[tuple[str, str], ...]
    axis: Axis
    ticks: tuple[tuple[str, str], ...]
    zero: str
    lead: str

    @property
    def boxes(self) -> list[bool]:
        """A box for each allowed look: whether it is used."""
        allowed = self.locked.looks_allowed if self.locked else 0
        used = looks_taken(self.locked) if self.locked else 0
        return [number < used for number in range(allowed)]

    @property
    def withheld(self) -> int:
        """The number of documents whose ratings are currently withheld."""
        return len(withheld_documents(self.locked.project_id)) if self.locked else 0

    @property
    def earlier_draws(self) -> str:
        """Which draw of known texts this is; empty for the first. It is cached, as all texts are
        read for it."""
        if self.locked is None:
            return ""
        project = self.locked.project
        of_corpus = state_of(project.pk).get((None, None))
        newest = LockedText.objects.aggregate(newest=Max("pk"))["newest"]
        parts = [project.pk, of_corpus, self.locked.draw, newest]
        return remembered_as("earlier draws", parts, lambda: str(earlier_draws(project)))

    @property
    def policy_looks(self) -> list[LockEvent]:
        """The looks that were taken for policies."""
        events = LockEvent.objects.of_draw(self.locked.draw) if self.locked else []
        return [each for each in events if each.content.get("title", "").startswith(POLICY)]

    @property
    def measure(self) -> str:
        """The name of what is to be improved on the criterion."""
        return MEASURE_LABELS[measure_on(self.criterion.scale)] if self.criterion else ""

    @property
    def looks_used(self) -> int:
        return self.boxes.count(True)

    @property
    def next_look(self) -> int:
        """The number of the next look, starting at 1."""
        return self.looks_used + 1

    @property
    def in_use(self) -> Judge | None:
        """The newest judge that a change became and that can be run."""
        judges = [row.candidate.adopted_as for row in self.rows]
        used = [judge for judge in judges if judge is not None and judge.retired_at is None]
        return max(used, key=lambda judge: judge.pk, default=None)

    @property
    def looks_left(self) -> int:
        return self.boxes.count(False)


def improve_page(project: Project, *, judge: str = "", criterion: str = "") -> ImprovePage:
    """Return the page for a judge and a criterion by id; by default those of the last search, or
    else the first."""
    judges = tuple(_judges(project))
    criteria = tuple(project.criteria.all())
    last = Search.objects.filter(project=project).first()
    chosen_judge = _named(judges, judge, last.judge_id if last else None)
    chosen = _named(criteria, criterion, last.criterion_id if last else None)
    searches = (
        Search.objects.filter(judge=chosen_judge, criterion=chosen)
        if chosen_judge and chosen
        else Search.objects.none()
    )
    locked = locked_of(project)
    looks = (
        locked.looks.select_related(
            "candidate__search__judge", "candidate__search__criterion", "looked_by"
        )
        if locked
        else Look.objects.none()
    )
    rows, axis = _rows(searches)
    current = searches.filter(state__in=OPEN_STATES).first()
    shown = current or searches.filter(proposals__isnull=False).first()
    last_search = searches.exclude(state__in=OPEN_STATES).first()
    return ImprovePage(
        judge=chosen_judge,
        criterion=chosen,
        judges=judges,
        criteria=criteria,
        locked=locked,
        looks=tuple(looks),
        documents=Document.objects.filter(project=project).count(),
        search=current,
        progress=progress_of(shown) if shown else None,
        last=last_search,
        rows=rows,
        not_tried=not_tried(last_search) if last_search else (),
        axis=axis,
        ticks=_ticks(axis),
        zero=axis.at(0.0),
        lead=_lead(rows, locked, is_searching=current is not None),
    )


def _judges(project: Project) -> QuerySet[Judge]:
    """Return judges with scores, those in use first."""
    return project.judges.with_scores().filter(retired_at=None).order_by("pk")


def _named(things: Sequence[Any], pk: str, otherwise: int | None) -> Any:
    """Return the record with this id, else the one with the fallback id, else the first."""
    by_id = {str(thing.pk): thing for thing in things}
    return by_id.get(pk) or by_id.get(str(otherwise)) or next(iter(things), None)


def _rows(searches: QuerySet[Search]) -> tuple[tuple[Row, ...], Axis]:
    candidates = list(
        Candidate.objects.filter(search__in=searches)
        .select_related("look", "look_run", "adopted_as", "proposal__search")
        .order_by("-search", "pk")[:MOST_ROWS]
    )
    shown = [look_of(candidate) for candidate in candidates]
    with_looks = list(zip(candidates, shown, strict=True))
    axes = {
        is_map: _axis([row for row in with_looks if row[0].is_map == is_map])
        for is_map in (False, True)
    }
    rows = tuple(_row(candidate, look, axes[candidate.is_map]) for candidate, look in with_looks)
    return rows, axes[False]


def _axis(rows: Sequence[tuple[Candidate, Look | None]]) -> Axis:
    """Return an axis that extends to both sides as far as the largest gain or interval end."""
    values = [
        value
        for candidate, look in rows
        for value in (candidate.training["gain"], *((look.low, look.high) if look else ()))
        if value is not None
    ]
    reach = max([LEAST_REACH, *(abs(value) for value in values)])
    reach = math.ceil(reach / STEP - 1e-9) * STEP
    return Axis(-reach, reach)


def _row(candidate: Candidate, look: Look | None, axis: Axis) -> Row:
    gain = candidate.training["gain"]
    has_ends = look is not None and look.low is not None and look.high is not None
    return Row(
        candidate,
        gain,
        look,
        ring=axis.at(gain),
        dot=axis.at(look.gain) if look and look.gain is not None else None,
        span=axis.span(look.low, look.high) if look and has_ends else None,  # type: ignore[arg-type]
        ticks=_ticks(axis) if candidate.is_map else (),
    )


def _ticks(axis: Axis) -> tuple[tuple[str, str], ...]:
    step = STEP * max(1, round(axis.high / STEP / 2))
    count = math.floor(axis.high / step + 1e-9)
    values = [step * number for number in range(-count, count + 1)]
    return tuple((axis.at(v), signed(v) if v else "0") for v in values)


def _lead(rows: Sequence[Row], locked: LockedDocuments | None, *, is_searching: bool) -> str:
    if locked is None:
        return (
            "Set documents aside first. What is found on the others can then be proven on texts"
            " that no attempt has seen."
        )
    if locked.unlocked_at is not None:
        return "The locked documents were opened: nothing can be proven on them any more."
    proven = [row for row in rows if row.stamp == "proven"]
    if proven:
        return _lead_of_proof(proven)
    if any(row.look for row in rows):
        return "Nothing is proven yet: no change was surely better on the locked documents."
    is_better = any(row.candidate.is_better_on_training for row in rows)
    if is_better and not locked.has_looks:
        return (
            "Changes were found on training documents. All looks at the locked documents are used,"
            " so none of these can be proven here."
        )
    if is_better:
        return "Changes were found on training documents. Look at the best one to prove it."
    if rows:
        return "Nothing better was found on training documents, so no look is worth spending."
    return "A search is in progress." if is_searching else "No change is ready to be tested."


def _lead_of_proof(proven: Sequence[Row]) -> str:
    """Describe the best gain in rank; if only maps are proven, describe their benefit."""
    ranking = [row for row in proven if not row.candidate.is_map]
    best = max(ranking or proven, key=lambda row: row.look.gain or 0.0 if row.look else 0.0)
    look = best.look
    assert look is not None
    from_to = f"from {or_dash(look.today)} to {or_dash(look.value)}"
    unseen = f"{best.candidate.title} is proven: on documents no attempt has seen,"
    change = (
        f"{MEASURE_LABELS[best.candidate.measure]} rises {from_to}."
        if ranking
        else f"its numbers fit people's scale better (distance {from_to}); it ranks as before."
    )
    return f"{unseen} {change} On new documents a proven gain is usually smaller."
