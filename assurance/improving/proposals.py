"""The wordings proposed by a search in progress, for pages and commands."""

from dataclasses import dataclass
from decimal import Decimal

from assurance.improving.certificate import mean_on_selection
from assurance.improving.rewording import change_of
from assurance.improving.scoring import Scoring, scoring_of
from assurance.improving.trials import spent_on
from evaluations.judging.judges.wordings import ChangedPart, changed_parts
from evaluations.models import Change, EvaluationRun, Proposal, Search
from geval.evaluators.wording import shown_part
from geval.improving.changes import MEASURE_LABELS, measure_on
from geval.llm.reflection import PARTS
from geval.texts.numbers import two_decimals
from geval.texts.word_differences import MarkedLine, line_differences

SETTINGS = PARTS | {"mode": "Scoring", "samples": "Replies per item"}


@dataclass(frozen=True)
class Proposed:
    """A proposal next to the wording it was made from; `selection` is its mean merit on the
    selection documents, None if it was not tried on them."""

    proposal: Proposal
    part: str
    lines: tuple[MarkedLine, ...]
    selection: float | None

    @property
    def outcome(self) -> str:
        """The outcome in words."""
        if self.proposal.problem:
            return self.proposal.problem
        if self.selection is not None:
            measure = _measure_of(self.proposal.search)
            return f"{measure} {two_decimals(self.selection)} on the documents that choose"
        if self.proposal.on_batch is None:
            return "tried before, or not yet"
        if change_of(self.proposal) == Change.SCORING and self.proposal.on_batch is not None:
            measure = _measure_of(self.proposal.search)
            value = two_decimals(self.proposal.on_batch)
            return f"not in the better half: {measure} {value} on a few documents"
        before, after = self.proposal.parent_on_batch or 0.0, self.proposal.on_batch
        better = "better" if after > before else "no better"
        return (
            f"{better} on its own documents: {two_decimals(before)} before, {two_decimals(after)}"
        )


@dataclass(frozen=True)
class Progress:
    """The progress of a search for a wording, and what it is to improve."""

    measure: str
    calls: int
    most_calls: int
    money: Decimal | None
    budget: Decimal | None
    today: float | None
    best: float | None
    better: int
    proposals: tuple[Proposed, ...]
    run: EvaluationRun | None


def progress_of(search: Search) -> Progress | None:
    """Return the progress of a search for a wording; None for searches that make no calls."""
    if not search.asks_models:
        return None
    rows = list(search.proposals.select_related("parent").order_by("number"))
    spent = spent_on(search)
    tried = {row.number: mean_on_selection(row) for row in rows}
    values = [value for number, value in tried.items() if number and value is not None]
    return Progress(
        measure=_measure_of(search),
        calls=spent.calls,
        most_calls=search.most_calls,
        money=spent.money,
        budget=search.budget,
        today=tried.get(0),
        best=max(values, default=None),
        better=len(values),
        proposals=tuple(proposed(row) for row in reversed(rows) if row.number),
        run=search.runs.active().first(),
    )


def _measure_of(search: Search) -> str:
    return MEASURE_LABELS[measure_on(search.criterion.scale)]


def proposed(proposal: Proposal) -> Proposed:
    """Return a proposal for display."""
    parent = proposal.parent.texts if proposal.parent else {}
    if change_of(proposal) == Change.SCORING:
        lines = _scoring_lines(proposal)
    else:
        lines = line_differences(parent.get(proposal.part, ""), proposal.texts[proposal.part])
    return Proposed(
        proposal,
        SETTINGS[proposal.part],
        () if proposal.problem else lines,
        mean_on_selection(proposal),
    )


def against_today(proposal: Proposal) -> list[ChangedPart]:
    """Return the parts in which a proposal differs from today's wording, line by line."""
    if change_of(proposal) == Change.SCORING:
        return [(SETTINGS[proposal.part], _scoring_lines(proposal))]
    today = proposal.search.proposals.get(number=0).texts
    return changed_parts(today, proposal.texts)


def _scoring_lines(proposal: Proposal) -> tuple[MarkedLine, ...]:
    """Return today's setting next to the proposed one."""
    if proposal.part == "scale":
        search = proposal.search
        today = search.proposals.get(number=0).texts.get("scale") or str(search.criterion.scale)
        return line_differences(today, proposal.texts["scale"])
    if proposal.part == "beside":
        return line_differences("", shown_part("beside", proposal.texts["beside"]))
    return line_differences(str(Scoring.of(proposal.search.judge)), str(scoring_of(proposal)))
