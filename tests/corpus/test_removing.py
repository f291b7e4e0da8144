"""What nothing depends on can be removed; otherwise its dependents are named and all stays.

Projects are put away whole.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Annotator, Preference, Rating
from evaluations.corpus.removing import (
    StillInUseError,
    remove_criterion,
    remove_document,
    remove_output,
)
from evaluations.models import (
    ApiToken,
    CandidateOutput,
    Criterion,
    Document,
    Membership,
    Project,
)
from evaluations.models.tokens import new_token
from evaluations.reports.serving.live import live_data

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: User) -> Client:
    signed_in = Client()
    signed_in.force_login(owner)
    return signed_in


def test_a_document_with_ratings_and_scores_stays(judged_project: Project) -> None:
    document = Document.objects.get(doc_id="d1")

    with pytest.raises(
        StillInUseError, match=r"8 ratings, \d scores and 4 items of runs depend on it"
    ):
        remove_document(document)

    assert document.outputs.count() == 2


def test_a_document_that_nobody_rated_goes_with_its_outputs_and_out_of_reports(
    small_project: Project,
) -> None:
    Rating.objects.filter(output__document__doc_id="d2").delete()
    assert len(live_data(small_project).doc_ids) == 3

    remove_document(Document.objects.get(doc_id="d2"))

    assert list(live_data(small_project).doc_ids) == ["d1", "d3"]
    assert CandidateOutput.objects.count() == 4


def test_a_preference_keeps_both_outputs(small_project: Project) -> None:
    Rating.objects.all().delete()
    first, second = CandidateOutput.objects.filter(document__doc_id="d1").order_by("pk")
    annotator = Annotator.objects.create(project=small_project, name="cy")
    Preference.objects.create(output_a=first, output_b=second, annotator=annotator, value=1)

    for output in (first, second):
        with pytest.raises(StillInUseError, match="1 preference depends on it"):
            remove_output(output)
    remove_output(CandidateOutput.objects.filter(document__doc_id="d2").first())  # type: ignore[arg-type]


def test_a_criterion_stays_as_long_as_somebody_rated_by_it(small_project: Project) -> None:
    with pytest.raises(StillInUseError, match="Criterion coherence was not removed: 12 ratings"):
        remove_criterion(Criterion.objects.get(name="coherence"))
    unused = Criterion.objects.create(project=small_project, name="unused")

    remove_criterion(unused)

    assert set(Criterion.objects.values_list("name", flat=True)) == {"coherence", "fluency"}


def test_the_api_says_it(owner: User, small_project: Project) -> None:
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    send: Callable[[str], Any] = lambda path: Client().delete(  # noqa: E731
        f"/api/v1/projects/small{path}", headers={"Authorization": f"Bearer {token}"}
    )
    document = Document.objects.get(doc_id="d1")

    refused = send(f"/documents/{document.pk}")
    assert (refused.status_code, refused.json()["title"]) == (409, "Still in use")
    Rating.objects.all().delete()
    assert send(f"/outputs/{document.outputs.first().pk}").status_code == 204  # type: ignore[union-attr]
    assert send(f"/documents/{document.pk}").status_code == 204
    assert send(f"/documents/{document.pk}").status_code == 404
    assert send(f"/criteria/{Criterion.objects.get(name='fluency').pk}").status_code == 204


def test_an_archived_project_is_read_and_not_changed_until_it_is_restored(
    client: Client, owner: User, small_project: Project
) -> None:
    client.post("/p/small/archived/")

    assert "Archived on" in client.get("/p/small/").content.decode()
    assert client.get("/p/small/report/").status_code == 200
    assert client.get("/p/small/archive/").status_code == 200
    refused = client.post("/p/small/criteria/new/", {"name": "new"})
    assert refused.status_code == 403
    assert "archived and cannot be changed" in refused.content.decode()
    assert Client().get("/").status_code == 302
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    answer = Client().post(
        "/api/v1/projects/small/criteria",
        {"name": "new"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert (answer.status_code, "archived" in answer.json()["detail"]) == (403, True)

    client.post("/p/small/archived/", {"back": "1"})
    assert client.post("/p/small/criteria/new/", {"name": "new"}).status_code != 403


def test_only_owners_archive(make_user: Callable[..., User], small_project: Project) -> None:
    user = make_user("rita")
    Membership.objects.create(project=small_project, user=user, role="researcher")
    researcher = Client()
    researcher.force_login(user)

    assert researcher.post("/p/small/archived/").status_code == 403
