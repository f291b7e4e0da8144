"""From a spreadsheet: its file with a question about the sheet, or cells copied from it."""

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotations.models import Rating
from evaluations.models import CandidateOutput, Document, Project, Upload, UploadState
from tests.workbooks import xlsx

pytestmark = pytest.mark.django_db
HEADER = ["doc_id", "system_id", "source", "output", "ratings.coherence"]
PILOT = [HEADER, ["p1", "a", "A pilot's source.", "A pilot's output.", 2]]
DATA = [HEADER, ["d1", "a", "The ferry sails.", "It sails.", 4]]


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


def sent(client: Client, **fields: object) -> str:
    return client.post("/p/small/data/upload/", fields, follow=True).content.decode()


def test_which_sheet_is_asked_and_the_chosen_one_is_loaded(
    client: Client, project: Project
) -> None:
    book = SimpleUploadedFile("book.xlsx", xlsx({"Pilot": PILOT, "Data": DATA}))
    page = sent(client, files=book)
    upload = Upload.objects.get()
    assert "Which sheet has the data?" in page
    assert upload.state == UploadState.CHOSEN

    answer = {"answer": f"{upload.files.get().pk}-0-1"}
    page = client.post(f"{upload.get_absolute_url()}answer/", answer, follow=True).content.decode()
    assert "Ready to load." in page
    assert "sheet Data" in page

    client.post(f"{upload.get_absolute_url()}load/")
    assert list(Document.objects.values_list("doc_id", flat=True)) == ["d1"]
    assert Rating.objects.get().score == 4


def test_cells_that_are_copied_from_a_spreadsheet_are_read(
    client: Client, project: Project
) -> None:
    cells = [
        ["doc_id", "system_id", "source", "output", "metadata.a, b, c, d, e, f", "Fluency"],
        ["d1", "a", 'He said "yes", at last.', '"Yes" is what he said.', "4", "5"],
        ["", "", "", "", "", ""],
        ["d2", "a", '"Two\nlines, with ""marks"""', '"All of it"', "3", "2"],
    ]

    page = sent(client, text="\r\n".join("\t".join(row) for row in cells))

    assert "CSV with tabs" in page
    upload = Upload.objects.get()
    assert upload.errors == []
    assert "Ready to load." in page
    client.post(f"{upload.get_absolute_url()}load/")
    assert list(
        CandidateOutput.objects.order_by("document__doc_id").values_list("document__source", "text")
    ) == [
        ('He said "yes", at last.', '"Yes" is what he said.'),
        ('Two\nlines, with "marks"', "All of it"),
    ]
