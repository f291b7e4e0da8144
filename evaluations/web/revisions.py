"""Refuse an edit that was made from an older state of a row, so that nobody undoes what somebody
else has changed meanwhile.

A revision is a digest of what people can change. Pages carry it in their forms, the API in the
replies and bodies of `PUT`; an edit that names none is not compared.
"""

import datetime
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, TypeVar

import orjson
from django import forms
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from ninja import Field, Schema

from evaluations.people.audit import note_before
from evaluations.web.api.schemas import In

Row = TypeVar("Row", bound=Model)
CHANGED = "Somebody changed this since you opened it, so nothing was saved."
# Columns that workers fill in.
OF_WORKERS = frozenset({"account", "listed_models"})


class StaleError(Exception):
    """An edit was made from an older state; nothing was saved. `stored` is the state now, `sent`
    what the edit asked for."""

    def __init__(self, *, stored: dict[str, Any], sent: dict[str, Any]) -> None:
        super().__init__(f"{CHANGED} Compare `stored` with `sent`, and use its revision.")
        self.stored, self.sent = stored, sent


def revision_of(row: Model) -> str:
    """Return the digest of a row's columns, of its many-to-many relations, and of what its method
    `edited_besides` names; 16 characters."""
    meta = row._meta
    fields = [field for field in meta.concrete_fields if field.name not in OF_WORKERS]
    # As the database returns them: a value that was just assigned may be 1 in place of 1.0.
    columns = [field.to_python(getattr(row, field.attname)) for field in fields]
    many = [
        sorted(linked.pk for linked in getattr(row, each.name).all()) for each in meta.many_to_many
    ]
    besides: Any = getattr(row, "edited_besides", list)()
    text = orjson.dumps(
        [[_plain(value) for value in columns], many, besides],
        default=str,
        option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS,
    )
    return hashlib.sha256(text).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value.normalize())
    return value.astimezone(datetime.UTC) if isinstance(value, datetime.datetime) else value


class Change(In):
    """The body of a `PUT`: what is left out stays as it is."""

    revision: str = Field(
        "", max_length=16, description="That the change was made from; if it is older: 409."
    )

    def sent(self) -> dict[str, Any]:
        """Return the values that the request has."""
        return self.dict(exclude_unset=True, exclude={"revision"})


class Revised(Schema):
    """What can be changed by a `PUT`."""

    revision: str

    @staticmethod
    def resolve_revision(row: Model) -> str:
        return revision_of(row)


@contextmanager
def editing(
    rows: QuerySet[Row], data: Change, shown: Callable[[Row], Any], **which: Any
) -> Iterator[Row]:
    """Lock a row while it is changed, in a transaction.

    Args:
        shown: converts the row to what the API replies.

    Raises:
        Http404: there is no such row.
        StaleError: the change was made from an older state.
    """
    with transaction.atomic():
        row = locked(rows, **which)
        if data.revision not in ("", revision_of(row)):
            stored = shown(row)
            stored = stored.dict() if isinstance(stored, Schema) else stored
            # Without secrets, which no reply has.
            sent = {name: value for name, value in data.sent().items() if name in stored}
            raise StaleError(stored=stored, sent=sent)
        yield row


def locked(rows: QuerySet[Row], **which: Any) -> Row:
    """Return a row, or 404; nobody else can change it before the transaction ends. What the request
    changes of it is logged."""
    row = get_object_or_404(rows.select_for_update(of=("self",), no_key=True), **which)
    note_before(row)
    return row


def sent(request: HttpRequest) -> QueryDict | None:
    """Return a form's input, which may be empty; None if the form is only shown."""
    return request.POST if request.method == "POST" else None


class EditForm(forms.BaseForm):
    """A form that carries the revision of its row, which the view has locked. After an edit from an
    older state it shows the stored values beside those that were sent."""

    revision = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.edits(getattr(self, "instance", None))

    def edits(self, row: Model | None) -> None:
        """Name the row; before the form is validated, as that may change it."""
        self.revision = revision_of(row) if row is not None and row.pk else ""

    def full_clean(self) -> None:
        super().full_clean()
        if not self.is_bound or self.data.get("revision", "") in ("", self.revision):
            return
        self.add_error(None, f"{CHANGED} Compare the values, and save again.")
        for name in self.changed_data:
            if name in self.initial or self.fields[name].initial is not None:
                self.add_error(name, f"Stored now: {self._stored(name)}")

    def _stored(self, name: str) -> str:
        field = self.fields[name]
        value = self.get_initial_for_field(field, name)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list | QuerySet):
            return ", ".join(map(str, value)) or "–"
        if isinstance(field, forms.ChoiceField) and not isinstance(field, forms.ModelChoiceField):
            value = dict(field.choices).get(value, value)  # type: ignore[arg-type]
        elif isinstance(field, forms.JSONField):
            value = field.prepare_value(value)
        return "–" if value in (None, "") else str(value)
