"""Workbooks of Excel and LibreOffice are read: one sheet of them, within the limits of files."""

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import ApiToken, CandidateOutput, Document, Project
from evaluations.models.tokens import new_token
from geval.files.apart import preview_apart
from geval.files.limits import FileLimits
from geval.files.preview import Preview, preview_file
from geval.files.rows import LoadError
from tests.workbooks import Rows, day, formula, xlsx, zipped

Load = Callable[..., LoadResult]
HEADER = ["doc_id", "system_id", "source", "output", "metadata.day", "ratings.coherence"]
TABLE: Rows = [
    HEADER,
    ["d1", "a", "The ferry sails at ten.", "A ferry sails.", day(46082), 4],
    [None, "b", None, "Ferries sail at ten.", None, formula("1+2", 3)],
    [],
    ["d2", "a", "The bridge is closed.", "It is closed.", day(46083), 2.5],
]
NOTES: Rows = [["Written by hand, see the other sheet."]]
MERGED = ("A2:A3", "C2:C3", "E2:E3")


@pytest.fixture
def limits(settings: Any) -> Callable[..., None]:
    def change(**changed: int) -> None:
        settings.FILE_LIMITS = FileLimits(**changed)

    return change


def previewed(tmp_path: Path, content: bytes, sheet: str = "") -> Preview:
    path = tmp_path / "book"
    path.write_bytes(content)
    return preview_file(path, "book", sheet=sheet)


@pytest.mark.django_db
def test_a_workbook_is_loaded_with_merged_cells_days_and_values_of_formulas(
    project: Project, load: Load
) -> None:
    load(project, {"book.xlsx": xlsx({"Notes": NOTES, "Data": TABLE}, merged=MERGED)})

    assert list(Document.objects.order_by("doc_id").values_list("doc_id", "metadata")) == [
        ("d1", {"day": "2026-03-01"}),
        ("d2", {"day": "2026-03-02"}),
    ]
    assert CandidateOutput.objects.get(system__name="b").document.source == (
        "The ferry sails at ten."
    )
    assert sorted(Rating.objects.values_list("score", flat=True)) == [2.5, 3, 4]


@pytest.mark.django_db
def test_an_error_names_the_row_of_the_sheet(project: Project, load: Load) -> None:
    wrong = [["Ratings of March"], [], HEADER, ["d1", "a", "Source.", "Output.", None, "four"]]

    with pytest.raises(LoadError) as raised:
        load(project, {"book.xlsx": xlsx({"Data": wrong}, top=2)})

    (error,) = raised.value.errors
    assert (error.line, error.column) == (6, "ratings.coherence")


def test_one_sheet_that_looks_like_a_table_is_read_without_a_question(tmp_path: Path) -> None:
    content = xlsx({"Notes": NOTES, "Old": TABLE, "Data": TABLE, "Empty": []}, hidden=["Old"])

    preview = previewed(tmp_path, content)

    assert (preview.sheet, preview.questions) == ("Data", ())


def test_of_several_sheets_one_is_asked_for(tmp_path: Path) -> None:
    content = xlsx({"Pilot": TABLE, "Data": [["name", "text"], ["x", "y"]]})

    (question,) = previewed(tmp_path, content).questions

    assert [(choice.label, choice.gives, choice.sheet) for choice in question.choices] == [
        ("“Pilot”", "columns “doc_id”, “system_id”, “source”, “output” and 2 more", "Pilot"),
        ("“Data”", "columns “name” and “text”", "Data"),
    ]
    assert previewed(tmp_path, content, "Data").questions == ()


@pytest.mark.parametrize("packed", [gzip.compress, lambda book: zipped({"book.xlsx": book})])
def test_a_workbook_may_be_packed(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    assert previewed(tmp_path, packed(xlsx({"Data": TABLE}))).sheet == "Data"


def test_a_workbook_of_an_old_kind_or_with_a_password_is_refused(tmp_path: Path) -> None:
    assert "save it as .xlsx" in previewed(tmp_path, b"\xd0\xcf\x11\xe0" + b"\0" * 600).error


def test_a_zip_in_a_zip_is_refused(tmp_path: Path) -> None:
    inner = zipped({"a.csv": "x", "b.csv": "y"})

    assert "a zip within another" in previewed(tmp_path, zipped({"inner.zip": inner})).error


def test_a_workbook_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, limits: Callable[..., None]
) -> None:
    limits(unpacked_bytes=2**20)
    bomb = xlsx({"Data": [*TABLE, ["x" * 2**20]]})
    assert len(bomb) < 10_000

    assert "unpacks to more than 1 MB" in previewed(tmp_path, bomb).error


def test_a_workbook_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    content = bytearray(xlsx({"Data": [*TABLE, ["x" * 2**20]]}))
    name = b"xl/worksheets/sheet1.xml"
    # The size that the zip's index gives, 22 bytes before the name's length and 24 before the name.
    at = content.rindex(name) - 46 + 24
    content[at : at + 4] = (100).to_bytes(4, "little")

    assert previewed(tmp_path, bytes(content)).error


@pytest.mark.parametrize(("limit", "said"), [("rows", "4 rows"), ("columns", "6 columns")])
def test_rows_and_columns_are_limited(
    tmp_path: Path, limits: Callable[..., None], limit: str, said: str
) -> None:
    limits(**{limit: 3})
    rows = [TABLE[0], *TABLE[1:3], TABLE[4]]

    assert said in previewed(tmp_path, xlsx({"Data": rows})).error


@pytest.mark.django_db
def test_two_cells_that_are_far_apart_do_not_use_up_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    with zipfile.ZipFile(io.BytesIO(xlsx({"Data": TABLE}))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = members["xl/worksheets/sheet1.xml"].decode()
    far = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    members["xl/worksheets/sheet1.xml"] = sheet.replace("</sheetData>", far).encode()
    path.write_bytes(zipped(members))

    assert preview_apart(path, "book.xlsx").error


@pytest.mark.django_db
def test_the_api_reads_the_sheet_that_is_named(project: Project, owner: User) -> None:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="laptop", digest=digest)
    api = Client(headers={"Authorization": f"Bearer {token}"})
    book = xlsx({"Notes": [["a", "b"], ["c", "d"]], "Data": [TABLE[0], TABLE[1]]})

    answer = api.post(
        f"/api/v1/projects/{project.slug}/outputs?sheet=Data", book, "application/octet-stream"
    )
    wrong = api.post(
        f"/api/v1/projects/{project.slug}/outputs?sheet=Dta", book, "application/octet-stream"
    )

    assert (answer.status_code, Document.objects.get().doc_id) == (200, "d1")
    assert wrong.status_code == 422
    assert "has no sheet “Dta”" in wrong.json()["detail"]
    assert wrong.json()["detail"].endswith("Notes, Data")
