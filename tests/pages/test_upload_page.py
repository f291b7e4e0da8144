"""Uploading in the browser: what is recognised, what would change, then everything or nothing."""

import csv
import gzip
import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from annotations.models import Rating
from evaluations.models import (
    CandidateOutput,
    Document,
    Judge,
    Project,
    Upload,
    UploadPart,
    UploadState,
)
from geval.files.fields import not_a_number
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/data/upload/"


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


def choose(
    client: Client, files: dict[str, str | bytes], text: str = ""
) -> tuple[Upload | None, str]:
    """Choose files; returns the upload and the page that comes of it."""
    sent = [
        SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())
        for name, content in files.items()
    ]
    response = client.post(ADDRESS, {"files": sent, "text": text}, follow=True)
    return Upload.objects.first(), response.content.decode()


def load(client: Client, files: dict[str, str | bytes], text: str = "") -> str:
    """Choose files and load them."""
    upload, _page = choose(client, files, text)
    assert upload is not None
    return client.post(f"{upload.get_absolute_url()}load/", follow=True).content.decode()


def say(client: Client, upload: Upload, columns: dict[str, str], **more: Any) -> Upload:
    """Say what the columns of an upload's only file are, and leave the others as they are
    chosen."""
    file = upload.files.get()
    names = [column["name"] for column in file.preview["columns"]]
    chosen = {
        f"column-{file.pk}-{names.index(name)}": target
        for name, target in (file.columns | columns).items()
    }
    response = client.post(
        f"{upload.get_absolute_url()}columns/", {**upload.about, **chosen, **more}, follow=True
    )
    assert response.status_code == 200
    upload.refresh_from_db()
    return upload


def test_what_loading_would_do_is_shown_before_anything_is_written(
    client: Client, project: Project
) -> None:
    upload, page = choose(
        client, {"ratings.csv": RATINGS, "outputs.jsonl.gz": gzip.compress(OUTPUTS.encode())}
    )

    assert "Ready to load." in page
    assert upload is not None
    assert (upload.result["outputs"]["created"], upload.result["ratings"]["created"]) == (6, 24)
    assert not CandidateOutput.objects.exists()


def test_loading_says_what_came_and_keeps_no_files(client: Client, project: Project) -> None:
    page = load(
        client, {"ratings.csv": RATINGS, "outputs.jsonl.gz": gzip.compress(OUTPUTS.encode())}
    )

    assert "Loaded 3 documents, 6 outputs, 24 ratings." in page
    assert not UploadPart.objects.exists()
    assert Upload.objects.get().state == UploadState.DONE


def test_errors_are_listed_by_row_and_can_be_downloaded(client: Client, project: Project) -> None:
    bad = "".join(f"\nd1,good,coherence,ann{i},five" for i in range(150))

    upload, page = choose(client, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS + bad})

    assert upload is not None
    assert "150 errors, so nothing was loaded." in page
    assert page.count("expected a number, found &#x27;five&#x27;") == 100
    rows = list(
        csv.reader(
            io.StringIO(client.get(f"{upload.get_absolute_url()}errors.csv").content.decode())
        )
    )
    assert rows[0] == ["file", "line", "column", "message"]
    assert rows[1] == ["ratings.csv", "26", "score", not_a_number("five")]
    assert len(rows) == 151
    assert not CandidateOutput.objects.exists()


def test_an_invalid_upload_cannot_be_loaded(client: Client, project: Project) -> None:
    page = load(client, {"ratings.csv": RATINGS})

    assert "no output of system good" in page
    assert "for document d1" in page
    assert not Rating.objects.exists()


def test_rows_can_be_pasted_from_a_spreadsheet(client: Client, project: Project) -> None:
    page = load(
        client, {}, "doc_id\tsystem_id\tsource\toutput\nd1\ts1\tA text.\tIts summary, short."
    )

    assert "Loaded 1 document, 1 output." in page
    assert CandidateOutput.objects.get().text == "Its summary, short."


def test_columns_nobody_can_guess_are_said_and_then_chosen(
    client: Client, project: Project
) -> None:
    upload, page = choose(client, {"t.csv": "A,B,C\nA text.,Short.,s1\n"})
    assert "Say which column is the output" in page
    assert upload is not None

    upload = say(client, upload, {"A": "source", "B": "output", "C": "system_id"})

    assert upload.state == UploadState.CHECKED
    client.post(f"{upload.get_absolute_url()}load/")
    assert CandidateOutput.objects.get().system.name == "s1"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"A": "source", "B": "source"}, "Two columns are the source text: choose one."),
        ({"A": "output"}, "Choose the column with the source text: outputs need it."),
        (
            {"A": "doc_id", "B": "score", "C": "system_id"},
            "Choose the column with the criterion&#x27;s name: ratings need it.",
        ),
    ],
)
def test_columns_that_make_no_rows_are_refused_with_a_reason(
    client: Client, project: Project, columns: dict[str, str], said: str
) -> None:
    upload, _page = choose(client, {"t.csv": "A,B,C\nA text.,Short.,s1\n"})
    assert upload is not None

    upload = say(client, upload, dict.fromkeys("ABC", "") | columns)

    assert upload.state == UploadState.INVALID
    assert said in client.get(upload.get_absolute_url()).content.decode()


def test_a_column_that_is_left_out_is_not_read_even_if_its_name_is_known(
    client: Client, project: Project
) -> None:
    upload, _page = choose(
        client,
        {"o.csv": "doc_id,system_id,source,output,context\nd1,s1,A text.,Short.,Never mind.\n"},
    )
    assert upload is not None

    upload = say(client, upload, {"context": ""})
    client.post(f"{upload.get_absolute_url()}load/")

    assert Document.objects.get().context == ""
    assert Document.objects.get().metadata == {}


def test_columns_are_remembered_for_the_next_file_like_it(client: Client, project: Project) -> None:
    upload, _page = choose(client, {"t.csv": "A,B,C\nA text.,Short.,s1\n"})
    assert upload is not None
    chosen = {"A": "source", "B": "output", "C": "system_id"}
    say(client, upload, chosen)

    again, page = choose(client, {"u.csv": "C,A,B\ns2,A text.,Long.\n"})

    assert again is not None
    assert again.files.get().columns == chosen
    assert "Ready to load." in page


def test_the_judge_is_named_on_the_page(client: Client, project: Project) -> None:
    record = {
        "source": "s",
        "system_id": "a",
        "system_output": "o",
        "predict_scores": {"fluency": 0.5},
    }
    upload, _page = choose(client, {"unieval.json": json.dumps([record])})
    assert upload is not None

    upload = say(client, upload, {}, judge="Named")
    client.post(f"{upload.get_absolute_url()}load/")

    assert Judge.objects.get().name == "Named"


def test_texts_are_replaced_only_if_asked_to_and_nothing_depends_on_them(
    client: Client, small_project: Project
) -> None:
    CandidateOutput.objects.filter(document__doc_id="d3").first()
    Rating.objects.filter(output__document__doc_id="d3").delete()
    changed = OUTPUTS.replace("A ferry, a ferry, 3", "A boat, a boat, 3")

    upload, page = choose(client, {"outputs.jsonl": changed})
    assert upload is not None
    assert "already exists with a different text" in page
    upload = say(client, upload, {}, replace="on")
    assert upload.result["outputs"] == {"created": 0, "changed": 1, "unchanged": 5}
    page = client.post(f"{upload.get_absolute_url()}load/", follow=True).content.decode()
    assert "Changed 1 output." in page
    assert CandidateOutput.objects.filter(text__startswith="A boat").count() == 1

    upload, _page = choose(
        client, {"outputs.jsonl": changed.replace("A ferry, a ferry, 1", "A boat, 1")}
    )
    assert upload is not None
    upload = say(client, upload, {}, replace="on")
    assert upload.state == UploadState.INVALID
    assert "4 ratings depend on it" in upload.errors[0]["message"]


def test_discarding_leaves_nothing(client: Client, project: Project) -> None:
    upload, _page = choose(client, {"outputs.jsonl": OUTPUTS})
    assert upload is not None

    client.post(f"{upload.get_absolute_url()}discard/")

    assert not Upload.objects.exists()
    assert not UploadPart.objects.exists()


@pytest.mark.parametrize(
    ("content", "said"), [("", "The submitted file is empty."), ("x" * 100, "larger than 0 MB")]
)
@override_settings(UPLOAD_LIMIT_BYTES=50)
def test_empty_and_too_large_files_are_refused(
    client: Client, project: Project, content: str, said: str
) -> None:
    assert said in choose(client, {"f.csv": content})[1]
