"""The figures that requirements refer to, from the same data as the report."""

from collections.abc import Collection

from evaluations.models import Criterion, Judge
from evaluations.reports.report import criterion_result
from geval.reports.data import ReportData
from geval.reports.options import MEAN, Epsilon, ReportOptions
from geval.reports.required_figures import InView, figures_in
from geval.reports.requirements import RequiredFigure
from geval.statistics.consensus import HumanScore
from geval.statistics.correlation import Coefficient, Level


def figures_of(
    judge: Judge,
    criterion: Criterion,
    names: Collection[str],
    *,
    data: ReportData,
    epsilon: Epsilon,
    human_score: HumanScore = MEAN,
) -> dict[str, RequiredFigure]:
    """Return each named figure of a judge on a criterion.

    Args:
        data: the data of the project.
        epsilon: epsilon of the alternative annotator test.
        human_score: what the judge is compared with.
    """

    scored = data.scored(human_score)

    def in_view(level: Level, coefficient: Coefficient) -> InView:
        options = ReportOptions(
            level, coefficient, epsilon=epsilon, human_score=human_score, judges=(judge.pk,)
        )
        result = criterion_result(judge.project, criterion, options=options, data=scored)
        return result, result.judges[0] if result.judges else None

    return figures_in(names, in_view)
