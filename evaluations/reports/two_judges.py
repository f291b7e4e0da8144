"""The page that compares two judges: paired differences, who gives what, who agrees with people,
and what each costs."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.core.paginator import Page, Paginator
from django.db import connection

from evaluations.formats import signed
from evaluations.models import Judge, Project
from evaluations.reports.analysis import ALPHA, Significance
from evaluations.reports.data import ReportData
from evaluations.reports.forest import Axis, Span, Tick, round_numbers, ticks_at
from evaluations.reports.gap_ranking import judges_on
from evaluations.reports.gap_view import first_of, number_in
from evaluations.reports.judge_costs import JudgeCost, cost_of
from evaluations.reports.judge_pairs import Pair, pair_on, unit_of
from evaluations.reports.live import live_data
from evaluations.reports.memo import remembered
from evaluations.reports.options import ReportOptions
from evaluations.reports.report import Report
from evaluations.reports.score_grids import Grid, Shares, grid_of, shares_of
from evaluations.reports.shown import shown_report
from evaluations.reports.words import listed
from evaluations.scales import short
from evaluations.statistics.correlation import mean_by_document
from evaluations.statistics.jackknife import no_interval
from evaluations.statistics.resampling import Interval
from evaluations.statistics.two_judges import (
    ONLY_FIRST,
    ONLY_SECOND,
)

# Of one kind all are listed, page by page; of both kinds the first few.
PAGE_SIZE = 50
FIRST_FEW = 10
CLASSES = {"first": ONLY_FIRST, "second": ONLY_SECOND}
_BEGINS = """
    SELECT o.id, left(o.text, 160), d.doc_id FROM evaluations_candidateoutput o
    JOIN evaluations_document d ON d.id = o.document_id WHERE o.id = ANY (%s::bigint[])"""


@dataclass(frozen=True)
class PairView:
    """Which two judges are compared, in a view of the report; `criterion` and `only` ("first",
    "second" or both) choose the outputs that are listed."""

    options: ReportOptions
    first: int = 0
    second: int = 0
    criterion: int = 0
    only: str = ""
    page: int = 0

    def to(self, **changes: Any) -> str:
        """The address of another view, with some parts changed; from the first page on."""
        own = ("first", "second", "criterion", "only", "page")
        given = {name: getattr(self, name) for name in own} | {"page": 0} | changes
        kept = urlencode([(name, value) for name, value in given.items() if value])
        return f"?{'&'.join(part for part in (kept, self.options.query) if part)}"


def read_pair_view(query: Mapping[str, Any], options: ReportOptions) -> PairView:
    """The view in an address; what cannot be used in it has its default."""
    only = str(query.get("only") or "")
    ids = {name: number_in(query, name) for name in ("first", "second", "criterion", "page")}
    return PairView(options, only=only if only in CLASSES else "", **ids)


@dataclass(frozen=True)
class Difference:
    """A criterion's row: both correlations, their difference with its interval, the p-value
    adjusted as on the report, and what follows; `ahead` is 1, 2, or 0 where it is undecided."""

    criterion: str
    first: str
    second: str
    difference: str
    interval: str
    p: str
    ahead: int
    reason: str
    dot: str
    span: Span | None
    leaves_out_zero: bool


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
    """All that the page shows; without a second judge there is nothing to compare."""

    view: PairView
    judges: tuple[Judge, ...]
    first: Judge | None = None
    second: Judge | None = None
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

    @property
    def alone(self) -> tuple[str, ...]:
        """The criteria that are undecided although the interval leaves out 0."""
        return tuple(row.criterion for row in self.differences if row.leaves_out_zero)

    @property
    def chosen(self) -> Shares | None:
        """The criterion whose outputs are listed."""
        return next((one for one in self.shares if one.pk == self.view.criterion), None)


def two_judges(project: Project, view: PairView) -> TwoJudges:
    """The page; judges that the view does not name are the two that rank outputs most like people
    on the first criterion.

    Raises:
        NotComputedError: a worker is still computing the report of a large project, whose tests
            these are.
    """
    data = live_data(project).selected(view.options)
    options = view.options
    criteria = [one for one in project.criteria.all() if one.pk in (options.criteria or (one.pk,))]
    known = {one.pk: one for one in project.judges.all() if one.pk in (options.judges or (one.pk,))}
    ranked = list(
        dict.fromkeys(pk for one in criteria for pk in judges_on(data, one.pk) if pk in known)
    )
    judges = tuple(known[pk] for pk in sorted(ranked))
    first = first_of(view.first, ranked, next(iter(ranked), 0))
    others = [pk for pk in ranked if pk != first]
    second = first_of(view.second, others, next(iter(others), 0))
    pairs = [
        pair
        for one in criteria
        if first and second and (pair := pair_on(data, one, first, second)) is not None
    ]
    view = PairView(
        view.options,
        first,
        second,
        first_of(view.criterion, [pair.criterion.pk for pair in pairs], _most_apart(pairs)),
        view.only,
        view.page,
    )
    if not pairs:
        return TwoJudges(view, judges, known.get(first), known.get(second))
    report = shown_report(project, view.options)
    return _compared(data, view, judges, (known[first], known[second]), pairs, report)


def _most_apart(pairs: list[Pair]) -> int:
    """The criterion with most outputs on which exactly one agrees."""

    def apart(pair: Pair) -> int:
        return int(np.isin(pair.agrees, (ONLY_FIRST, ONLY_SECOND)).sum())

    return max(pairs, key=apart).criterion.pk if pairs else 0


def _compared(
    data: ReportData,
    view: PairView,
    judges: tuple[Judge, ...],
    both: tuple[Judge, Judge],
    pairs: list[Pair],
    report: Report,
) -> TwoJudges:
    differences, axis, ends = _differences(pairs, both, report)
    costs = (cost_of(both[0]), cost_of(both[1]))
    chosen = next(pair for pair in pairs if pair.criterion.pk == view.criterion)
    page, one = _listed(data, view, chosen)
    used = {int(at) for pair in pairs for at in np.unique(data.outputs.document[pair.at])}
    mapped = [
        judge.label
        for judge, side in zip(both, ("first", "second"), strict=True)
        if any(getattr(pair, side) is not getattr(pair, f"{side}_on") for pair in pairs)
    ]
    return TwoJudges(
        view=view,
        judges=judges,
        first=both[0],
        second=both[1],
        lead=_lead(both, differences, costs),
        outputs=len(set(itertools.chain.from_iterable(pair.at.tolist() for pair in pairs))),
        documents=len(used),
        axis=ticks_at(axis, round_numbers(ends)),
        zero=axis.at(0.0),
        differences=differences,
        grids=tuple(grid_of(pair) for pair in pairs),
        shares=tuple(shares_of(pair) for pair in pairs),
        costs=costs,
        unit=short(round(unit_of(chosen.criterion.scale), 4)),
        page=page,
        one=one,
        mapped=tuple(mapped),
    )


def _differences(
    pairs: list[Pair], both: tuple[Judge, Judge], report: Report
) -> tuple[tuple[Difference, ...], Axis, list[float]]:
    """Tests, intervals and adjusted p-values are the report's own, over all its pairs of judges, so
    that its letters and this page say the same."""
    significance = {one.pk: one.significance for one in report.criteria}
    compared, values = [], []
    for pair in pairs:
        compared.append(_compared_in(significance[pair.criterion.pk], both))
        on = (pair.outputs, pair.human)
        values.append(
            [
                remembered(mean_by_document, *on, side, report.options.coefficient)
                for side in (pair.first, pair.second)
            ]
        )
    ends = [one[0] - one[1] for one in values if not np.isnan(one).any()]
    ends += [end for interval, _p, _reason in compared for end in (interval.ends or ())]
    low, high = min([0.0, *ends]), max([0.0, *ends])
    width = (high - low) or 0.2
    axis = Axis(low - 0.05 * width, high + 0.05 * width)
    rows = tuple(
        _difference(pair, one, interval, p, reason, axis)
        for pair, one, (interval, p, reason) in zip(pairs, values, compared, strict=True)
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
    pair: Pair,
    values: list[float],
    interval: Interval,
    p: float | None,
    reason: str,
    axis: Axis,
) -> Difference:
    first, second = values
    gap = first - second
    ahead = 0 if p is None or p > ALPHA or np.isnan(gap) else 1 if gap > 0 else 2
    ends = interval.ends
    return Difference(
        criterion=pair.criterion.name,
        first="–" if np.isnan(first) else f"{first:.2f}",
        second="–" if np.isnan(second) else f"{second:.2f}",
        difference="–" if np.isnan(gap) else signed(gap),
        interval=f"[{signed(ends[0])}, {signed(ends[1])}]" if ends else "",
        p="–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}",
        ahead=ahead,
        reason=reason or interval.reason,
        dot="" if np.isnan(gap) else axis.at(gap),
        span=axis.span(*ends) if ends else None,
        leaves_out_zero=not ahead and ends is not None and (ends[0] > 0 or ends[1] < 0),
    )


def _lead(
    both: tuple[Judge, Judge], rows: tuple[Difference, ...], costs: tuple[JudgeCost, JudgeCost]
) -> str:
    """What follows, in a sentence or three; the consequence first."""
    said = []
    for ahead, judge in enumerate(both, start=1):
        names = [row.criterion for row in rows if row.ahead == ahead]
        if names:
            said.append(f"{judge.label} ranks outputs more like people on {listed(names)}.")
    undecided = [row.criterion for row in rows if not row.ahead]
    if len(undecided) == len(rows):
        said.append("No difference between the two is shown on any criterion.")
    elif undecided:
        said.append(f"On {listed(undecided)} it is undecided.")
    return " ".join([*said, *_cheaper(costs)])


def _cheaper(costs: tuple[JudgeCost, JudgeCost]) -> list[str]:
    if any(not cost.money for cost in costs):
        return []
    cheap, dear = sorted(costs, key=lambda cost: cost.money or 0)
    times = float((dear.money or 0) / (cheap.money or 1))
    if times < 1.1:
        return []
    return [f"{dear.judge} costs {times:.0f} times as much." if times >= 2 else
            f"{dear.judge} costs {100 * (times - 1):.0f} % more."]  # fmt: skip


def _listed(
    data: ReportData, view: PairView, pair: Pair
) -> tuple[Page[int], tuple[OneAgrees, ...]]:
    """A page of the outputs on which exactly one agrees, the one where the other is farthest off
    first."""
    wanted = [CLASSES[view.only]] if view.only else list(CLASSES.values())
    off = np.where(pair.agrees == ONLY_FIRST, pair.second_on, pair.first_on)
    chosen = np.flatnonzero(np.isin(pair.agrees, wanted))
    order = chosen[np.argsort(-np.abs(off - pair.human)[chosen], kind="stable")]
    size = PAGE_SIZE if view.only else FIRST_FEW
    page = Paginator(order.tolist(), size).get_page(view.page if view.only else 1)
    ids = [int(data.output_ids[pair.at[place]]) for place in page.object_list]
    with connection.cursor() as cursor:
        cursor.execute(_BEGINS, [ids])
        texts = {pk: (begins, doc_id) for pk, begins, doc_id in cursor.fetchall()}
    found = []
    for pk, place in zip(ids, page.object_list, strict=True):
        begins, doc_id = texts.get(pk, ("", ""))
        is_first = pair.agrees[place] == ONLY_FIRST
        found.append(
            OneAgrees(
                pk,
                begins,
                data.system_names[pair.outputs.system[place]],
                doc_id,
                f"{pair.human[place]:.2f}",
                short(round(float(pair.first[place]), 2)),
                short(round(float(pair.second[place]), 2)),
                1 if is_first else 2,
                view.second if is_first else view.first,
            )
        )
    return page, tuple(found)
