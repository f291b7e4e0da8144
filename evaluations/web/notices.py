"""What a page says after an action, and when it asks again; forms that were not accepted."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluations.people.audit import note_refused


@contextmanager
def noticing(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """Show a refusal of an action as a message, instead of raising it."""
    try:
        yield
    except refusals as error:
        refuse(request, " ".join(getattr(error, "messages", [str(error)])))


def refuse(request: HttpRequest, message: str) -> None:
    """Show why an action was refused; the log has it as refused."""
    messages.error(request, message)
    note_refused(request)


def show_form(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Show the page of the form in `context`; one with errors is no change, also for the log."""
    return render(request, template, context, status=422 if context["form"].errors else 200)


# htmx uses the response and stops polling.
STOP_POLLING = 286
