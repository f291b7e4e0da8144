"""Base URLs that must not be called are refused, with the reason."""

import pytest

from geval.llm.addresses import ForbiddenAddressError, check_address


@pytest.mark.parametrize("allow_private", [True, False])
@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest",
        "http://[fe80::1]/v1",
        "http://metadata.google.internal/v1",
        "http://100.100.100.200/v1",
        "http://168.63.129.16/v1",
        "http://[::ffff:169.254.169.254]/v1",
        "http://2852039166/v1",  # 169.254.169.254 as one number
        "http://0xa9fea9fe/v1",
    ],
)
def test_metadata_services_are_never_called(url: str, *, allow_private: bool) -> None:
    with pytest.raises(ForbiddenAddressError, match="metadata service"):
        check_address(url, allow_private=allow_private)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8000/v1", "http://10.1.2.3/v1", "http://[::1]/v1", "http://localhost/v1"],
)
def test_private_networks_are_called_where_that_is_allowed(url: str) -> None:
    check_address(url, allow_private=True)
    with pytest.raises(ForbiddenAddressError, match="GEVAL_ALLOW_PRIVATE_ENDPOINTS"):
        check_address(url, allow_private=False)


@pytest.mark.parametrize(
    "url", ["ftp://x/v1", "file:///etc/passwd", "api.example.com", "http://", "javascript:1"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ForbiddenAddressError, match="is not an address like"):
        check_address(url, allow_private=True)


def test_a_key_does_not_belong_into_the_address() -> None:
    with pytest.raises(ForbiddenAddressError, match="name and password"):
        check_address("https://user:secret@example.com/v1", allow_private=True)


@pytest.mark.parametrize("url", ["https://example.com/v1?key=1", "https://example.com/v1#chat"])
def test_a_base_url_has_no_query(url: str) -> None:
    with pytest.raises(ForbiddenAddressError, match="Leave out what follows"):
        check_address(url, allow_private=True)


def test_public_addresses_are_fine() -> None:
    check_address("https://93.184.216.34/v1", allow_private=False)


def test_a_host_that_does_not_resolve_is_refused_where_its_address_must_be_known() -> None:
    with pytest.raises(ForbiddenAddressError, match="does not resolve"):
        check_address("https://no-such-host.invalid/v1", allow_private=False)
    check_address("https://no-such-host.invalid/v1", allow_private=True)
