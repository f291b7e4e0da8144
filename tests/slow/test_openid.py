"""Signing in through an OpenID Connect provider: a real site, a real browser, and a small provider
of our own."""

import base64
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from jwt.algorithms import RSAAlgorithm
from playwright.sync_api import Browser, BrowserContext, expect

from evaluations.models import Membership, Project
from tests.browser.conftest import browser
from tests.conftest import CHECKOUT
from tests.processes import SiteProcess

__all__ = ["browser"]  # a fixture
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.browser, pytest.mark.processes]
CLIENT, SECRET = "geval", "the-client-secret"


class Provider:
    """An OpenID Connect provider that lets everybody in as `who`, by the code flow with PKCE."""

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.who: dict[str, Any] = {
            "sub": "17",
            "preferred_username": "grace",
            "email": "grace@example.org",
        }
        self.asked: dict[str, str] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self, urlsplit(self.path).path, parse_qs(urlsplit(self.path).query))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                provider.answer(self, self.path, parse_qs(body))

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(
        self, handler: BaseHTTPRequestHandler, path: str, fields: dict[str, list[str]]
    ) -> None:
        if path == "/authorize":
            self.asked = {name: values[0] for name, values in fields.items()}
            back = urlencode({"code": "the-code", "state": self.asked["state"]})
            handler.send_response(302)
            handler.send_header("Location", f"{self.asked['redirect_uri']}?{back}")
            handler.end_headers()
            return
        content = json.dumps(self._content(path, fields)).encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        handler.wfile.write(content)

    def _content(self, path: str, fields: dict[str, list[str]]) -> dict[str, Any]:
        if path == "/token":
            verifier = hashlib.sha256(fields["code_verifier"][0].encode()).digest()
            assert (
                base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
                == self.asked["code_challenge"]
            )
            claims = {
                "iss": self.url,
                "aud": CLIENT,
                "iat": time.time(),
                "exp": time.time() + 60,
                **self.who,
            }
            token = jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": "1"})
            return {"access_token": "a", "token_type": "Bearer", "id_token": token}
        if path == "/jwks":
            return {
                "keys": [
                    json.loads(RSAAlgorithm.to_jwk(self.key.public_key()))
                    | {
                        "kid": "1",
                        "alg": "RS256",
                    }
                ]
            }
        if path == "/userinfo":
            return self.who
        names = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            **{f"{name}_endpoint": f"{self.url}/{page}" for name, page in names.items()},
        }


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context()
    made.set_default_timeout(20_000)
    yield made
    made.close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    running = Provider()
    yield running
    running.server.shutdown()


@pytest.fixture
def address(database_url: str, provider: Provider) -> Iterator[str]:
    """A site that knows the provider; its tables are made, as `migrate` does where it is switched
    on."""
    known = {
        "GEVAL_OIDC_URL": provider.url,
        "GEVAL_OIDC_CLIENT": CLIENT,
        "GEVAL_OIDC_SECRET": SECRET,
        "GEVAL_OIDC_NAME": "Example ID",
    }
    environment = {**os.environ, "DATABASE_URL": database_url, **known}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"], cwd=CHECKOUT, env=environment, check=True
    )
    served = SiteProcess(database_url, threads=2, **known)
    yield served.address
    served.stop()
    # Django's own cleaning knows nothing of these tables, which this site's settings do not have.
    from django.db import connection

    with connection.cursor() as cursor:
        for table in ("socialaccount_socialtoken", "socialaccount_socialaccount",
            "socialaccount_socialapp_sites",
                      "socialaccount_socialapp", "account_emailconfirmation",
                      "account_emailaddress"):  # fmt: skip
            cursor.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
        cursor.execute("DELETE FROM django_migrations WHERE app IN ('account', 'socialaccount')")


def test_who_the_provider_knows_gets_an_account_and_sees_what_they_are_invited_to(
    context: BrowserContext, address: str, provider: Provider, owner: User, project: Project
) -> None:
    page = context.new_page()
    page.goto(f"{address}/p/small/")
    page.get_by_role("button", name="Sign in with Example ID").click()
    expect(page.get_by_text("grace", exact=True)).to_be_visible()
    assert User.objects.get(username="grace").has_usable_password() is False
    assert page.get_by_role("heading").first.text_content() != "Small"  # a stranger: not found

    Membership.objects.create(
        project=project, user=User.objects.get(username="grace"), role="viewer"
    )
    page.goto(f"{address}/p/small/")
    expect(page.get_by_role("heading", name="Small")).to_be_visible()
    page.get_by_role("button", name="Account").click()
    page.get_by_role("button", name="Sign out").click()

    # The same name from another account of the provider is another person; a local name is not
    # taken over.
    provider.who = {
        "sub": "18",
        "preferred_username": owner.username,
        "email": owner.email or "o@example.org",
    }
    page.goto(f"{address}/sign-in/")
    page.get_by_role("button", name="Sign in with Example ID").click()
    expect(page.get_by_role("button", name="Account")).to_be_visible()
    page.goto(f"{address}/p/small/")
    expect(page.get_by_role("heading", name="Small")).to_be_hidden()


def test_a_provider_that_refuses_is_reported_on_a_page_of_ours(
    context: BrowserContext, address: str, provider: Provider
) -> None:
    page = context.new_page()
    page.goto(f"{address}/sign-in/with/oidc/login/callback/?error=access_denied&state=x")

    assert not User.objects.exists()
    expect(page.locator("header.top")).to_be_visible()
