"""Accounts: the endpoints that reach one server with one key, in any project.

A server grants its limits per key, or to all callers without a key together. What is learned of
these limits therefore belongs to the account. Two keys at one host are two accounts, as are two
names of one host.
"""

import os
from urllib.parse import urlsplit

from evaluations.models import Endpoint
from evaluations.models.sealing import SealError, keyed_digest
from geval.llm.responses import without_route

_USUAL_PORTS = {"http": 80, "https": 443}


def read_account(endpoint: Endpoint) -> str:
    """Compute the account of an endpoint and store it in its row, for processes without its key,
    such as those that show pages.

    Call this where the endpoint is called, because only workers may have the variable with its key.

    Raises:
        SealError: its key cannot be read.
    """
    account = _account_with(endpoint, endpoint.api_key)
    if endpoint.account != account:
        endpoint.account = account
        # Do not overwrite a concurrent edit, which has a different account.
        as_read = Endpoint.objects.filter(
            pk=endpoint.pk,
            base_url=endpoint.base_url,
            api_version=endpoint.api_version,
            key_env=endpoint.key_env,
            sealed_key=endpoint.sealed_key,
            sealed_headers=endpoint.sealed_headers,
        )
        as_read.update(account=account)
    return account


def warn_of_key(endpoint: Endpoint | None) -> str:
    """Return a warning that the variable with an endpoint's key is not set, and where to set it;
    empty if it is set.

    Workers make the calls, so what a worker last read takes precedence over this process's
    environment, which may have no keys.
    """
    if endpoint is None or not endpoint.key_env or os.environ.get(endpoint.key_env):
        return ""
    name = endpoint.key_env
    try:
        without_key = _account_with(endpoint, "")
    except SealError as error:
        return str(error)
    if endpoint.account not in ("", without_key):
        return ""
    if endpoint.account:
        where = f"{name} is not set where the workers run, so {endpoint} is called without a key."
    else:
        where = f"{name} is not set here, and no worker has read it yet."
    return (
        f"{where} Set {name} in the environment of the workers, and of the web server if you want"
        " it checked here, and restart them."
    )


def _account_with(endpoint: Endpoint, key: str) -> str:
    """Return the account of an endpoint with this key; its headers may name another customer."""
    secrets = [key, *(f"{name}: {value}" for name, value in sorted(endpoint.headers.items()))]
    return account_of(endpoint.base_url, endpoint.api_version, "\n".join(secrets))


def account_of(base_url: str, api_version: str, key: str) -> str:
    """Return a digest of an address and a key: 64 hexadecimal digits that reveal neither."""
    return keyed_digest("accounts", "\n".join((normalised(base_url), api_version, key)))


def normalised(base_url: str) -> str:
    """Normalise an address: ignore the case of the host, the default port, a trailing slash and the
    route of the Responses API."""
    parts = urlsplit(without_route(base_url.strip()))
    host = (parts.hostname or "").rstrip(".")
    user = parts.netloc.rpartition("@")[0]
    port = parts.port or _USUAL_PORTS.get(parts.scheme)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{user}@{host}:{port}{parts.path.rstrip('/')}{query}"
