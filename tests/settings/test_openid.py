"""What is missing or wrong in the settings of an OpenID Connect provider is said before anything
starts."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from geval_site.openid import openid_settings

KNOWN = {"client": "c", "secret": "s", "name": "ID", "behind_https": True}


def test_without_a_provider_nothing_changes() -> None:
    assert openid_settings("", **KNOWN) == {  # type: ignore[arg-type]
        "name": "", "origin": "", "apps": [], "middleware": [], "backends": [], "own": {},
    }  # fmt: skip


def test_with_one_its_origin_and_secret_are_where_they_belong() -> None:
    found = openid_settings("https://login.example:8443/realms/x", **KNOWN)  # type: ignore[arg-type]

    assert found["origin"] == "https://login.example:8443"
    assert found["own"]["SOCIALACCOUNT_PROVIDERS"]["openid_connect"]["APPS"][0]["secret"] == "s"
    assert found["own"]["SOCIALACCOUNT_ONLY"] is True


@pytest.mark.parametrize(
    ("url", "change", "said"),
    [
        ("login.example", {}, "write the provider's issuer"),
        ("https://login.example", {"secret": ""}, "GEVAL_OIDC_SECRET"),
        ("https://login.example", {"client": ""}, "GEVAL_OIDC_CLIENT"),
    ],
)
def test_what_is_wrong_is_said(url: str, change: dict[str, str], said: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=said):
        openid_settings(url, **(KNOWN | change))  # type: ignore[arg-type]


@pytest.mark.django_db
def test_the_sign_in_page_has_no_button_without_a_provider() -> None:
    assert "Sign in with" not in Client().get("/sign-in/").content.decode()
