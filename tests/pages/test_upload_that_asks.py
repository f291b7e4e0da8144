"""What an upload leaves unclear is asked; stray values, wrong cells and refused rows are handled
on the page before anything is loaded."""

import csv
import io

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.models import Rating
from evaluations.models import Criterion, Project, SavedColumns, Upload, UploadState
from geval.files.fields import not_a_number

pytestmark = pytest.mark.django_db
HEADER = "Nr;Vorlage;Ergebnis;Modell;"
RATINGS = (2, 3, 5, 4, 1, 2, 3, 5)


def table(columns: str, *, last: str = "4") -> str:
    """Four texts by two systems, with ratings in the columns; `last` is the very last cell."""
    lines, names = [HEADER + columns], columns.split(";")
    for number in range(8):
        cells = [str(1 + (RATINGS[number] + place) % 5) for place in range(len(names))]
        if number == 7:
            cells[-1] = last
        document, system = divmod(number, 2)
        source = f"Die Fähre {document} nach Sandvik fährt seit dem Morgen wieder."
        output = f"Fähre {document} fährt, sagt Modell {system} in seinem Satz."
        lines.append(f"{document};{source};{output};modell-{system};{';'.join(cells)}")
    return "\n".join(lines) + "\n"


class Page:
    """The page of an upload, as a browser would use it."""

    def __init__(self, client: Client, content: str) -> None:
        self.client = client
        sent = {"files": SimpleUploadedFile("ratings.csv", content.encode())}
        self.text = client.post("/p/small/data/upload/", sent, follow=True).content.decode()

    @property
    def upload(self) -> Upload:
        return Upload.objects.latest("pk")

    def press(self, action: str, **fields: str) -> None:
        address = f"{self.upload.get_absolute_url()}{action}/"
        self.text = self.client.post(address, fields, follow=True).content.decode()


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


def test_a_rater_per_column_becomes_one_criterion_by_several_raters(
    client: Client, project: Project
) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert"))

    assert "Ready to load." in page.text
    page.press("load")
    assert list(Criterion.objects.values_list("name", "scale_min", "scale_max")) == [
        ("Kohaerenz", 1, 5)
    ]
    assert set(Rating.objects.values_list("annotator__name", flat=True)) == {"Anna", "Bert"}
    assert Rating.objects.count() == 16


def test_an_unclear_column_is_asked_and_the_answer_remembered(
    client: Client, project: Project
) -> None:
    page = Page(client, table("Anna;Bert"))
    assert "Which criterion did “Anna” and “Bert” rate?" in page.text
    assert "Ready to load." not in page.text
    assert page.upload.state == UploadState.CHOSEN

    page.press("answer", answer=f"{page.upload.files.get().pk}-0-0")
    assert "Ready to load." in page.text
    assert SavedColumns.objects.get().name == "ratings.csv"

    again = Page(client, table("Anna;Bert"))
    assert "Ready to load." in again.text
    assert again.upload.contents["raters"] == {"Anna": 8, "Bert": 8}


@pytest.mark.parametrize("answer", ["", "x", "0-0-0", "1-99-99", "-", "9" * 400])
def test_an_answer_to_nothing_changes_nothing(
    client: Client, project: Project, answer: str
) -> None:
    page = Page(client, table("Anna;Bert"))
    page.press("answer", answer=answer)

    assert "Which criterion did" in page.text


def test_a_stray_value_is_shown_with_its_row_and_makes_no_wider_scale(
    client: Client, project: Project
) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert", last="9"))

    (error,) = page.upload.errors
    assert (error["line"], error["column"], error["value"]) == (9, "Kohaerenz_Bert", "9")
    assert error["message"].startswith("9 is off 1-5,")
    assert "the other 15 ratings" in error["message"]
    assert "1 error, so nothing was loaded." in page.text
    page.press("load")
    assert not Rating.objects.exists()


def test_a_cell_is_corrected_in_place(client: Client, project: Project) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert", last="9"))

    page.press("correct", **{"cell-0": "4"})
    assert "Ready to load." in page.text
    page.press("load")

    assert (
        sorted(Rating.objects.filter(annotator__name="Bert").values_list("score", flat=True))[-1]
        == 5
    )
    assert Rating.objects.count() == 16


def test_a_wider_scale_is_confirmed(client: Client, project: Project) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert", last="9"))

    page.press("scales", **{"scale-0": "1-10"})
    assert "Ready to load." in page.text
    page.press("load", **{"scale-0": "1-10"})

    assert Criterion.objects.get().scale_max == 10
    assert Rating.objects.filter(score=9).count() == 1


def test_ratings_off_the_confirmed_scale_are_errors(client: Client, project: Project) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert"))

    page.press("load", **{"scale-0": "1-3"})

    assert "outside Kohaerenz&#x27;s scale 1-3" in page.text
    assert not Rating.objects.exists()


@pytest.mark.parametrize("written", ["five", "5-1", "1-", "0-1e99"])
def test_what_is_no_scale_is_said_beside_the_field_and_nothing_is_ready(
    client: Client, project: Project, written: str
) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert"))

    page.press("load", **{"scale-0": written})

    assert "Ready to load." not in page.text
    assert 'class="errorlist"' in page.text
    assert not Rating.objects.exists()


def test_a_wrong_rating_is_left_out_without_its_row_which_is_kept_as_a_file(
    client: Client, project: Project
) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert", last="vier"))
    assert page.upload.errors[0]["column"] == "Kohaerenz_Bert"

    page.press("rest")
    assert "Left out: 1 cell with errors." in page.text
    page.press("load")

    assert Rating.objects.count() == 15
    content = client.get(f"{page.upload.get_absolute_url()}left-out.csv").content.decode()
    (row,) = csv.DictReader(io.StringIO(content))
    assert (row["Kohaerenz_Bert"], row["line"]) == ("vier", "9")
    assert row["error"] == f"Kohaerenz_Bert: {not_a_number('vier')}"


def test_the_criterion_and_the_rater_of_a_column_can_be_renamed(
    client: Client, project: Project
) -> None:
    page = Page(client, table("Kohaerenz_Anna;Kohaerenz_Bert"))
    file = page.upload.files.get()
    targets = ["doc_id", "source", "output", "system_id", "ratings", "ratings"]
    fields = {f"column-{file.pk}-{n}": target for n, target in enumerate(targets)}
    for number, rater in ((4, "Anna"), (5, "Berta")):
        fields |= {f"column-{file.pk}-{number}-criterion": "coherence",
                   f"column-{file.pk}-{number}-rater": rater}  # fmt: skip

    page.press("columns", **fields)

    assert page.upload.contents["raters"] == {"Anna": 8, "Berta": 8}
    assert page.upload.contents["criteria"][0]["name"] == "coherence"
