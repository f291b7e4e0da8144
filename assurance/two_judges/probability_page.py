"""The page “LLM or decision model”: two judges that give probabilities, their agreement with people
next to the calibration of their probabilities, and their costs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from assurance.two_judges.page import TwoJudges, two_judges
from assurance.two_judges.pair_figures import (
    PROBABILITIES,
    ProbabilityNumbers,
    answers_of,
    judges_with_probabilities,
)
from evaluations.models import Judge, Project
from evaluations.reports.data import ids_of
from evaluations.reports.serving.view import page_view
from geval.reports.costs import JudgeAnswers, JudgeCost
from geval.reports.gap_view import first_of
from geval.reports.pairs import PairView
from geval.reports.probabilities import lead_in_words
from geval.reports.probability_rows import CriterionRows, Diagram, criterion_rows, diagrams_of


@dataclass(frozen=True)
class ProbabilityPage:
    """Everything that the page shows. `judges` is the comparison of the same two judges by their
    scores; None if the project does not have two judges with probabilities."""

    judges: TwoJudges | None = None
    choices: tuple[tuple[int, str], ...] = ()
    lead: str = ""
    criteria: tuple[CriterionRows, ...] = ()
    diagrams: tuple[Diagram, ...] = ()
    costs: tuple[tuple[JudgeCost, JudgeAnswers], ...] = ()


def probability_page(project: Project, view: PairView) -> ProbabilityPage:
    """Return the page. By default it compares a decision model with the judge that asks the same
    model in another way.

    Raises:
        NotComputedError: a worker is still computing the numbers of a large project.
    """
    able = set(judges_with_probabilities(project))
    judges = [judge for judge in project.judges.order_by("pk") if judge.pk in able]
    if len(judges) < 2:
        return ProbabilityPage()
    view = _chosen(view, judges)
    compared = two_judges(project, view)
    if compared.first is None or compared.second is None or not compared.differences:
        return ProbabilityPage()
    view = replace(view, first=compared.first.pk, second=compared.second.pk)
    numbers = probabilities_of_two(project, view)
    names = compared.names
    criteria = tuple(criterion_rows(pair, names) for pair in numbers.criteria)
    return ProbabilityPage(
        judges=compared,
        choices=tuple(choice for choice in compared.choices if choice[0] in able),
        lead=" ".join(filter(None, [lead_in_words(numbers.criteria, names), compared.lead])),
        criteria=criteria,
        diagrams=diagrams_of(criteria),
        costs=tuple(
            zip(
                compared.costs,
                (answers_of(compared.first), answers_of(compared.second)),
                strict=True,
            )
        ),
    )


def probabilities_of_two(project: Project, view: PairView) -> ProbabilityNumbers:
    """Return the probabilities of the two judges of a view.

    Raises:
        NotComputedError: a worker is still computing them.
    """
    of_numbers = view.of_numbers(ids_of(project.pk))
    numbers: ProbabilityNumbers = page_view(project, PROBABILITIES, of_numbers).needed("page")
    return numbers


def _chosen(view: PairView, judges: Sequence[Judge]) -> PairView:
    usual = next((judge for judge in judges if judge.kind == "decision"), judges[0])
    first = first_of(view.first, [judge.pk for judge in judges], usual.pk)
    model = next(judge.model for judge in judges if judge.pk == first)
    others = sorted(
        (judge for judge in judges if judge.pk != first),
        key=lambda judge: (judge.model != model, judge.kind == "decision"),
    )
    second = first_of(view.second, [judge.pk for judge in others], others[0].pk)
    return replace(view, first=first, second=second)
