"""From an endpoint's record to a client: the address is checked and the key is opened here, each
time."""

from django.conf import settings

from evaluations.llm.addresses import ForbiddenAddressError, check_address
from evaluations.llm.endpoints import Client, EndpointError, ErrorKind
from evaluations.models import Endpoint
from geval_site.sealing import SealError


def client_for(endpoint: Endpoint, *, timeout: float) -> Client:
    """A client of an endpoint; to be used in an `async with`.

    Raises:
        EndpointError: it is retired, its address must not be called, or its key cannot be opened.
    """
    if endpoint.retired_at:
        # Also runs that were resumed, or came with an archive: retired is how an endpoint waits for
        # somebody's leave.
        text = (
            f"The endpoint {endpoint} is retired, so it is not asked. Bring it back on its page"
            " first."
        )
        raise EndpointError(ErrorKind.FORBIDDEN_ADDRESS, text)
    try:
        check_address(endpoint.base_url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
        key = endpoint.api_key
    except ForbiddenAddressError as error:
        raise EndpointError(ErrorKind.FORBIDDEN_ADDRESS, str(error)) from None
    except SealError as error:
        raise EndpointError(ErrorKind.KEY, str(error)) from None
    return Client(
        endpoint.base_url,
        key,
        timeout=timeout,
        api_version=endpoint.api_version,
        allow_private=settings.ALLOW_PRIVATE_ENDPOINTS,
        reply_limit=settings.REPLY_LIMIT_BYTES,
        file_limit=settings.BATCH_LIMIT_BYTES,
    )
