"""The report's figures that the server draws: what they show, as downloads, and the way to the
texts."""

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client

from evaluations.corpus.store import LoadResult
from evaluations.models import Judge, Project, ShareLink
from evaluations.models.tokens import digest_of
from evaluations.reports.serving.view import report_view
from geval.reports.downloads.latex import as_latex_figure
from geval.reports.drawings.drawn import KINDS, drawings
from geval.reports.drawings.numbers import CriterionNumbers
from geval.reports.drawings.rendering import as_file, as_page_part
from geval.reports.drawings.shapes import Drawing, Words
from geval.reports.options import ReportOptions
from tests.reports.test_best_judge import FAIR, OUTPUTS, rated, scored

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
ADDRESS = "/p/small/report/"
EVIDENCE = f"{ADDRESS}numbers/"


@pytest.fixture
def client(as_role: Callable[[str], Client], project: Project) -> Client:
    return as_role("owner")


@pytest.fixture
def measured(project: Project, load: Load) -> Project:
    """Forty documents, three people, a fair judge, and a metric on another scale."""
    judges = {"fair": FAIR, "metric": FAIR / 10}
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored(judges)})
    return project


@pytest.fixture
def numbers(measured: Project) -> CriterionNumbers:
    found = report_view(measured, ReportOptions()).figure_numbers(measured.criteria.get().pk)
    assert found
    return found


def drawn(numbers: CriterionNumbers, judge: str = "fair") -> dict[str, Drawing]:
    named = {one.name: one for one in numbers.judges}
    return {one.kind: one for one in drawings(numbers, named[judge])}


def words(drawing: Drawing) -> list[str]:
    return [shape.text for shape in drawing.shapes if isinstance(shape, Words)]


def pk_of(numbers: CriterionNumbers, judge: str) -> int:
    return next(one.pk for one in numbers.judges if one.name == judge)


def test_the_circles_hold_every_output_that_people_and_the_judge_rated(
    numbers: CriterionNumbers,
) -> None:
    fair = numbers.judge(pk_of(numbers, "fair"))

    assert sum(one.outputs for one in fair.bubbles) == fair.outputs == FAIR.size
    assert {one.score for one in fair.bubbles} == set(np.unique(FAIR))
    assert fair.correlation.startswith("rho 0.")
    assert fair.correlation in words(drawn(numbers)["bubbles"])


def test_the_matrix_is_symmetric_without_its_diagonal(numbers: CriterionNumbers) -> None:
    pairs, names = numbers.pairs, numbers.sides

    assert set(names) == {"fair", "metric", "ann", "bob", "cas"}
    assert all(pairs[at][at] is None for at in range(len(names)))
    assert all(pairs[a][b] == pairs[b][a] for a in range(len(names)) for b in range(len(names)))
    # The metric is the judge's score divided by ten, so both rank alike.
    assert pairs[names.index("fair")][names.index("metric")] == pytest.approx(1.0)
    cells = [text for text in words(drawn(numbers)["matrix"]) if re.fullmatch(r"−?\d\.\d\d", text)]
    assert len(cells) == len(names) * (len(names) - 1) / 2


def test_precision_is_drawn_from_the_interval_of_the_report(numbers: CriterionNumbers) -> None:
    fair = numbers.judge(pk_of(numbers, "fair"))
    row = next(row for row in drawn(numbers)["precision"].rows if row[0] == "fair")

    low, high = map(float, re.findall(r"\d\.\d\d", fair.correlation)[1:])
    assert fair.half_width == pytest.approx((high - low) / 2, abs=0.006)
    assert row[1:3] == (str(fair.documents), f"{fair.half_width:.3f}")


def test_the_forest_has_the_numbers_of_the_page(
    measured: Project, numbers: CriterionNumbers
) -> None:
    row = report_view(measured, ReportOptions()).page().glance.rows[0]

    assert [(one.name, one.value, one.interval or "–") for one in row.forest] == [
        one[:3] for one in drawn(numbers)["forest"].rows
    ]


def test_continuous_scores_are_put_into_hexagons_that_hold_every_output(
    project: Project, load: Load
) -> None:
    continuous = np.round(FAIR + np.random.default_rng(8).uniform(-0.4, 0.4, FAIR.shape), 3)
    load(
        project,
        {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"fair": FAIR, "fine": continuous})},
    )
    found = report_view(project, ReportOptions()).figure_numbers(project.criteria.get().pk)
    assert found
    fair, fine = (found.judge(pk_of(found, name)) for name in ("fair", "fine"))

    assert fair.tile is None
    assert fine.tile is not None
    assert sum(one.outputs for one in fine.bubbles) == fine.outputs == FAIR.size
    assert sum(one.outputs for one in fine.tallies) == FAIR.size
    # Each column is one human score.
    columns = {one.value for one in fine.human_tallies}
    assert {round(one.human, 2) for one in fine.bubbles} == {round(one, 2) for one in columns}


def test_all_kinds_are_drawn_as_valid_svg(numbers: CriterionNumbers) -> None:
    found = drawn(numbers)

    assert tuple(found) == KINDS
    for one in found.values():
        ET.fromstring(as_file(one))
        assert one.title
        assert one.rows
        assert as_latex_figure(one, "name").count("{") == as_latex_figure(one, "name").count("}")


def test_a_circle_leads_to_exactly_its_outputs(
    measured: Project, numbers: CriterionNumbers, client: Client
) -> None:
    fair = numbers.judge(pk_of(numbers, "fair"))
    bubble = max(fair.bubbles, key=lambda one: one.outputs)
    links = re.findall(r'<a href="([^"]+/bubble/[^"]+)"', client.get(EVIDENCE).content.decode())
    wanted = f"human={bubble.human:g}&score={bubble.score:g}"
    (link,) = [one for one in map(html.unescape, links) if one.endswith(wanted)]

    text = client.get(link).content.decode()

    assert len(links) == len(fair.bubbles)
    assert sorted(map(int, re.findall(r"#output-(\d+)", text))) == sorted(bubble.members)
    assert f"numbers/?on={numbers.pk}&amp;by={fair.pk}#figures" in text


def test_what_is_not_in_the_view_is_not_found(numbers: CriterionNumbers, client: Client) -> None:
    fair, metric = pk_of(numbers, "fair"), pk_of(numbers, "metric")

    for part in (
        f"drawing/bubbles/{numbers.pk}/{metric}/svg/?judges={fair}",
        f"drawing/nothing/{numbers.pk}/{fair}/svg/",
        f"drawing/bubbles/{numbers.pk}/{fair}/exe/",
        f"drawing/bubbles/{numbers.pk + 99}/{fair}/svg/",
    ):
        assert client.get(ADDRESS + part).status_code == 404, part


def test_a_shared_report_has_the_figures_and_no_way_to_the_texts(
    measured: Project, numbers: CriterionNumbers
) -> None:
    ShareLink.objects.create(project=measured, digest=digest_of("secret"))
    visitor, fair = Client(), pk_of(numbers, "fair")

    page = visitor.get(f"/shared/secret/numbers/?on={numbers.pk}&by={fair}").content.decode()
    file = visitor.get(f"/shared/secret/drawing/bubbles/{numbers.pk}/{fair}/svg/")
    other = visitor.get(f"/shared/secret/drawings/?by={fair}")

    assert page.count('<svg class="drawing"') == len(KINDS)
    assert "/bubble/" not in page
    assert "/shared/secret/drawing/bubbles/" in page
    assert (file.status_code, other.status_code) == (200, 200)
    assert visitor.get(f"{ADDRESS}drawings/").status_code == 302


@pytest.mark.parametrize(
    "odd", ["", "\x1b[31m\x01\x7f\x85\ufffe\uffff\n\t"], ids=["plain", "control"]
)
def test_names_are_text_in_every_figure(project: Project, load: Load, odd: str) -> None:
    name = f'<script>alert(1)</script>"&{odd}'
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"fair": FAIR})})
    Judge.objects.update(name=name)
    found = report_view(project, ReportOptions()).figure_numbers(project.criteria.get().pk)
    assert found

    for one in drawings(found, found.judges[0]):
        for text in (as_page_part(one), as_file(one)):
            assert "<script" not in text
            ET.fromstring(text)
