"""Pages of django-allauth: those that signing in needs are open, all others closed, and a provider
that answers otherwise than OpenID Connect asks is an error with words."""

import json
import os
import subprocess
import sys

import httpx2
import pytest

from tests.conftest import CHECKOUT
from tests.openid_provider import Provider, address, oidc, provider

__all__ = ["address", "provider"]  # fixtures
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
# Each with its answer to a visitor who has nothing to do there.
OPEN = {
    "login/": (302, "/sign-in/"),
    "inactive/": (200, ""),
    "3rdparty/signup/": (302, "/sign-in/with/login/"),
    "3rdparty/login/cancelled/": (200, ""),
    "oidc/login/": (200, ""),
    "oidc/login/callback/": (401, ""),
}
WALK = """
import json, re, django
django.setup()
from django.urls import URLPattern, get_resolver
def pages(patterns, before=""):
    for each in patterns:
        at = before + re.sub(r"^\\^|\\$$", "", str(each.pattern))
        yield from [at] if isinstance(each, URLPattern) else pages(each.url_patterns, at)
import allauth.urls, allauth.account.urls, allauth.socialaccount.urls
print(json.dumps(list(pages(allauth.urls.urlpatterns))))
"""


def pages_of_allauth(provider: Provider) -> list[str]:
    environment = {**os.environ, **oidc(provider), "DJANGO_SETTINGS_MODULE": "geval_site.settings"}
    walk = subprocess.run(
        [sys.executable, "-c", WALK], cwd=CHECKOUT, env=environment, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return [page.replace("oidc/(?P<provider_id>[^/]+)", "oidc") for page in json.loads(walk.stdout)]


def sign_in(address: str, **fields: str) -> httpx2.Response:
    with httpx2.Client(base_url=address, follow_redirects=True) as browser:
        browser.get("/sign-in/with/oidc/login/")
        data = {"csrfmiddlewaretoken": browser.cookies["csrftoken"], **fields}
        return browser.post("/sign-in/with/oidc/login/", data=data, headers={"Referer": address})


def test_pages_that_signing_in_does_not_need_are_closed(address: str, provider: Provider) -> None:
    pages = pages_of_allauth(provider)
    answers = {page: httpx2.get(f"{address}/sign-in/with/{page}") for page in pages}
    others = ("other/login/", "other/login/callback/", "oidc/login/?process=connect", "")

    assert len(pages) > len(OPEN) <= len(OPEN.keys() & answers.keys())
    for page, answer in answers.items():
        expected = OPEN.get(page, (404, ""))
        assert (answer.status_code, answer.headers.get("location", "")) == expected, page
    assert {httpx2.get(f"{address}/sign-in/with/{at}").status_code for at in others} == {404}
    refused = sign_in(address, process="connect")
    assert (refused.status_code, refused.history) == (404, [])
