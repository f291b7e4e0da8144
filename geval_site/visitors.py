"""Find the address of a request's sender behind the configured number of our own proxies."""

import ipaddress
from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest

UNKNOWN = "0.0.0.0"  # noqa: S104 (a placeholder for an invalid address, not one to listen at)


def client_address(request: HttpRequest) -> str:
    """The visitor's address, used for limits, lockouts and the audit log."""
    return address_behind(request.META, proxies=settings.PROXIES)


def lockout_address(request: HttpRequest) -> str:
    """The address for counting wrong passwords: one for a whole IPv6 network."""
    return counted_address(client_address(request)).removesuffix("/64")


def address_behind(meta: Mapping[str, str], *, proxies: int) -> str:
    """The address that called the outermost of our proxies.

    Each proxy appends its caller to the right of `X-Forwarded-For`. Hence our proxies wrote the
    last `proxies` entries, and the visitor can have sent anything to the left of them.

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
        return direct  # it did not come through all of them, so its headers cannot be trusted
    return _address(forwarded[-proxies]) or direct


def counted_address(address: str) -> str:
    """The unit for counting: a whole /64 network for IPv6, which has too many single addresses."""
    parsed = ipaddress.ip_address(address)
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((parsed, 64), strict=False).network_address) + "/64"
    return address


def _address(text: str) -> str:
    """An address in its usual form, without a port; empty if it is not an address."""
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
