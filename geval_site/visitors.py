"""The address that a request comes from, behind as many proxies of our own as the site is told
of."""

import ipaddress
from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "0.0.0.0"  # noqa: S104 (what is said of an address that is none, not one to listen at)


def client_address(request: HttpRequest) -> str:
    """The visitor's address: what limits, lockouts and the audit log go by."""
    return address_behind(request.META, proxies=settings.PROXIES)


def lockout_address(request: HttpRequest) -> str:
    """What wrong passwords are counted by, as an address: whoever has an IPv6 network does not get
    a count for each."""
    return counted_address(client_address(request)).removesuffix("/64")


def address_behind(meta: Mapping[str, str], *, proxies: int) -> str:
    """The address that the outermost of our proxies was called from.

    Each proxy adds, on the right of `X-Forwarded-For`, who called it. Hence the last `proxies`
    entries are ours, and everything to the left of them is what the visitor chose to send.

    Args:
        meta: as WSGI has it: REMOTE_ADDR and HTTP_X_FORWARDED_FOR.
        proxies: how many proxies of ours a request comes through. With 0 the header counts for
            nothing.
    """
    direct = _address(meta.get("REMOTE_ADDR", "")) or UNKNOWN
    if not proxies:
        return direct
    forwarded = meta.get("HTTP_X_FORWARDED_FOR", "").split(",")
    if len(forwarded) < proxies:
        return direct  # it did not come through all of them: nothing it says can be trusted
    return _address(forwarded[-proxies]) or direct


def counted_address(address: str) -> str:
    """What one household or server is counted as: an IPv6 network of /64 has more addresses than
    can be counted."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, 64), strict=False).network_address) + "/64"
    return address


def _address(text: str) -> str:
    """An address as it is usually written, without a port; empty if it is none."""
    text = text.strip().strip('"')
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return ""
    mapped = getattr(parsed, "ipv4_mapped", None)
    return str(mapped or parsed)
