"""What all operations share: requests in which unknown fields are refused and every text can be
stored in the database, and lists in pages, by cursors, so that rows added in the meantime shift
nothing.
"""

import functools
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeVar, get_args

import orjson
from django.db.models import BigIntegerField, QuerySet
from django.http import HttpRequest
from ninja import Field, Schema
from ninja.operation import Operation
from pydantic import BaseModel, ConfigDict, model_validator

from evaluations.web.parameters import refuse_unknown
from geval.files.rows import is_text

# A body that is not parsed is checked up to this length, in bytes.
MOST_LOOKED_AT = 2**20
View = TypeVar("View", bound=Callable[..., Any])
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# The attribute of a request with the parameters that its operation reads.
PARAMETERS = "read_parameters"
# The most entries of a page: texts are in memory as rows and as JSON.
LARGEST_PAGE = 1000
# PostgreSQL's bigint; a lookup by a larger number would find nothing.
LARGEST_ID = BigIntegerField.MAX_BIGINT
ID = Field(le=LARGEST_ID)


class In(Schema):
    """A request's body or query. Unknown fields are refused, so that nobody assumes that they take
    effect; so are texts with NUL or invalid Unicode, and values nested too deeply to check."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    @model_validator(mode="before")
    @classmethod
    def _all_read(cls, values: Any) -> Any:
        inner = getattr(values, "_obj", values)
        if isinstance(inner, dict):
            refuse_unknown(inner, list(cls.model_fields))
            refuse_booleans(cls, inner)
        return values

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, values: Any) -> Any:
        inner = getattr(values, "_obj", values)
        if isinstance(inner, dict):
            for name, value in inner.items():
                try:
                    is_storable = storable(value)
                except RecursionError:
                    raise ValueError(f"{name} is nested too deeply") from None
                if not is_storable:
                    raise ValueError(
                        f"{name} contains a character that cannot be stored (NUL or a lone "
                        "surrogate)"
                    )
        return values


def refuse_booleans(model: type[BaseModel], values: Mapping[str, Any]) -> None:
    """
    Raises:
        ValueError: a number is given as true or false, which would be read as 1 or 0.
    """
    for name, field in model.model_fields.items():
        kinds = {field.annotation, *get_args(field.annotation)}
        if (
            isinstance(values.get(name), bool)
            and kinds & {int, float, Decimal}
            and bool not in kinds
        ):
            raise ValueError(f"{name} is a number, not true or false")


def parameters_of(operation: Operation) -> list[str]:
    """Return the names of the parameters that an operation reads from an address's query."""
    return [
        name
        for model in operation.models
        if model.__ninja_param_source__ == "query"
        for name in model.__ninja_flatten_map__
    ]


def reads_by_itself(view: View) -> View:
    """Mark an operation that reads its request body itself, such as rows of a file."""
    view.reads_by_itself = True  # type: ignore[attr-defined]
    return view


def refuse_unread(view: View) -> View:
    """Make an operation refuse parameters that it does not read, and fields if it has no body."""

    @functools.wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        refuse_unknown(request.GET, getattr(request, PARAMETERS), "parameter")
        was_read = hasattr(request, "_body") or getattr(view, "reads_by_itself", False)
        if request.method in CHANGING and not was_read:
            refuse_unknown(_fields_of(request), [])
        return view(request, *args, **kwargs)

    return checked  # type: ignore[return-value]


def _fields_of(request: HttpRequest) -> dict[str, Any]:
    """Return the fields of a JSON object in a body; none for any other value."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or not 0 < int(length) <= MOST_LOOKED_AT:
        return {}
    try:
        values = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        return {}
    return values if isinstance(values, dict) else {}


def storable(value: Any) -> bool:
    """Whether every text in a JSON value can be stored."""
    if isinstance(value, str):
        return "\0" not in value and is_text(value)
    if isinstance(value, dict):
        return all(storable(name) and storable(inner) for name, inner in value.items())
    return not isinstance(value, list) or all(storable(inner) for inner in value)


class Page(In):
    """How much of a list, and where to continue: `cursor` is `next` of the previous response."""

    model_config = ConfigDict(extra="ignore")

    limit: int = Field(100, ge=1, le=LARGEST_PAGE)
    cursor: int = Field(0, ge=0, le=LARGEST_ID)


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
