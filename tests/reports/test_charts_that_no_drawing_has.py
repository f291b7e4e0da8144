"""Charts to explore show what no drawing of the page shows: the agreement of each two judges or
annotators where the matrix has no room for all."""

from dataclasses import replace

import pytest

from evaluations.models import Project
from evaluations.reports.serving.view import report_view
from geval.reports.drawings.numbers import MOST_SIDES
from geval.reports.figures import figures_of
from geval.reports.options import ReportOptions


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("sides", "has_chart"), [(MOST_SIDES - 1, False), (MOST_SIDES, False), (MOST_SIDES + 1, True)]
)
def test_heat_maps_are_for_more_than_the_matrix_has_room_for(
    judged_project: Project, sides: int, has_chart: bool
) -> None:
    result = report_view(judged_project, ReportOptions()).report.criteria[0]
    crowded = replace(
        result,
        judges=(result.judges[0],) * sides,
        annotators=tuple(f"annotator {number}" for number in range(sides)),
    )

    kinds = figures_of(crowded)

    assert ("judges" in kinds, "annotators" in kinds) == (has_chart, has_chart)
    assert "scatter" in kinds
