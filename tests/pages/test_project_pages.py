"""What the pages of a project show, and how many queries that takes with one row and with three."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluations.models import Document, EvaluationRun, Judge, Membership, Project, System

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(owner: User) -> Client:
    browser = Client()
    browser.force_login(owner)
    return browser


def page(client: Client, name: str, *arguments: object, query: str = "") -> str:
    response = client.get(reverse(f"evaluations:{name}", args=["small", *arguments]) + query)
    assert response.status_code == 200
    return response.content.decode()


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200
    return len(captured)


def test_texts_are_shown_as_text_not_as_markup(
    client: Client, project: Project, load: Callable[..., object]
) -> None:
    bad = "<script>alert(1)</script>"
    rows = f'{{"doc_id": "{bad}", "system_id": "{bad}", "source": "{bad}", "output": "{bad}"}}'
    ratings = f"doc_id,system_id,criterion,annotator,score\n{bad},{bad},{bad},{bad},1"
    scores = f"doc_id,system_id,criterion,judge,score\n{bad},{bad},{bad},{bad},1"
    load(project, {"outputs.jsonl": rows, "ratings.csv": ratings, "scores.csv": scores})

    for name, arguments in (
        ("document_list", []),
        ("document_detail", [Document.objects.get().pk]),
        ("criterion_list", []),
        ("judge_list", []),
        ("report_detail", []),
        ("project_detail", []),
    ):
        text = page(client, name, *arguments)
        assert bad not in text, name
        assert "alert(1)" in text or name == "judge_list", name


@pytest.mark.parametrize(
    "name",
    [
        "project_list",
        "project_detail",
        "document_list",
        "criterion_list",
        "judge_list",
        "run_list",
        "report_detail",
    ],
)
def test_more_rows_take_no_more_queries(
    client: Client, owner: User, judged_project: Project, name: str
) -> None:
    address = reverse(f"evaluations:{name}", args=[] if name == "project_list" else ["small"])
    before = queries(client, address)

    judge = Judge.objects.get()
    for number in range(2):
        other = Project.objects.create(name=f"P{number}", slug=f"p{number}")
        Membership.objects.create(project=other, user=owner, role="owner")
        document = Document.objects.create(project=judged_project, doc_id=f"x{number}", source="s")
        document.outputs.create(system=System.objects.first(), text="o")
        twin = Judge.objects.create(
            project=judged_project,
            name=f"j{number}",
            model="m",
            mode="direct",
            endpoint=judge.endpoint,
        )
        EvaluationRun.objects.create(project=judged_project, judge=twin, state="done")
        judged_project.criteria.create(name=f"c{number}").steps.create(
            version=1, text="1.", written_by="m"
        )

    assert queries(client, address) <= before


def test_a_documents_page_takes_no_more_queries_for_more_outputs(
    client: Client, judged_project: Project
) -> None:
    document = Document.objects.get(doc_id="d1")
    address = reverse("evaluations:document_detail", args=["small", document.pk])
    before = queries(client, address)
    for number in range(3):
        document.outputs.create(
            system=System.objects.create(project=judged_project, name=f"s{number}"), text="o"
        )

    assert queries(client, address) <= before


def test_a_new_project_belongs_to_whoever_made_it(client: Client, owner: User) -> None:
    response = client.post("/new/", {"name": "Fresh", "description": "What it is."})

    made = Project.objects.get(name="Fresh", description="What it is.")
    assert response["Location"] == f"/p/{made.slug}/"
    assert Membership.objects.get(project=made).user == owner
