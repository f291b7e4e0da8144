"""What a page says after an action, and when it asks again."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import HttpRequest


@contextmanager
def noticing(request: HttpRequest, *refusals: type[Exception]) -> Iterator[None]:
    """Show a refusal of an action as a message, instead of raising it."""
    try:
        yield
    except refusals as error:
        messages.error(request, " ".join(getattr(error, "messages", [str(error)])))


# htmx uses the response and stops polling.
STOP_POLLING = 286
