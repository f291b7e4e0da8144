"""The page that compares two judges: paired differences, their scores, their agreement with people,
and their costs."""

from dataclasses import dataclass, replace

import numpy as np
from django.core.paginator import Page, Paginator

from assurance.two_judges.pair_figures import PAIR, priced_judge
from evaluations.models import Judge, Project
from evaluations.reports.data import ids_of
from evaluations.reports.judge_costs import costs_of
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.view import page_view, report_view
from geval.reports.costs import JudgeCost
from geval.reports.drawings.forest import Tick, round_numbers, ticks_at
from geval.reports.gap_view import first_of
from geval.reports.pair_differences import Difference, differences, lead_in_words, seen_in_words
from geval.reports.pair_numbers import OneAgreeing, PairOnCriterion
from geval.reports.pairs import CLASSES, PairView
from geval.reports.score_cells import Grid, Shares
from geval.reports.words import SYMBOLS, chosen_note, weights_note
from geval.statistics.paired_labels import PairedLabels
from geval.statistics.same_documents import ONLY_FIRST
from geval.statistics.scales import short
from geval.texts.numbers import two_decimals
from geval_site.sql import fetch_rows

# One kind alone is listed in full, in pages; of both kinds the first few.
PAGE_SIZE = 50
FIRST_FEW = 10
_BEGINS = """
    SELECT o.id, left(o.text, 160), d.doc_id FROM evaluations_candidateoutput o
    JOIN evaluations_document d ON d.id = o.document_id WHERE o.id = ANY (%s::bigint[])"""


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
    """Everything that the page shows; without a second judge there is nothing to compare. `names`
    are those of the two judges, and `choices` those of all judges by id, next to numbers; `seen`
    says what the searches that made them have seen, and `labels` whose verdicts are people's more
    often, by criterion."""

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
    one_agrees: tuple[OneAgrees, ...] = ()
    mapped: tuple[str, ...] = ()
    sample: tuple[str, ...] = ()
    listed: int = 0
    labels: tuple[tuple[str, PairedLabels], ...] = ()

    @property
    def alone(self) -> tuple[str, ...]:
        """The criteria that are undecided although their own interval excludes 0."""
        return tuple(row.criterion for row in self.differences if row.leaves_out_zero)

    @property
    def chosen(self) -> Shares | None:
        """The criterion whose outputs are listed."""
        return next((share for share in self.shares if share.pk == self.view.criterion), None)

    @property
    def is_cut(self) -> bool:
        """Whether only some of the outputs on which one judge agrees can be listed."""
        return self.chosen is not None and self.listed < self.chosen.only_one


def two_judges(project: Project, view: PairView) -> TwoJudges:
    """Return the page, with defaults for what the view does not name.

    Raises:
        NotComputedError: a worker is still computing the numbers of a large project, or its report,
            which contains the tests.
    """
    report_of_view = report_view(project, view.options)
    numbers = page_view(project, PAIR, view.of_numbers(ids_of(project.pk))).needed("page")
    report = report_of_view.numbers().report
    judges = {each.pk: each for each in project.judges.all()}
    searches = searches_behind(project)
    criteria = {each.pk: each.name for each in project.criteria.all()}
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
    labels = (first.label, second.label)
    rows, axis, ends = differences(
        pairs,
        criteria,
        labels,
        report,
        lambda on: (searches.made(on, first.pk), searches.made(on, second.pk)),
    )
    costs = costs_of((first, second))
    priced = (priced_judge(first, costs[0]), priced_judge(second, costs[1]))
    chosen = next(pair for pair in pairs if pair.criterion == view.criterion)
    page, listed = _listed(view, chosen.one_agrees)
    return TwoJudges(
        view=view,
        choices=choices,
        first=first,
        second=second,
        names=(dict(choices)[first.pk], dict(choices)[second.pk]),
        seen=seen_in_words(labels, report),
        lead=lead_in_words(labels, rows, priced, SYMBOLS[view.options.coefficient]),
        outputs=numbers.outputs,
        documents=numbers.documents,
        axis=ticks_at(axis, round_numbers(ends)),
        zero=axis.at(0.0),
        differences=rows,
        grids=tuple(pair.grid for pair in pairs),
        shares=tuple(pair.shares for pair in pairs),
        costs=tuple(costs),
        unit=chosen.unit,
        page=page,
        one_agrees=listed,
        listed=len(chosen.one_agrees.output_ids),
        labels=tuple((criteria[pair.criterion], pair.labels) for pair in pairs if pair.labels),
        sample=tuple(filter(None, (weights_note(report), chosen_note(report)))),
        mapped=tuple(
            label for index, label in enumerate(labels) if any(pair.mapped[index] for pair in pairs)
        ),
    )


def _most_apart(pairs: list[PairOnCriterion]) -> int:
    """Return the criterion with most outputs on which exactly one judge agrees."""
    return max(pairs, key=lambda pair: pair.shares.only_one).criterion if pairs else 0


def _listed(view: PairView, agreeing: OneAgreeing) -> tuple[Page[int], tuple[OneAgrees, ...]]:
    """Return a page of the outputs on which exactly one judge agrees."""
    places = np.arange(len(agreeing.output_ids))
    if view.only:
        places = places[agreeing.is_first == (CLASSES[view.only] == ONLY_FIRST)]
    size = PAGE_SIZE if view.only else FIRST_FEW
    page = Paginator(places.tolist(), size).get_page(view.page if view.only else 1)
    ids = [int(agreeing.output_ids[place]) for place in page.object_list]
    texts = {pk: (begins, doc_id) for pk, begins, doc_id in fetch_rows(_BEGINS, [ids])}
    rows = []
    for pk, place in zip(ids, page.object_list, strict=True):
        begins, doc_id = texts.get(pk, ("", ""))
        is_first = bool(agreeing.is_first[place])
        rows.append(
            OneAgrees(
                pk,
                begins,
                agreeing.systems[place],
                doc_id,
                two_decimals(agreeing.human[place]),
                short(round(float(agreeing.first[place]), 2)),
                short(round(float(agreeing.second[place]), 2)),
                1 if is_first else 2,
                view.second if is_first else view.first,
            )
        )
    return page, tuple(rows)
