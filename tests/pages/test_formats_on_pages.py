"""Texts in the formats of their project: chosen once, on every page that shows them, and never what
a judge gets."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.models import Campaign
from annotations.planning.campaigns import open_campaign, seat_annotators
from evaluations.models import AuditEntry, CandidateOutput, Project
from evaluations.reports.serving import live

pytestmark = pytest.mark.django_db
FORMATS = "/p/small/data/formats/"
CHOSEN = {
    "source_format": "table",
    "output_format": "json",
    "reference_format": "markdown",
    "code_language": "python",
    "text_language": "ar",
}
SOURCE = "year,sum\n2026,5"
OUTPUT = '{"said": "<b>مرحبا</b>"}'
TABLE = "<th>year</th><th>sum</th>"
JSON = '<span class="code-nt">"said"</span>'


@pytest.fixture
def project(project: Project) -> Project:
    Project.objects.filter(pk=project.pk).update(**CHOSEN)
    project.refresh_from_db()
    return project


@pytest.fixture
def client(as_role: Callable[[str], Client]) -> Client:
    live.forget()
    return as_role("owner")


def page(client: Client, address: str) -> str:
    response = client.get(address, follow=True)
    assert response.status_code == 200
    return response.content.decode()


def test_formats_are_chosen_on_the_data_tab_and_noted(client: Client) -> None:
    chosen = CHOSEN | {"output_format": "automatic", "text_language": "zh-Hant"}

    said = client.post(FORMATS, chosen, follow=True).content.decode()

    project = Project.objects.get(slug="small")
    assert "Pages show texts in their formats." in said
    assert FORMATS in said
    assert (project.output_format, project.formats.source.lang) == ("automatic", "zh-Hant")
    assert AuditEntry.objects.filter(action="evaluations:project_formats").exists()


def test_what_is_not_a_format_or_a_language_is_refused(client: Client) -> None:
    said = client.post(FORMATS, CHOSEN | {"output_format": "word", "text_language": "<b>"})

    assert "word is not one of the" in said.content.decode()
    assert "not the code of a language" in said.content.decode()
    assert Project.objects.get(slug="small").output_format == "json"


def test_a_campaigns_own_setting_comes_first(
    small_project: Project, make_user: Callable[..., User]
) -> None:
    user = make_user("ann")
    small_project.memberships.create(user=user, role="annotator")
    small_project.documents.update(source=SOURCE)
    CandidateOutput.objects.update(text=OUTPUT + " **so**")
    client = Client()
    client.force_login(user)

    def task(**about: bool) -> str:
        made = Campaign.objects.create(project=small_project, name=str(about), overlap=1, **about)
        made.criteria.set(small_project.criteria.all())
        seat_annotators(made, [user])
        open_campaign(made)
        return page(client, f"/p/small/annotate/{made.pk}/task/")

    own, of_project = task(show_markdown=True), task()
    assert "<strong>so</strong>" in own
    assert TABLE in own
    assert "<strong>so</strong>" not in of_project
    assert "cannot be read as JSON:" in of_project


def test_programs_read_and_change_formats(client: Client) -> None:
    def put(**about: str) -> tuple[int, dict[str, str]]:
        answer = client.put(
            "/api/v1/projects/small/formats", json.dumps(about), content_type="application/json"
        )
        return answer.status_code, answer.json()

    status, changed = put(output_format="markdown", text_language="he")
    assert status == 200
    assert (changed["output_format"], changed["source_format"]) == ("markdown", "table")
    assert client.get("/api/v1/projects/small").json()["text_language"] == "he"
    assert put(output_format="word")[0] == 422
    status, refused = put(code_language="brainfuck")
    assert status == 422
    assert "brainfuck" in json.dumps(refused)
