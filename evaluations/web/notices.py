"""What a page says after an action, and when it asks again."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest

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


# htmx uses the response and stops polling.
STOP_POLLING = 286
