"""A certificate of a judge that runs is bound to its prompt, steps, settings and model; pages, the
API and archives have it."""

import io
from collections.abc import Callable

import pytest
from django.test import Client

from annotations.models import Rating
from assurance.certifying.certificates import (
    certify,
    is_intact,
    read_requirements,
    what_changed,
)
from assurance.certifying.verifying import VALID, verify
from evaluations.corpus.locks.locking import lock_documents, unlock_documents
from evaluations.judging.judges.criteria import store_steps
from evaluations.models import (
    Certificate,
    Criterion,
    Judge,
    ModelReply,
    Project,
    RunItem,
)
from evaluations.models.sealing import public_key
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive

pytestmark = pytest.mark.django_db(transaction=True)
AsRole = Callable[[str], Client]


@pytest.fixture
def judge(judged_project: Project) -> Judge:
    """A judge whose scores are from replies of a model that names itself."""
    reply = ModelReply.objects.create(
        project=judged_project, request_key="k", choices=[], model="offline-stand-in"
    )
    RunItem.objects.update(reply=reply)
    return judged_project.judges.get()


@pytest.fixture
def criterion(judged_project: Project) -> Criterion:
    return judged_project.criteria.get(name="coherence")


@pytest.fixture
def certificate(judge: Judge, criterion: Criterion) -> Certificate:
    return certify(judge, criterion, read_requirements(["documents>=1"]))


def changes() -> list[str]:
    """What changed since the only certificate, by records as they are now."""
    return what_changed(Certificate.objects.get())


def test_a_fresh_one_fits_and_names_the_model_as_it_answered(certificate: Certificate) -> None:
    assert changes() == []
    assert certificate.content["bound_to"]["answered_by"] == ["offline-stand-in"]
    assert certificate.content["bound_to"]["prompt"]


def test_another_prompt_is_a_change(certificate: Certificate, criterion: Criterion) -> None:
    Criterion.objects.filter(pk=criterion.pk).update(definition="Is it short?")

    assert "The prompt changed." in changes()


def test_a_model_that_answers_by_another_name_is_a_change(certificate: Certificate) -> None:
    ModelReply.objects.update(model="offline-stand-in-2")

    assert changes() == [
        "The model as it answers changed: offline-stand-in then, offline-stand-in-2 now."
    ]


def test_texts_are_bound_too(certificate: Certificate, judged_project: Project) -> None:
    judged_project.documents.filter(doc_id="d1").update(source="Another text.")

    assert [line[:17] for line in changes()] == ["The texts changed"]


def test_scores_of_an_earlier_prompt_say_nothing_about_todays(
    certificate: Certificate, judge: Judge, criterion: Criterion
) -> None:
    Judge.objects.filter(pk=judge.pk).update(use_steps=True)
    judge.refresh_from_db()
    store_steps(criterion, "1. Read it twice, then compare.", written_by="hand")

    found = certify(judge, criterion, read_requirements(["documents>=1"]))

    assert found.outcome == "cannot say"
    assert "earlier prompt" in found.requirements[0]["reason"]


def test_locked_documents_are_left_out_and_it_says_so(
    judge: Judge, criterion: Criterion, as_role: Callable[[str], Client]
) -> None:
    whole = certify(judge, criterion, read_requirements(["documents>=1"])).requirements[0]
    # By this seed d1 is locked.
    locked = lock_documents(judge.project, seed="1", share=0.5)
    hidden = locked.document_ids()
    assert 0 < len(hidden) < judge.project.documents.count()

    found = certify(judge, criterion, read_requirements(["documents>=1"]))

    assert found.requirements[0]["value"] < whole["value"]
    assert found.content["withheld_documents"] == len(hidden)
    page = as_role("viewer").get(found.get_absolute_url()).content.decode()
    assert "left out until the last look" in page
    # After the opening its data are others.
    unlock_documents(locked)
    assert [said.split()[1] for said in what_changed(found)] == ["texts", "ratings", "scores"]


def test_a_certificate_still_fits_when_documents_are_locked_after_it(
    certificate: Certificate, criterion: Criterion
) -> None:
    locked = lock_documents(certificate.project, seed="1", share=0.5)
    assert locked.document_ids()

    assert changes() == []
    assert verify(certificate.content, key=public_key()).exit == VALID
    Rating.objects.filter(
        criterion=criterion, output__document__in=locked.document_ids()
    ).first().delete()
    assert [said.split()[1] for said in changes()] == ["ratings"]


def test_an_imported_copy_has_it_and_it_fits_there(certificate: Certificate) -> None:
    content = io.BytesIO()
    write_archive(certificate.project, content)
    content.seek(0)

    copy = read_archive(content, slug="copy")

    (there,) = copy.certificates.all()
    assert (there.content, there.outcome) == (certificate.content, certificate.outcome)
    assert is_intact(there.content)
    assert what_changed(there) == []
    assert verify(there.content, key=public_key(), project="copy").exit == VALID


def test_the_judges_page_makes_one_and_it_says_what_it_found(as_role: AsRole, judge: Judge) -> None:
    client = as_role("researcher")
    shown = client.get(f"{judge.get_absolute_url()}certificates/").content.decode()
    assert "New certificate" in shown

    criterion = judge.project.criteria.first()
    assert criterion is not None
    made = client.post(
        f"{judge.get_absolute_url()}certify/",
        {
            "criterion": criterion.pk,
            "requirements": "documents>=1\nspearman.summary.low>=0.4",
            "epsilon": "0.2",
        },
        follow=True,
    ).content.decode()

    assert "It still fits" in made
    assert "Cannot say" in made
    assert "more rated" in made
    assert "Certificate" in client.get(f"{judge.get_absolute_url()}certificates/").content.decode()


def test_the_api_makes_reads_and_refuses(
    as_role: AsRole, judge: Judge, criterion: Criterion
) -> None:
    client, address = as_role("researcher"), f"/api/v1/projects/{judge.project.slug}/certificates"
    body = {"judge": judge.pk, "criterion": criterion.pk, "require": ["documents>=1"]}

    made = client.post(address, body, content_type="application/json")
    refused = client.post(address, body | {"require": ["x"]}, content_type="application/json")
    ModelReply.objects.update(model="another")
    read = client.get(f"{address}/{made.json()['id']}").json()

    assert (made.status_code, made.json()["outcome"]) == (201, "met")
    assert refused.status_code == 422
    assert "is not a requirement" in refused.json()["detail"]
    assert (read["fits"], len(read["changed"])) == (False, 1)
    assert [one["id"] for one in client.get(address).json()["items"]] == [made.json()["id"]]
