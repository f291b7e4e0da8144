"""Which models an endpoint lists, and which address somebody may have meant by one that does not
answer."""

import copy

from evaluations.judging.judges.clients import client_for
from evaluations.models import Endpoint
from geval.llm.addresses import ForbiddenAddressError, likely_addresses
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.patience import ask_within_patience

LIST_SECONDS = 5.0
MOST_MODELS = 500
SHOWN_MODELS = 5
# What a server says that has nothing, or something else, at the address.
ABOUT_THE_ADDRESS = frozenset(
    {
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.BAD_REQUEST,
        ErrorKind.MALFORMED,
        ErrorKind.REDIRECT,
    }
)


def models_listed_by(endpoint: Endpoint) -> list[str]:
    """The names of the models that an endpoint lists; none if it lists none."""
    try:
        client = client_for(endpoint, timeout=LIST_SECONDS)
        return ask_within_patience(_list(client), endpoint.base_url)[:MOST_MODELS]
    except EndpointError:
        return []


def keep_listed_models(endpoint: Endpoint, names: list[str]) -> None:
    """Remember the models of an endpoint as suggestions, unless its address has changed since."""
    if names:
        same = Endpoint.objects.filter(pk=endpoint.pk, base_url=endpoint.base_url)
        same.update(listed_models=names)


def with_a_suggestion(endpoint: Endpoint, model: str, error: EndpointError) -> EndpointError:
    """An error of an endpoint, with what to do where that can be found out: another address of the
    same server under which models are listed, or the models that it has.

    Every address is checked as any other is (llm/addresses.py).
    """
    if error.kind not in ABOUT_THE_ADDRESS or endpoint.api_version:
        return error
    names = models_listed_by(endpoint)
    if names:
        keep_listed_models(endpoint, names)
        return error if model in names else _unknown(endpoint, model, names, error)
    for address in _likely(endpoint.base_url):
        other = copy.copy(endpoint)
        other.base_url = address
        if models_listed_by(other):
            return EndpointError(
                error.kind,
                f"There is no API at {endpoint.base_url}. Did you mean {address}? Models are listed"
                " there. Edit the endpoint to use that address.",
            )
    return error


def _unknown(
    endpoint: Endpoint, model: str, names: list[str], error: EndpointError
) -> EndpointError:
    if error.kind != ErrorKind.MODEL_NOT_FOUND:
        return error
    more = len(names) - SHOWN_MODELS
    listed = ", ".join(names[:SHOWN_MODELS]) + (f" and {more} more" if more > 0 else "")
    return EndpointError(
        error.kind, f"{endpoint.base_url} does not know the model {model!r}. It lists {listed}."
    )


def _likely(base_url: str) -> list[str]:
    try:
        return likely_addresses(base_url)
    except ForbiddenAddressError:
        return []


async def _list(client: Client) -> list[str]:
    async with client:
        return await client.list_models()
