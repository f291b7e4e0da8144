"""HTTP API of policies: what was asked, what is promised, and which is in use."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from ninja import Path, Query, Router, Schema

from evaluations.models import Policy
from evaluations.web.api.auth import project_for
from evaluations.web.api.schemas import Page, page_of

router = Router()


class PolicyOut(Schema):
    """`answer` is that of `geval.policy`, without outputs; `check_share` the random share of kept
    answers that people check."""

    id: int
    judge: int
    second: int | None
    criterion: int
    promise: str
    is_promised: bool
    in_use: bool
    check_share: float
    made_at: datetime
    answer: dict[str, Any]


class Policies(Schema):
    items: list[PolicyOut]
    next: int | None


@router.get("/policies", response=Policies)
def list_policies(request: HttpRequest, slug: Path[str], page: Query[Page]) -> Any:
    """Policies that were asked for and answered, the oldest first, in pages."""
    return page_of(project_for(request, slug).policies.answered(), page, _out)


def _out(policy: Policy) -> dict[str, Any]:
    return {
        "id": policy.pk,
        "judge": policy.judge_id,
        "second": policy.second_id,
        "criterion": policy.criterion_id,
        "promise": policy.promise,
        "is_promised": policy.kept is not None,
        "in_use": policy.is_in_use,
        "check_share": policy.check_share,
        "made_at": policy.made_at,
        "answer": policy.content,
    }
