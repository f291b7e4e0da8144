"""Accounts: the endpoints that reach one server with one key, of whichever projects.

What a server allows it allows to a key, and to all who come without one. So what is learned of its
limits belongs to the account. Two keys at one host are two accounts, as are two names of one host.
"""

import os
from urllib.parse import urlsplit

from evaluations.models import Endpoint
from evaluations.models.sealing import keyed_digest
from geval.llm.responses import without_route

_USUAL_PORTS = {"http": 80, "https": 443}


def read_account(endpoint: Endpoint) -> str:
    """The account of an endpoint, read anew and kept in its row for processes that do not have its
    key, such as those that show pages.

    Called where the endpoint is called, as only workers may have the variable with its key.

    Raises:
        SealError: its key cannot be read.
    """
    account = account_of(endpoint.base_url, endpoint.api_version, endpoint.api_key)
    if endpoint.account != account:
        endpoint.account = account
        # Not over an edit of this moment, whose account is another one.
        as_read = Endpoint.objects.filter(
            pk=endpoint.pk,
            base_url=endpoint.base_url,
            api_version=endpoint.api_version,
            key_env=endpoint.key_env,
            sealed_key=endpoint.sealed_key,
        )
        as_read.update(account=account)
    return account


def warn_of_key(endpoint: Endpoint | None) -> str:
    """That the variable with an endpoint's key is not set, and where to set it; empty if it is.

    Workers call, so what one of them last read is believed before this process's environment,
    which need not have any keys.
    """
    if endpoint is None or not endpoint.key_env or os.environ.get(endpoint.key_env):
        return ""
    name, without_key = endpoint.key_env, account_of(endpoint.base_url, endpoint.api_version, "")
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


def account_of(base_url: str, api_version: str, key: str) -> str:
    """A digest of an address and a key, of 64 hexadecimal digits. It gives away neither."""
    return keyed_digest("accounts", "\n".join((normalised(base_url), api_version, key)))


def normalised(base_url: str) -> str:
    """An address as all ways to write it have in common: capitals of the host, the usual port, a
    slash at the end and the route of the Responses API mean nothing."""
    parts = urlsplit(without_route(base_url.strip()))
    host = (parts.hostname or "").rstrip(".")
    user = parts.netloc.rpartition("@")[0]
    port = parts.port or _USUAL_PORTS.get(parts.scheme)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{user}@{host}:{port}{parts.path.rstrip('/')}{query}"
