"""Which addresses an endpoint may have: a base URL typed by a user must not reach what only our servers can reach."""

import ipaddress
import socket
from urllib.parse import urlsplit

# Cloud metadata services that are not link-local: Azure's wire server, Alibaba's, and AWS's on IPv6.
_METADATA = frozenset(
    ipaddress.ip_address(text) for text in ("168.63.129.16", "100.100.100.200", "fd00:ec2::254", "192.0.0.192")
)
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata", "instance-data"})


class ForbiddenAddressError(ValueError):
    """A base URL that must not be called; the message says why and what would help."""


def check_address(base_url: str, *, allow_private: bool) -> None:
    """Refuse a base URL whose host is, or resolves to, an address that must not be called.

    Args:
        allow_private: whether loopback and private networks are fine, as on a machine of one's own.

    A host that does not resolve is no fault here: the call itself will say so.

    Raises:
        ForbiddenAddressError: not http(s), a metadata service, link-local, or private where that is not allowed.
    """
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ForbiddenAddressError(f"{base_url!r} is not an address like https://api.example.com/v1.")
    if parts.username or parts.password:
        raise ForbiddenAddressError("Leave name and password out of the base URL; give the key as the key.")
    if parts.hostname.lower().rstrip(".") in _METADATA_NAMES:
        raise ForbiddenAddressError(_metadata(parts.hostname))
    for address in _addresses(parts.hostname):
        if address.is_link_local or address in _METADATA:
            raise ForbiddenAddressError(_metadata(parts.hostname))
        if not address.is_global and not allow_private:
            raise ForbiddenAddressError(
                f"{parts.hostname} is in a private network ({address}), which this site does not call. "
                "Its administrator can allow that with GEVAL_ALLOW_PRIVATE_ENDPOINTS=1."
            )
        if address.is_multicast or address.is_unspecified:
            raise ForbiddenAddressError(f"{parts.hostname} ({address}) is no server's address.")


def _metadata(host: str) -> str:
    return f"{host} is the metadata service of a cloud, never an endpoint. Enter the address of an LLM server."


def _addresses(host: str) -> list[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    addresses = []
    for *_rest, sockaddr in found:
        address = ipaddress.ip_address(str(sockaddr[0]).split("%")[0])
        mapped = getattr(address, "ipv4_mapped", None)
        addresses.append(mapped or address)
    return addresses
