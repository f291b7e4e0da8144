"""Who may have the site call addresses of their choice is a right of its own, on pages and in the
API."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from evaluations.judging.judges.clients import client_for
from evaluations.models import Endpoint, Membership, Project, Webhook
from evaluations.projects.archive.write import write_archive
from geval.llm.errors import EndpointError
from tests.conftest import CHECKOUT

pytestmark = pytest.mark.django_db
ADDRESS = "http://127.0.0.1:9/v1"
TABLE = {
    setting: dict(
        zip(("owner", "researcher", "viewer"), (cell.strip() for cell in cells), strict=True)
    )
    for setting, *cells in re.findall(
        r"^\| `(editors|owners|permitted)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|",
        (CHECKOUT / "docs/rights.md").read_text(),
        re.M,
    )
}


def attempts(client: Client, project: Project) -> list[int]:
    """Whether each way to have the site call an address is open: statuses."""
    endpoint = project.endpoints.get_or_create(name="there", base_url=ADDRESS)[0]
    page, api = "/p/small/endpoints", "/api/v1/projects/small/endpoints"
    as_json = {"content_type": "application/json"}
    return [
        client.get(f"{page}/new/").status_code,
        client.post(f"{page}/new/", {"base_url": ADDRESS}).status_code,
        client.post(
            f"{page}/{endpoint.pk}/edit/", {"base_url": ADDRESS, "name": "there"}
        ).status_code,
        client.post(f"{page}/{endpoint.pk}/retire/").status_code,
        client.post(
            api, json.dumps({"base_url": ADDRESS, "name": "by API"}), **as_json
        ).status_code,
        client.put(
            f"{api}/{endpoint.pk}", json.dumps({"base_url": ADDRESS}), **as_json
        ).status_code,
        client.put(
            f"{api}/{endpoint.pk}/retired", json.dumps({"retired": True}), **as_json
        ).status_code,
    ]


@pytest.mark.parametrize("setting", ["editors", "owners", "permitted"])
@pytest.mark.parametrize("role", ["owner", "researcher", "viewer"])
def test_the_table_of_the_docs_holds(
    as_role: Callable[[str], Client], project: Project, settings: Any, setting: str, role: str
) -> None:
    settings.WHO_MAY_CALL_OUT = setting
    said = TABLE[setting][role]
    client = as_role(role)

    without = attempts(client, project)
    project.endpoints.all().delete()
    User.objects.get().user_permissions.add(Permission.objects.get(codename="add_endpoint"))
    with_permission = attempts(client, project)

    assert ({403} == set(without)) == (said != "yes")
    assert ({403} == set(with_permission)) == (said == "no")
    assert 403 not in with_permission or said == "no"


@pytest.mark.parametrize(("setting", "status"), [("owners", 200), ("permitted", 403)])
def test_webhooks_need_the_right_as_well(
    as_role: Callable[[str], Client], project: Project, settings: Any, setting: str, status: int
) -> None:
    settings.WHO_MAY_CALL_OUT = setting
    owner = as_role("owner")

    made = {"url": "http://127.0.0.1:9/h", "events": ["run.finished"]}
    answer = owner.post("/p/small/webhooks/", made, follow=True)

    assert answer.status_code == status
    assert Webhook.objects.count() == (status == 200)
    page = owner.get("/p/small/webhooks/").content.decode()
    assert ("Create webhook" in page) == (status == 200)
    assert ("Ask the site&#x27;s administrator" in page) == (status == 403)


def test_pages_hide_the_buttons_and_say_why(
    as_role: Callable[[str], Client], project: Project, settings: Any
) -> None:
    endpoint = Endpoint.objects.create(project=project, name="there", base_url=ADDRESS)
    researcher = as_role("researcher")
    pages = ["/p/small/judges/", endpoint.get_absolute_url()]

    before = [researcher.get(page).content.decode() for page in pages]
    settings.WHO_MAY_CALL_OUT = "owners"
    after = [researcher.get(page).content.decode() for page in pages]

    assert ["New endpoint" in before[0], "/edit/" in before[1]] == [True, True]
    assert ["New endpoint" in after[0], "/edit/" in after[1]] == [False, False]
    assert all("Ask an owner to do it" in page for page in after)
    assert "New judge" in after[0]


def test_an_archive_is_no_way_around_it(
    make_user: Callable[..., User], small_project: Project, settings: Any, tmp_path: Path
) -> None:
    settings.WHO_MAY_CALL_OUT = "permitted"
    Endpoint.objects.create(project=small_project, name="e", base_url=ADDRESS)
    with (tmp_path / "a.zip").open("wb") as file:
        write_archive(small_project, file)
    client = Client()
    client.force_login(make_user("kim"))

    with (tmp_path / "a.zip").open("rb") as file:
        client.post("/new/archive/", {"file": file})

    endpoint = Membership.objects.get(user__username="kim").project.endpoints.get()
    with pytest.raises(EndpointError, match="is retired and is not called"):
        client_for(endpoint, timeout=1)
    assert client.post(f"{endpoint.get_absolute_url()}retire/").status_code == 403
