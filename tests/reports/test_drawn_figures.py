"""The report's figures that the server draws: what they show, as downloads, and the way to the
texts."""

import html
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from django.test import Client
from scipy import stats

from evaluations.corpus.store import LoadResult
from evaluations.models import Judge, Project, ShareLink
from evaluations.models.tokens import digest_of
from evaluations.reports.serving import live
from evaluations.reports.serving.view import report_view
from evaluations.reports.serving.worker import neglected_reports, work_on_report
from geval.reports.downloads.latex import as_latex_figure
from geval.reports.drawings import rendering
from geval.reports.drawings.drawn import KINDS, drawings
from geval.reports.drawings.numbers import CriterionNumbers
from geval.reports.drawings.rendering import as_file, as_page_part, as_picture
from geval.reports.drawings.shapes import Drawing, Line, Words, ordinal
from geval.reports.options import ReportOptions
from geval.statistics import cache
from tests.reports.test_best_judge import FAIR, OUTPUTS, rated, scored

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
ADDRESS = "/p/small/report/"
EVIDENCE = f"{ADDRESS}numbers/"
SVG = "{http://www.w3.org/2000/svg}"


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


def test_a_metric_on_another_scale_has_no_diagonal_and_says_so(numbers: CriterionNumbers) -> None:
    dashed = {
        judge: [
            shape
            for shape in drawn(numbers, judge)["bubbles"].shapes
            if isinstance(shape, Line) and shape.dashed
        ]
        for judge in ("fair", "metric")
    }

    assert len(dashed["fair"]) == 1
    assert dashed["metric"] == []
    assert "another scale" in drawn(numbers, "metric")["bubbles"].caption
    assert "on another scale: metric" in drawn(numbers)["calibration"].caption


def test_systems_have_the_places_of_their_means(numbers: CriterionNumbers) -> None:
    rows = drawn(numbers)["systems"].rows

    for place, mean in ((1, 2), (3, 4)):
        ranks = stats.rankdata([-float(row[mean]) for row in rows], method="min")
        assert [int(row[place]) for row in rows] == ranks.tolist()
    assert [int(row[1]) for row in rows] == sorted(int(row[1]) for row in rows)


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


def test_every_download_is_as_wide_as_a_column_with_its_caption_inside(
    measured: Project, numbers: CriterionNumbers, client: Client
) -> None:
    base = f"{ADDRESS}drawing/bubbles/{numbers.pk}/{pk_of(numbers, 'fair')}"
    files = {ending: client.get(f"{base}/{ending}/") for ending in ("svg", "png", "pdf", "tex")}
    drawing = drawn(numbers)["bubbles"]

    assert {one.status_code for one in files.values()} == {200}
    root = ET.fromstring(files["svg"].content)
    assert root.get("width") == "85mm"
    assert root.findtext(f"{SVG}desc") == drawing.caption
    assert not root.findall(f".//{SVG}a")
    assert r"\caption{" in files["tex"].content.decode()
    assert "−" not in files["tex"].content.decode()
    assert 'filename="small-coherence-bubbles-fair.svg"' in files["svg"]["Content-Disposition"]
    assert png_texts(files["png"].content)["Description"] == drawing.caption
    assert "/Subject" in files["pdf"].content.decode("latin-1")


@pytest.mark.parametrize("kind", KINDS)
def test_all_figures_are_downloaded_for_one_column_and_for_two(
    numbers: CriterionNumbers, client: Client, kind: str
) -> None:
    base = f"{ADDRESS}drawing/{kind}/{numbers.pk}/{pk_of(numbers, 'fair')}"
    files = {
        ending: client.get(f"{base}/{ending}/?mm=174") for ending in ("svg", "png", "pdf", "tex")
    }

    assert ET.fromstring(files["svg"].content).get("width") == "174mm"
    width, _ = struct.unpack(">II", png_chunks(files["png"].content)[b"IHDR"][0][:8])
    assert width == pytest.approx(174 / 25.4 * 600, abs=1)
    (box,) = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", files["pdf"].content)
    assert float(box[0]) == pytest.approx(174 / 25.4 * 72, abs=0.01)
    name = f"small-coherence-{kind}-fair-174mm"
    assert f'filename="{name}.pdf"' in files["pdf"]["Content-Disposition"]
    assert r"\begin{figure*}" in files["tex"].content.decode()
    assert rf"\includegraphics[width=\textwidth]{{{name}.pdf}}" in files["tex"].content.decode()
    assert client.get(f"{base}/svg/?mm=100").status_code == 404


def test_the_forest_is_downloaded_where_it_is_shown_first(
    numbers: CriterionNumbers, client: Client
) -> None:
    page = html.unescape(client.get(EVIDENCE).content.decode())
    place = f"{ADDRESS}drawing/forest/{numbers.pk}/{numbers.best}"
    under_forest = page[page.index('<table class="forest">') : page.index('id="figures"')]

    for ending in ("svg", "png", "pdf", "tex"):
        for address in (f"{place}/{ending}/", f"{place}/{ending}/?mm=174"):
            assert f'href="{address}"' in under_forest
            assert client.get(address).status_code == 200


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


def png_chunks(png: bytes) -> dict[bytes, list[bytes]]:
    """What a PNG consists of, by kind; fails where a part is damaged."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = defaultdict(list), 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        content = png[at + 4 : at + 8 + length]
        assert zlib.crc32(content) == int.from_bytes(png[at + 8 + length : at + 12 + length], "big")
        chunks[content[:4]].append(content[4:])
        at += 12 + length
    return chunks


def png_texts(png: bytes) -> dict[str, str]:
    pairs = (text.split(b"\0\0\0\0\0") for text in png_chunks(png)[b"iTXt"])
    return {name.decode(): text.decode() for name, text in pairs}


def test_a_png_has_600_dots_per_inch_and_says_what_it_shows(numbers: CriterionNumbers) -> None:
    for drawing in drawn(numbers).values():
        png = as_picture(drawing, "png")
        chunks = png_chunks(png)

        width, height = struct.unpack(">II", chunks[b"IHDR"][0][:8])
        assert width == pytest.approx(85 / 25.4 * 600, abs=1)
        assert height == pytest.approx(width * drawing.height / drawing.width, abs=1)
        # Dots per metre, across and up.
        assert chunks[b"pHYs"] == [struct.pack(">IIB", 23622, 23622, 1)]
        assert png_texts(png)["Title"] == drawing.title
        assert next(iter(chunks)) == b"IHDR"


def test_a_pdf_is_as_wide_as_a_column_with_letters_as_outlines_of_a_font(
    numbers: CriterionNumbers,
) -> None:
    for drawing in drawn(numbers).values():
        pdf = as_picture(drawing, "pdf")

        (box,) = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
        assert float(box[0]) == pytest.approx(85 / 25.4 * 72, abs=0.01)
        assert float(box[1]) == pytest.approx(float(box[0]) * drawing.height / drawing.width, 1e-3)
        assert b"/FontFile2" in pdf
        assert b"/Type3" not in pdf
        assert set(re.findall(rb"/BaseFont ?/[A-Z]{6}\+(\w+)", pdf)) == {b"Arimo"}
        assert drawing.title in html.unescape(pdf.decode("utf-8", "replace"))


def test_a_drawing_gives_the_same_picture_each_time(numbers: CriterionNumbers) -> None:
    for ending in ("png", "pdf"):
        first, second = (as_picture(drawn(numbers)["matrix"], ending) for _ in range(2))
        assert first == second


@pytest.mark.parametrize("title", ['#panic("ran")', '</svg><text>"&', "中文 − † ρ", "x\n\x01y"])
def test_names_are_text_in_pictures_too(numbers: CriterionNumbers, title: str) -> None:
    drawing = drawn(numbers)["matrix"]
    shapes = (*drawing.shapes, Words(10, 10, title))

    changed = replace(drawing, title=title, caption=title, shapes=shapes)

    assert png_texts(as_picture(changed, "png"))["Title"] == title
    assert as_picture(changed, "pdf").startswith(b"%PDF")


def test_all_kinds_are_drawn_as_valid_svg(numbers: CriterionNumbers) -> None:
    found = drawn(numbers)

    assert tuple(found) == KINDS
    for one in found.values():
        ET.fromstring(as_file(one))
        assert one.title
        assert one.rows
        assert as_latex_figure(one, "name").count("{") == as_latex_figure(one, "name").count("}")


def test_without_typst_svg_still_works_and_the_page_says_what_to_install(
    numbers: CriterionNumbers, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rendering.importlib.util, "find_spec", lambda _name: None)
    base = f"{ADDRESS}drawing/bubbles/{numbers.pk}/{pk_of(numbers, 'fair')}"

    page = client.get(f"{ADDRESS}drawings/").content.decode()
    refused = client.get(f"{base}/png/")

    assert client.get(f"{base}/svg/").status_code == 200
    assert refused.status_code == 501
    assert "geval-site[figures]" in refused.content.decode()
    assert "geval-site[figures]" in page
    assert "/png/" not in page


def test_the_page_draws_the_best_judge_without_scripts_and_others_on_request(
    numbers: CriterionNumbers, client: Client
) -> None:
    page = client.get(EVIDENCE).content.decode()
    other = client.get(f"{EVIDENCE}?on={numbers.pk}&by={pk_of(numbers, 'metric')}")
    unknown = client.get(f"{EVIDENCE}?on=999999&by=x")

    figures = page[page.index('id="figures"') :]
    assert figures.count('<svg class="drawing"') == len(KINDS)
    assert " style=" not in figures[: figures.index("</section>")]
    assert "metric and people: rho" in html.unescape(other.content.decode())
    assert unknown.status_code == 404


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


@pytest.mark.parametrize("query", ["?human=9&score=9", "?human=nan&score=x", ""])
def test_a_circle_that_is_no_more_says_so(
    numbers: CriterionNumbers, client: Client, query: str
) -> None:
    answer = client.get(f"{ADDRESS}bubble/{numbers.pk}/{pk_of(numbers, 'fair')}/{query}")

    assert answer.status_code == 200
    assert "The numbers have changed" in answer.content.decode()


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


def test_a_large_project_has_the_same_figures_from_its_worker(
    measured: Project, numbers: CriterionNumbers, client: Client, settings: object
) -> None:
    settings.REPORT_IN_PAGE_NUMBERS = 0  # type: ignore[attr-defined]
    live.forget()
    cache.forget()
    waits = client.get(f"{ADDRESS}drawings/")
    while found := neglected_reports():
        for pk in found:
            work_on_report(pk)

    assert waits.status_code == 202
    assert client.get(f"{ADDRESS}drawings/").status_code == 200
    kept = report_view(measured, ReportOptions()).figure_numbers(measured.criteria.get().pk)
    assert kept == numbers


@pytest.mark.parametrize(
    ("place", "said"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (22, "22nd"), (100, "100th")],
)
def test_places_are_written_as_people_do(place: int, said: str) -> None:
    assert ordinal(place) == said
