"""The models that an endpoint lists, and suggestions for an address that does not answer."""

import copy

from evaluations.judging.judges.clients import client_for
from evaluations.models import Endpoint
from geval.llm.addresses import ForbiddenAddressError, likely_addresses
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.time_limit import ask_within_patience

# Somebody waits, and listing models needs no model to run.
LIST_SECONDS = 5.0
# A form offers them in a list, an error in a sentence.
MOST_MODELS = 500
SHOWN_MODELS = 5
# Errors that a server gives when there is no API, or a different one, at the address.
ABOUT_THE_ADDRESS = frozenset(
    {
        ErrorKind.MODEL_NOT_FOUND,
        ErrorKind.BAD_REQUEST,
        ErrorKind.MALFORMED,
        ErrorKind.REDIRECT,
    }
)


def find_models(endpoint: Endpoint) -> None:
    """Store the models that an endpoint lists as suggestions.

    Raises:
        EndpointError: it lists none; the message says why, and what to do.
    """
    try:
        names = _listed(endpoint)
    except EndpointError as error:
        raise _explain_missing_list(endpoint, error) from error
    if not names:
        text = f"{endpoint.base_url} lists no models. Type the model's name."
        raise EndpointError(ErrorKind.MODEL_NOT_FOUND, text)
    keep_listed_models(endpoint, names)


def models_listed_by(endpoint: Endpoint) -> list[str]:
    """Return the names of the models that an endpoint lists, or none."""
    try:
        return _listed(endpoint)
    except EndpointError:
        return []


def keep_listed_models(endpoint: Endpoint, names: list[str]) -> None:
    """Store the models of an endpoint as suggestions, unless its address has changed since."""
    if names:
        same = Endpoint.objects.filter(pk=endpoint.pk, base_url=endpoint.base_url)
        same.update(listed_models=names)


def add_suggestion(endpoint: Endpoint, model: str, error: EndpointError) -> EndpointError:
    """Add a suggestion to an endpoint's error if there is one: another address of the same server
    that lists models, or the models that this address lists.

    Every address is checked like any other (llm/addresses.py).
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


def _listed(endpoint: Endpoint) -> list[str]:
    client = client_for(endpoint, timeout=LIST_SECONDS)
    return ask_within_patience(_list(client), endpoint.base_url)[:MOST_MODELS]


def _explain_missing_list(endpoint: Endpoint, error: EndpointError) -> EndpointError:
    """Add advice to the error of listing models; a server without a list may still have models."""
    url = endpoint.base_url
    if error.kind == ErrorKind.AUTHENTICATION:
        if endpoint.sealed_key:
            text = f"{url} refused the stored key. Edit the endpoint and enter the key again."
        elif endpoint.key_env:
            text = f"{url} refused the key in {endpoint.key_env}. Check it where workers run."
        else:
            text = f"{url} asks for a key. Edit the endpoint and enter it."
        return EndpointError(error.kind, f"{text} If only the list is refused, type the model.")
    if error.kind not in ABOUT_THE_ADDRESS:
        return error
    suggested = add_suggestion(endpoint, "", error)
    if suggested is not error:
        return suggested
    text = (
        f"{url} has no list of models. Type the model's name; if that fails as well, check the"
        " base URL, which ends in /v1 on most servers."
    )
    return EndpointError(error.kind, text)


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
