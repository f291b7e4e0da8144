"""`POST /api/v1/mcp`: for remote agents with an API token."""

from typing import Literal

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router

from evaluations.models import ApiToken
from evaluations.web.agents.agent import Agent, Level
from evaluations.web.agents.server import MISSING, answer, is_installed
from evaluations.web.api.auth import TokenAlone
from evaluations.web.api.problems import problem
from evaluations.web.api.schemas import In, reads_by_itself

router = Router()


class AgentQuery(In):
    """What the agent may do besides reading; its token sets the bounds."""

    allow: Literal["read", "write", "spend"] = "read"


@router.post("/mcp", auth=TokenAlone(), include_in_schema=False)
@reads_by_itself
def answer_agent(request: HttpRequest, query: Query[AgentQuery]) -> HttpResponse:
    """One message of an agent."""
    if not is_installed():
        return problem(501, "Not installed", MISSING)
    token = request.auth  # type: ignore[attr-defined]
    assert isinstance(token, ApiToken)
    level = Level[query.allow.upper()] if token.may_change else Level.READ
    agent = Agent(request, level, request.build_absolute_uri("/"))
    return async_to_sync(answer)(request, agent)
