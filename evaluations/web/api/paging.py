"""Paginate lists with cursors, so that rows added in the meantime shift nothing."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from ninja import Field
from pydantic import ConfigDict

from evaluations.web.api.schemas import In

# A page of texts is in memory as rows and as JSON.
MOST = 1000


class Page(In):
    """How much of a list, and where to continue: `cursor` is `next` of the previous response."""

    model_config = ConfigDict(extra="ignore")

    limit: int = Field(100, ge=1, le=MOST)
    cursor: int = Field(0, ge=0, le=2**63 - 1)


def page_of(
    rows: QuerySet[Any], page: Page, shown: Callable[[Any], Any] = lambda row: row
) -> dict[str, Any]:
    """Return a page of records ordered by id, with the next cursor (null at the end).

    Args:
        shown: converts a record; by default the response's schema does.
    """
    listed = list(rows.order_by("pk").filter(pk__gt=page.cursor)[: page.limit + 1])
    more = len(listed) > page.limit
    listed = listed[: page.limit]
    return {"items": [shown(row) for row in listed], "next": listed[-1].pk if more else None}
