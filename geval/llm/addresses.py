"""Decide which addresses this site may call, so that no user can make it reach internal servers.

An address is checked twice. `check_address` looks at a URL when it is saved and before it is used,
so that the user sees what is wrong with it. `check_ip` looks at each IP address just before a
connection is made (see network.py); only that protects against a name server that gives a different
answer the second time (DNS rebinding).
"""

import ipaddress
import re
import socket
import urllib.request

from yarl import URL

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Cloud metadata services that are not link-local: Azure's wire server, Alibaba's, AWS's and
# Google's on IPv6, Oracle's.
_METADATA = frozenset(
    ipaddress.ip_address(text)
    for text in ("168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254", "192.0.0.192")
)
_BROADCAST = ipaddress.ip_address("255.255.255.255")
# Not for servers, though this Python calls them global: 6to4 relays (RFC 7526), segment routing
# (RFC 9602).
_RESERVED = tuple(map(ipaddress.ip_network, ("192.88.99.0/24", "5f00::/16")))
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata", "instance-data"})
# IPv6 networks whose addresses carry an IPv4 address that a gateway connects to, and its bytes.
_LAST = (12, 13, 14, 15)
_CARRIES_IPV4 = (
    (ipaddress.ip_network("::/96"), _LAST),  # IPv4-compatible (RFC 4291)
    (ipaddress.ip_network("::ffff:0:0:0/96"), _LAST),  # translated (RFC 7915)
    (ipaddress.ip_network("64:ff9b::/96"), _LAST),  # NAT64 (RFC 6052)
    # NAT64 for local use (RFC 8215), whose prefix may have 48, 56, 64 or 96 bits (RFC 6052, 2.2).
    *(
        (ipaddress.ip_network("64:ff9b:1::/48"), places)
        for places in ((6, 7, 9, 10), (7, 9, 10, 11), (9, 10, 11, 12), _LAST)
    ),
    (ipaddress.ip_network("2002::/16"), (2, 3, 4, 5)),  # 6to4 (RFC 3056)
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.I)
# RFC 1035: 255 bytes with their lengths, which are 253 characters of text.
LONGEST_HOST = 253


class ForbiddenAddressError(ValueError):
    """An address must not be called; the message says why and what to do."""


def check_address(base_url: str, *, allow_private: bool) -> None:
    """Refuse an invalid URL, or a host that is or resolves to an address that must not be called.

    Args:
        allow_private: whether loopback and private networks are allowed, as on a developer's
            machine. A host that does not resolve is then allowed as well: the call itself will
            report it.

    Raises:
        ForbiddenAddressError: the URL is not http(s) or has no valid host, or the address is a
            metadata service, link-local, or private where that is not allowed.
    """
    url = _parsed(base_url)
    host = url.raw_host or ""
    if host.lower().rstrip(".") in _METADATA_NAMES:
        raise ForbiddenAddressError(_metadata(host))
    addresses = resolved(host)
    if not addresses and not allow_private and not proxy_for(url):
        raise ForbiddenAddressError(
            f"{host} does not resolve to an address. Check its spelling; this site calls only hosts"
            " whose address it can check."
        )
    for address in addresses:
        check_ip(address, host=host, allow_private=allow_private)


def likely_addresses(base_url: str) -> list[str]:
    """Return base URLs that the user may have meant by one that does not work: on the same server,
    with the paths that are usual.

    Raises:
        ForbiddenAddressError: it is not a URL.
    """
    url = _parsed(base_url)
    path = url.path.rstrip("/")
    for ending in ("/chat/completions", "/completions", "/responses", "/models", "/chat"):
        path = path.removesuffix(ending)
    paths = dict.fromkeys([path, f"{path}/v1", "/v1", "/api/v1", "/openai/v1"])
    addresses = [str(url.origin().with_path(part)).rstrip("/") for part in paths if part.strip("/")]
    return [address for address in addresses if address != base_url.rstrip("/")]


def check_ip(address: IPAddress, *, host: str, allow_private: bool) -> None:
    """Refuse an IP address that must not be connected to; messages name it as `host`.

    Raises:
        ForbiddenAddressError: see `check_address`.
    """
    for ip in _with_carried(address):
        if ip.is_link_local or ip in _METADATA:
            raise ForbiddenAddressError(_metadata(host))
        if ip.is_multicast or ip.is_unspecified or ip == _BROADCAST:
            raise ForbiddenAddressError(f"{host} ({address}) is not the address of a server.")
        # Site-local addresses (fec0::/10) are private too, though deprecated and not on Python's
        # list.
        is_private = (
            not ip.is_global
            or getattr(ip, "is_site_local", False)
            or any(ip in network for network in _RESERVED if network.version == ip.version)
        )
        if is_private and not allow_private:
            raise ForbiddenAddressError(
                f"{host} is in a private network ({address}), which this site does not call. "
                "Its administrator can allow that with GEVAL_ALLOW_PRIVATE_ENDPOINTS=1."
            )


def resolved(host: str) -> list[IPAddress]:
    """Return the IP addresses to which the system resolves a host; none if it does not resolve."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [ip_of(str(sockaddr[0])) for *_rest, sockaddr in addresses]


def ip_of(text: str) -> IPAddress:
    """Parse an IP address as a socket reports it, without a scope such as %eth0."""
    return ipaddress.ip_address(text.split("%", maxsplit=1)[0])


def proxy_for(url: URL) -> str | None:
    """Return the proxy for a URL in the operator's environment (HTTPS_PROXY, NO_PROXY), if any.

    A proxy resolves host names itself, so it must also refuse private addresses itself.
    """
    if urllib.request.proxy_bypass_environment(url.raw_host or ""):  # type: ignore[attr-defined]
        return None
    return urllib.request.getproxies_environment().get(url.scheme)


def _parsed(base_url: str) -> URL:
    """Parse a URL with an http(s) scheme, a host that can be encoded and a valid port.

    Raises:
        ForbiddenAddressError: one of these is missing, or the URL contains a password or a query.
    """
    refused = ForbiddenAddressError(
        f"{base_url!r} is not an address like https://api.example.com/v1."
    )
    if any(character.isspace() or not character.isprintable() for character in base_url):
        raise refused
    try:
        url = URL(base_url)
        host = url.raw_host or ""
        # The client would encode in its own way what the parser leaves unchanged.
        is_host = _is_ip(host) or (
            len(host) <= LONGEST_HOST
            and all(map(_LABEL.fullmatch, host.removesuffix(".").split(".")))
        )
    except ValueError:
        raise refused from None
    if url.scheme not in ("http", "https") or not is_host or url.port == 0:
        raise refused
    if "?" in base_url or "#" in base_url:
        raise ForbiddenAddressError(
            "Leave out what follows a ? or # in the base URL; it ends in /v1 on most servers."
        )
    if url.user is not None or url.password is not None:
        raise ForbiddenAddressError(
            "Leave name and password out of the base URL; give the key as the key."
        )
    return url


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _with_carried(address: IPAddress) -> list[IPAddress]:
    """Return the address and the IPv4 addresses in it, to which a gateway would connect."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    carried: list[IPAddress] = [address, *(address.teredo or ())]
    if address.is_loopback or address.is_unspecified:
        return carried
    return carried + [
        ipaddress.IPv4Address(bytes(address.packed[place] for place in places))
        for network, places in _CARRIES_IPV4
        if address in network
    ]


def _metadata(host: str) -> str:
    return (
        f"{host} is the metadata service of a cloud, which this site never calls. Enter the address"
        " of your server."
    )
