"""Create a client from an endpoint's record, and ask a model once. Each new client checks the
address and decrypts the key."""

from django.conf import settings

from evaluations.judging.judges.findings import known_fit
from evaluations.models import Endpoint
from evaluations.models.sealing import SealError
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.calls import Answer, RetryPolicy, ask_until_answered
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.requests import ChatRequest
from geval.llm.time_limit import TimeLimit, ask_within_patience


def client_for(endpoint: Endpoint, *, timeout: float | TimeLimit) -> Client:
    """Return a client of an endpoint, to be used in an `async with`.

    Raises:
        EndpointError: it is retired, its address must not be called, or its key cannot be
            decrypted.
    """
    if endpoint.retired_at:
        # Resumed and imported runs come here too: a retired endpoint is not called until it is
        # restored.
        text = (
            f"The endpoint {endpoint} is retired and is not called. Restore it on its page first."
        )
        raise EndpointError(ErrorKind.FORBIDDEN_ADDRESS, text)
    try:
        check_address(endpoint.base_url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
        key, headers = endpoint.api_key, endpoint.headers
    except ForbiddenAddressError as error:
        raise EndpointError(ErrorKind.FORBIDDEN_ADDRESS, str(error)) from None
    except SealError as error:
        raise EndpointError(ErrorKind.KEY, str(error)) from None
    return Client(
        endpoint.base_url,
        key,
        timeout=timeout,
        api_version=endpoint.api_version,
        headers=headers,
        allow_private=settings.ALLOW_PRIVATE_ENDPOINTS,
        reply_limit=settings.REPLY_LIMIT_BYTES,
        file_limit=settings.BATCH_LIMIT_BYTES,
    )


def ask_model(endpoint: Endpoint, request: ChatRequest, *, timeout: float) -> Answer:
    """Return a model's answer to one request outside runs, after a few attempts.

    Raises:
        EndpointError: it does not answer, or must not be called.
    """
    client = client_for(endpoint, timeout=timeout)
    learned = known_fit(endpoint, request.model, request.options)

    async def ask() -> Answer:
        async with client:
            policy = RetryPolicy(attempts=4, longest_wait=10)
            return await ask_until_answered(client.chat, request, policy=policy, learned=learned)

    return ask_within_patience(ask(), endpoint.base_url)
