"""The page that compares two judges: paired differences, who gives what, who agrees with people,
and what each costs."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from django.core.paginator import Page, Paginator
from django.db import connection

from evaluations.models import Judge, Project
from evaluations.reports.data import ids_of
from evaluations.reports.disagreements.view import first_of
from evaluations.reports.judge_costs import JudgeCost, cost_of, priced_judge
from evaluations.reports.searched import Searches, searches_behind
from evaluations.reports.serving.parts import PAIR, TESTS
from evaluations.reports.serving.view import page_view, report_view
from evaluations.reports.two_judges.probabilities import judges_with_probabilities
from evaluations.reports.two_judges.view import CLASSES, PairView
from geval.reports.dearer import Gap, what_the_dearer_gives
from geval.reports.drawings.forest import Axis, Span, Tick, round_numbers, ticks_at
from geval.reports.pair_on_criterion import OneAgreeing, PairOnCriterion
from geval.reports.pair_tests import PairTests
from geval.reports.report import Report
from geval.reports.score_grids import Grid, Shares
from geval.reports.seen import marked
from geval.reports.verdicts.analysis import Significance
from geval.reports.words import SYMBOLS, chosen_note, weights_note
from geval.statistics.jackknife import no_interval
from geval.statistics.resampling import Interval
from geval.statistics.scales import short
from geval.statistics.thresholds import SIGNIFICANCE
from geval.statistics.two_judges import ONLY_FIRST
from geval.texts.numbers import p_value, signed, two_decimals
from geval.texts.sentences import listed

# Of one kind all are listed, page by page; of both kinds the first few.
PAGE_SIZE = 50
FIRST_FEW = 10
_BEGINS = """
    SELECT o.id, left(o.text, 160), d.doc_id FROM evaluations_candidateoutput o
    JOIN evaluations_document d ON d.id = o.document_id WHERE o.id = ANY (%s::bigint[])"""


@dataclass(frozen=True)
class Difference:
    """A criterion's row: both correlations on the same documents, in how many of the `documents`
    that people rank each judge ranks anything, their difference (`gap`) with its interval (`ends`),
    both also as they are shown, the p-value
    adjusted as on the report, and what follows; `ahead` is 1, 2, or 0 where it is undecided. `seen`
    says of which judge a search has seen documents behind these numbers."""

    pk: int
    criterion: str
    first: str
    second: str
    documents: int
    ranks: tuple[int, int]
    gap: float
    ends: tuple[float, float] | None
    difference: str
    interval: str
    p: str
    ahead: int
    reason: str
    dot: str
    span: Span | None
    leaves_out_zero: bool
    seen: tuple[bool, bool]


@dataclass(frozen=True)
class OneAgrees:
    """An output on which exactly one judge agrees with people. `off` is the id of the other."""

    pk: int
    begins: str
    system: str
    doc_id: str
    people: str
    first: str
    second: str
    winner: int
    off: int


@dataclass(frozen=True)
class TwoJudges:
    """All that the page shows; without a second judge there is nothing to compare. `names` are
    those of the two, and `choices` those of all judges by id, where numbers stand; `seen` says of
    the two what the searches that made them have seen. `have_probabilities` says whether both gave
    some."""

    view: PairView
    choices: tuple[tuple[int, str], ...]
    first: Judge | None = None
    second: Judge | None = None
    names: tuple[str, str] = ("", "")
    seen: tuple[str, ...] = ()
    lead: str = ""
    outputs: int = 0
    documents: int = 0
    axis: tuple[Tick, ...] = ()
    zero: str = ""
    differences: tuple[Difference, ...] = ()
    grids: tuple[Grid, ...] = ()
    shares: tuple[Shares, ...] = ()
    costs: tuple[JudgeCost, ...] = ()
    unit: str = ""
    page: Page[int] | None = None
    one: tuple[OneAgrees, ...] = ()
    mapped: tuple[str, ...] = ()
    sample: tuple[str, ...] = ()
    listed: int = 0
    have_probabilities: bool = False

    @property
    def alone(self) -> tuple[str, ...]:
        """The criteria that are undecided although the interval leaves out 0."""
        return tuple(row.criterion for row in self.differences if row.leaves_out_zero)

    @property
    def chosen(self) -> Shares | None:
        """The criterion whose outputs are listed."""
        return next((share for share in self.shares if share.pk == self.view.criterion), None)

    @property
    def is_cut(self) -> bool:
        """Whether only some of the outputs on which one agrees can be listed."""
        return self.chosen is not None and self.listed < self.chosen.only_one


def two_judges(project: Project, view: PairView) -> TwoJudges:
    """The page; what the view does not name is chosen.

    Raises:
        NotComputedError: a worker is still computing the numbers of a large project, or its report,
            whose tests these are.
    """
    report_of_view = report_view(project, view.options)
    numbers = page_view(project, PAIR, view.of_numbers(ids_of(project.pk))).needed(PAIR)
    report = report_of_view.numbers().report
    judges = {one.pk: one for one in project.judges.all()}
    searches = searches_behind(project)
    criteria = {one.pk: one.name for one in project.criteria.all()}
    pairs = [pair for pair in numbers.criteria if pair.criterion in criteria]
    compared = {pair.criterion: criteria[pair.criterion] for pair in pairs}
    choices = tuple(
        (pk, searches.name_of(judges[pk], compared)) for pk in numbers.judges if pk in judges
    )
    view = replace(
        view,
        first=numbers.first,
        second=numbers.second,
        criterion=first_of(view.criterion, [pair.criterion for pair in pairs], _most_apart(pairs)),
    )
    first, second = judges.get(numbers.first), judges.get(numbers.second)
    if not pairs or first is None or second is None:
        return TwoJudges(view, choices, first, second)
    differences, axis, ends = _differences(pairs, criteria, (first, second), report, searches)
    costs = (cost_of(first), cost_of(second))
    chosen = next(pair for pair in pairs if pair.criterion == view.criterion)
    page, one = _listed(view, chosen.one_agrees)
    return TwoJudges(
        view=view,
        choices=choices,
        first=first,
        second=second,
        names=(dict(choices)[first.pk], dict(choices)[second.pk]),
        seen=_seen_in_words((first, second), report),
        lead=_lead((first, second), differences, costs, SYMBOLS[view.options.coefficient]),
        outputs=numbers.outputs,
        documents=numbers.documents,
        axis=ticks_at(axis, round_numbers(ends)),
        zero=axis.at(0.0),
        differences=differences,
        grids=tuple(pair.grid for pair in pairs),
        shares=tuple(pair.shares for pair in pairs),
        costs=costs,
        unit=chosen.unit,
        page=page,
        one=one,
        listed=len(chosen.one_agrees.output_ids),
        have_probabilities={first.pk, second.pk} <= {*judges_with_probabilities(project)},
        sample=tuple(filter(None, (weights_note(report), chosen_note(report)))),
        mapped=tuple(
            judge.label
            for at, judge in enumerate((first, second))
            if any(pair.mapped[at] for pair in pairs)
        ),
    )


def tests_of_two(project: Project, view: PairView) -> PairTests:
    """Tests between the two judges of a view.

    Raises:
        NotComputedError: a worker is still making them.
    """
    return page_view(project, TESTS, view.of_numbers(ids_of(project.pk))).needed(TESTS)


def _most_apart(pairs: list[PairOnCriterion]) -> int:
    """The criterion with most outputs on which exactly one agrees."""
    return max(pairs, key=lambda pair: pair.shares.only_one).criterion if pairs else 0


def _differences(
    pairs: list[PairOnCriterion],
    criteria: Mapping[int, str],
    both: tuple[Judge, Judge],
    report: Report,
    searches: Searches,
) -> tuple[tuple[Difference, ...], Axis, list[float]]:
    """Tests, intervals and adjusted p-values are the report's own, over all its pairs of judges, so
    that its letters and this page say the same."""
    significance = {one.pk: one.significance for one in report.criteria}
    compared = [_compared_in(significance[pair.criterion], both) for pair in pairs]
    values = [pair.correlations for pair in pairs]
    ends = [value[0] - value[1] for value in values if not np.isnan(value).any()]
    ends += [end for interval, _p, _reason in compared for end in (interval.ends or ())]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    width = (high - low) or 0.2
    axis = Axis(low - 0.05 * width, high + 0.05 * width)
    rows = tuple(
        _difference(
            pair,
            criteria[pair.criterion],
            (searches.made(pair.criterion, both[0].pk), searches.made(pair.criterion, both[1].pk)),
            (interval, p, reason),
            axis,
        )
        for pair, (interval, p, reason) in zip(pairs, compared, strict=True)
    )
    return rows, axis, ends


def _compared_in(
    significance: Significance, both: tuple[Judge, Judge]
) -> tuple[Interval, float | None, str]:
    """The interval of the first judge's correlation minus the second's, the adjusted p, and why
    there is none."""
    names = (both[0].label, both[1].label)
    pair = names if names in significance.tests else (names[1], names[0])
    if pair not in significance.tests:
        missing = "the report's view leaves one of them out"
        return no_interval(missing), None, missing
    interval = significance.intervals[pair]
    if pair != names and interval.ends:
        low, high = interval.ends
        interval = replace(interval, low=-high, high=-low)
    return interval, significance.adjusted.get(pair), significance.tests[pair].reason


def _difference(
    pair: PairOnCriterion,
    criterion: str,
    seen: tuple[bool, bool],
    compared: tuple[Interval, float | None, str],
    axis: Axis,
) -> Difference:
    interval, p, reason = compared
    first, second = pair.correlations
    gap = first - second
    ahead = 0 if p is None or p > SIGNIFICANCE or np.isnan(gap) else 1 if gap > 0 else 2
    ends = interval.ends
    return Difference(
        pk=pair.criterion,
        criterion=criterion,
        first="–" if np.isnan(first) else two_decimals(first),
        second="–" if np.isnan(second) else two_decimals(second),
        documents=pair.ranked.documents,
        ranks=(pair.ranked.first, pair.ranked.second),
        gap=gap,
        ends=ends,
        difference="–" if np.isnan(gap) else signed(gap),
        interval=f"[{signed(ends[0])}, {signed(ends[1])}]" if ends else "",
        p="–" if p is None else p_value(p),
        ahead=ahead,
        reason=reason or interval.reason,
        dot="" if np.isnan(gap) else axis.at(gap),
        span=axis.span(*ends) if ends else None,
        leaves_out_zero=not ahead and interval.leaves_out_zero,
        seen=seen,
    )


def _seen_in_words(both: tuple[Judge, Judge], report: Report) -> tuple[str, ...]:
    """What the searches that made two judges have seen of the documents that are compared."""
    labels = {judge.label for judge in both}
    return tuple(
        f"{result.judge} on {criterion.criterion}: {result.seen}."
        for criterion in report.criteria
        for result in criterion.judges
        if result.seen and result.judge in labels
    )


def _lead(
    both: tuple[Judge, Judge],
    rows: tuple[Difference, ...],
    costs: tuple[JudgeCost, JudgeCost],
    symbol: str,
) -> str:
    """What follows, in a sentence or three; the consequence first."""
    sentences = []
    for ahead, judge in enumerate(both, start=1):
        names = [marked(row.criterion, is_seen=row.seen[ahead - 1]) for row in rows
                 if row.ahead == ahead]  # fmt: skip
        if names:
            sentences.append(f"{judge.label} ranks outputs more like people on {listed(names)}.")
    undecided = [row.criterion for row in rows if not row.ahead]
    if len(undecided) == len(rows):
        sentences.append("No difference in agreement with people is shown on any criterion.")
    elif undecided:
        sentences.append(f"On {listed(undecided)} it is undecided.")
    gaps = [Gap(marked(row.criterion, is_seen=any(row.seen)), row.gap, row.ends) for row in rows]
    first, second = (priced_judge(*each) for each in zip(both, costs, strict=True))
    dearer = what_the_dearer_gives(first, second, gaps, symbol)
    return " ".join(filter(None, [*sentences, dearer]))


def _listed(view: PairView, found: OneAgreeing) -> tuple[Page[int], tuple[OneAgrees, ...]]:
    """A page of the outputs on which exactly one agrees."""
    places = np.arange(len(found.output_ids))
    if view.only:
        places = places[found.is_first == (CLASSES[view.only] == ONLY_FIRST)]
    size = PAGE_SIZE if view.only else FIRST_FEW
    page = Paginator(places.tolist(), size).get_page(view.page if view.only else 1)
    ids = [int(found.output_ids[place]) for place in page.object_list]
    with connection.cursor() as cursor:
        cursor.execute(_BEGINS, [ids])
        texts = {pk: (begins, doc_id) for pk, begins, doc_id in cursor.fetchall()}
    rows = []
    for pk, place in zip(ids, page.object_list, strict=True):
        begins, doc_id = texts.get(pk, ("", ""))
        is_first = bool(found.is_first[place])
        rows.append(
            OneAgrees(
                pk,
                begins,
                found.systems[place],
                doc_id,
                f"{found.human[place]:.2f}",
                short(round(float(found.first[place]), 2)),
                short(round(float(found.second[place]), 2)),
                1 if is_first else 2,
                view.second if is_first else view.first,
            )
        )
    return page, tuple(rows)
