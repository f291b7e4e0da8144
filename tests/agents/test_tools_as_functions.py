"""Tools are functions: a change needs its level, is checked as an operation of the API, and is in
the audit log as that."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest

from assurance.web.agents import certify, improve, look
from evaluations.models import AuditEntry, Membership, Project, Role
from evaluations.web.agents import tools
from evaluations.web.agents.agent import Agent, Level
from geval.client import ApiError

pytestmark = pytest.mark.django_db
CRITERION = {"project": "small", "name": "tone", "definition": "Polite."}


def agent_of(user: User, level: Level = Level.WRITE) -> Agent:
    request = HttpRequest()
    request.user = request.auth = user  # type: ignore[attr-defined]
    return Agent(request, level, "http://localhost/")


def test_a_change_is_in_the_audit_log_as_that_of_the_api(
    small_project: Project, owner: User
) -> None:
    made = agent_of(owner).answer(tools.make_criterion, CRITERION)

    assert made == {"criterion": "tone"}
    (entry,) = AuditEntry.objects.all()
    assert (entry.action, entry.path) == (
        "api:make_criterion",
        "/api/v1/projects/small/criteria",
    )


@pytest.mark.parametrize(
    ("role", "level", "change", "status", "refused"),
    [
        (Role.OWNER, Level.READ, {}, 403, 0),
        (Role.VIEWER, Level.WRITE, {}, 403, 1),
        (Role.OWNER, Level.WRITE, {"lowest": 5, "highest": 1}, 422, 0),
        (Role.OWNER, Level.WRITE, {"name": ""}, 422, 0),
        (Role.OWNER, Level.WRITE, {"project": "small/criteria"}, 404, 0),
        (Role.OWNER, Level.WRITE, {"name": "a\0"}, 422, 0),
    ],
)
def test_refused_changes(
    small_project: Project, owner: User, role: Role, level: Level, change: dict[str, Any],
    status: int, refused: int,
) -> None:  # fmt: skip
    Membership.objects.filter(user=owner, project=small_project).update(role=role)
    criteria = small_project.criteria.count()

    with pytest.raises(ApiError) as error:
        agent_of(owner, level).answer(tools.make_criterion, CRITERION | change)

    assert error.value.status == status
    assert small_project.criteria.count() == criteria
    assert AuditEntry.objects.filter(refused=True).count() == refused


def test_a_project_may_be_named_as_a_kind_of_rows(owner: User) -> None:
    project = Project.objects.make(name="outputs", description="", owner_id=owner.pk)
    rows = [{"doc_id": "d", "system_id": "s", "source": "One.", "output": "1."}]

    loaded = agent_of(owner).answer(tools.load_rows, {"project": project.slug, "rows": rows})

    assert loaded["loaded"]["outputs"]["created"] == 1
    assert AuditEntry.objects.get().path == "/api/v1/projects/outputs/outputs"


@pytest.mark.parametrize(
    ("tool", "arguments", "role"),
    [
        (tools.make_judge, {"name": "g", "endpoint": "none", "model": "m"}, Role.OWNER),
        (tools.start_run, {"judge": "nobody"}, Role.VIEWER),
        (improve, {"judge": "nobody", "criterion": "none", "changes": ["wording"]}, Role.OWNER),
        (certify, {"judge": "nobody", "criterion": "none", "require": []}, Role.VIEWER),
        (look, {"search": 1, "candidate": 1}, Role.VIEWER),
    ],
)
def test_what_an_agent_may_not_do_is_refused_and_noted_before_its_names_are_looked_up(
    small_project: Project, owner: User, tool: Any, arguments: dict[str, Any], role: Role
) -> None:
    Membership.objects.filter(user=owner, project=small_project).update(role=role)

    with pytest.raises(ApiError) as error:
        agent_of(owner).answer(tool, {"project": "small"} | arguments)

    assert error.value.status == 403
    assert AuditEntry.objects.get().refused
