"""Uploading in the browser: the same loading as from the terminal, faults as a table."""

import gzip

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings

from evaluations.models import CandidateOutput, Judge, Project
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db
ADDRESS = "/p/small/data/upload/"


def upload(owner: User, files: dict[str, str | bytes], **fields: str):
    client = Client()
    client.force_login(owner)
    sent = [
        SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())
        for name, content in files.items()
    ]
    return client.post(ADDRESS, {"files": sent, **fields}, follow=True)


def test_several_files_at_once_plain_and_packed(owner: User, project: Project) -> None:
    response = upload(owner, {"ratings.csv": RATINGS, "outputs.jsonl.gz": gzip.compress(OUTPUTS.encode())})

    assert response.redirect_chain == [("/p/small/data/", 302)]
    assert "Loaded 3 documents, 6 outputs, 24 ratings." in response.content.decode()


def test_the_same_again_says_that_nothing_changed(owner: User, small_project: Project) -> None:
    response = upload(owner, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})

    assert "Nothing has changed" in response.content.decode()


def test_faults_are_listed_and_nothing_is_kept(owner: User, project: Project) -> None:
    response = upload(owner, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS + "\nd1,good,coherence,ann,five"})

    text = response.content.decode()
    assert response.status_code == 422
    assert "1 fault; nothing was loaded." in text
    assert "ratings.csv" in text
    assert "expected a number, found &#x27;five&#x27;" in text
    assert not CandidateOutput.objects.exists()


def test_a_release_gets_its_judges_name_from_the_form_or_the_file(owner: User, project: Project) -> None:
    record = '[{"source": "s", "system_id": "%s", "system_output": "o", "predict_scores": {"fluency": 0.5}}]'

    upload(owner, {"unieval.json": record % "a"})
    upload(owner, {"other.json": record % "b"}, judge="Named")

    assert set(Judge.objects.values_list("name", flat=True)) == {"unieval", "Named"}


@pytest.mark.parametrize(("content", "said"), [("", "The submitted file is empty."), ("x" * 100, "larger than 0 MB")])
@override_settings(UPLOAD_LIMIT_BYTES=50)
def test_empty_and_too_large_files_are_refused(owner: User, project: Project, content: str, said: str) -> None:
    response = upload(owner, {"f.csv": content})

    assert said in response.content.decode()
