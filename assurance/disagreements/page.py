"""The page of disagreements: outputs ranked by the gap between a judge and people, with one open
case."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from django.core.paginator import Page, Paginator

from assurance.disagreements.case import GapCase, gap_case
from assurance.disagreements.numbers import GAPS
from assurance.prompt_examples import why_no_examples
from evaluations.models import Criterion, EvaluationRun, GapCause, Judge, Project
from evaluations.reports.data import ids_of
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.view import page_view
from geval.reports.gap_list import Entry, index_of, least_gap, list_entries, listed_outputs
from geval.reports.gap_view import GapView, first_of
from geval.reports.gaps import GapNumbers, Gaps, cells_of
from geval_site.sql import fetch_rows

PAGE_SIZE = 50
_BEGINS = """
    SELECT id, left(text, 120) FROM evaluations_candidateoutput WHERE id = ANY (%s::bigint[])"""


@dataclass(frozen=True)
class Disagreements:
    """The contents of the page. `page` is a part of the list; `case` is None if the list is empty.

    `before` and `after` are the open output's neighbours in the whole list, 0 at its ends; `beside`
    is the one to open when it leaves the list. `ranked` is the number of outputs in the list, in a
    large project only some of the `outputs` with a gap. `choices` are the names of judges by id,
    and `named` is the chosen judge's name next to numbers.
    """

    view: GapView
    criterion: Criterion | None
    judge: Judge | None
    run: EvaluationRun | None
    criteria: tuple[Criterion, ...]
    choices: tuple[tuple[int, str], ...]
    runs: tuple[EvaluationRun, ...]
    systems: tuple[tuple[int, str], ...]
    outputs: int = 0
    ranked: int = 0
    shift: str = ""
    cells: tuple[tuple[str, str], ...] = ()
    mapped: bool = False
    sample: tuple[str, ...] = ()
    rho: float | None = None
    takes_examples: bool = False
    causes: tuple[tuple[str, int], ...] = ()
    names: tuple[str, ...] = ()
    to_look_at: int = 0
    page: Page[int] | None = None
    entries: tuple[Entry, ...] = ()
    case: GapCase | None = None
    named: str = ""
    before: int = 0
    after: int = 0

    @property
    def looked_at(self) -> int:
        return sum(count for _cause, count in self.causes)

    @property
    def beside(self) -> int:
        """The output to open once the open case has a cause."""
        return self.after or self.before


def numbers_of_view(project: Project, view: GapView) -> GapNumbers:
    """Return the numbers of a view, for its page, its file and actions on its outputs.

    Raises:
        NotComputedError: a worker is still computing the numbers of a large project.
    """
    run_ids = project.runs.counting().filter(pk=view.run).values_list("pk", flat=True)
    ids = ids_of(project.pk) | {"runs": list(run_ids)}
    numbers: GapNumbers = page_view(project, GAPS, view.of_numbers(ids)).needed("page")
    return numbers


def disagreements(project: Project, view: GapView) -> Disagreements:
    """Return the page of a view, with defaults for what the view does not name.

    Raises:
        NotComputedError: a worker is still computing the numbers of a large project.
    """
    numbers = numbers_of_view(project, view)
    data = numbers.data
    criteria = {record.pk: record for record in project.criteria.all()}
    judges = {record.pk: record for record in project.judges.all()}
    criterion, judge = criteria.get(numbers.criterion), judges.get(numbers.judge)
    runs = tuple(project.runs.counting().filter(judge=judge).order_by("-pk")) if judge else ()
    run = next((record for record in runs if record.pk == numbers.run), None)
    searches, on = searches_behind(project), {criterion.pk: criterion.name} if criterion else {}
    choices = {pk: searches.name_of(judges[pk], on) for pk in numbers.judges if pk in judges}
    systems = tuple(zip(data.system_ids.tolist(), data.system_names, strict=True))
    shown = Disagreements(
        view=replace(
            view,
            criterion=numbers.criterion,
            judge=numbers.judge,
            run=run.pk if run else 0,
            system=first_of(view.system, data.system_ids.tolist()),
        ),
        criterion=criterion,
        judge=judge,
        run=run,
        criteria=tuple(record for pk, record in criteria.items() if pk in numbers.criteria),
        choices=tuple(choices.items()),
        named=choices.get(numbers.judge, ""),
        runs=runs,
        systems=systems,
    )
    if criterion is None or judge is None or numbers.gaps is None:
        return shown
    labels = {pk: record.label for pk, record in judges.items()}
    return _filled(project, numbers, numbers.gaps, shown, criterion, judge, labels)


def _filled(
    project: Project,
    numbers: GapNumbers,
    gaps: Gaps,
    shown: Disagreements,
    criterion: Criterion,
    judge: Judge,
    labels: Mapping[int, str],
) -> Disagreements:
    view, data = shown.view, numbers.data
    given = GapCause.objects.of_project(project)
    here = dict(given.filter(judge=judge, criterion=criterion).values_list("output_id", "cause"))
    ids = data.output_ids[gaps.at][gaps.order]
    has_cause = np.isin(ids, np.fromiter(here, dtype=np.int64, count=len(here)))
    scale = criterion.scale
    differ = np.abs(gaps.gap[gaps.order]) > least_gap(scale)
    listed = ids[listed_outputs(view, data, gaps, ids, here, has_cause, scale)]
    open_ = view.output if (ids == view.output).any() else int(listed[0]) if len(listed) else 0
    if view.page and not view.output and len(listed):
        start = PAGE_SIZE * (Paginator(listed, PAGE_SIZE).get_page(view.page).number - 1)
        open_ = int(listed[start])
    index = index_of(listed, open_)
    number = view.page or (index // PAGE_SIZE + 1 if index >= 0 else 1)
    page = Paginator(listed, PAGE_SIZE).get_page(number)
    case = None
    if open_:
        case = gap_case(
            numbers,
            gaps,
            int(gaps.order[index_of(ids, open_)]),
            criterion=criterion,
            judge=judge,
            run=shown.run,
            judges=labels,
            criteria={record.pk: record for record in shown.criteria},
        )
    return replace(
        shown,
        view=replace(view, output=open_),
        outputs=numbers.outputs,
        ranked=len(gaps.at),
        shift=numbers.shift,
        cells=() if criterion.scale.is_ordered else cells_of(gaps, criterion.scale),
        mapped=gaps.mapped,
        sample=numbers.sample,
        rho=numbers.rho,
        takes_examples=not why_no_examples(judge, criterion),
        causes=tuple(given.filter(judge=judge, criterion=criterion).counted()),
        names=tuple(given.names()),
        to_look_at=int((differ & ~has_cause).sum()),
        page=page,
        entries=list_entries(data, gaps, ids, here, criterion.scale, _begins(page), open_),
        case=case,
        before=int(listed[index - 1]) if index > 0 else 0,
        after=int(listed[index + 1]) if 0 <= index < len(listed) - 1 else 0,
    )


def _begins(page: Page[int]) -> dict[int, str]:
    """Return the beginnings of the texts of a page's outputs, in order."""
    ids = [int(pk) for pk in page.object_list]
    begins = dict(fetch_rows(_BEGINS, [ids]))
    return {pk: begins.get(pk, "") for pk in ids}
