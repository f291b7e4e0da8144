"""A small OpenID Connect provider of our own, and a site that signs people in through it."""

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
from jwt.algorithms import RSAAlgorithm

from tests.conftest import CHECKOUT
from tests.processes import SiteProcess

CLIENT, SECRET = "geval", "the-client-secret"


class Provider:
    """An OpenID Connect provider that lets everybody in as `who`, by the code flow with PKCE.

    `claims` replaces `who` in the token; `lacking` is left out of what says where its pages are.
    """

    def __init__(self) -> None:
        self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.lacking = ""
        self.claims: dict[str, Any] | None = None
        self.who: Any = {
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

    def _content(self, path: str, fields: dict[str, list[str]]) -> Any:
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
                **(self.who if self.claims is None else self.claims),
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
        configuration = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            **{f"{name}_endpoint": f"{self.url}/{page}" for name, page in names.items()},
        }
        return {name: at for name, at in configuration.items() if name != self.lacking}


def oidc(provider: Provider) -> dict[str, str]:
    """Return the settings of a site that knows the provider."""
    return {
        "GEVAL_OIDC_URL": provider.url,
        "GEVAL_OIDC_CLIENT": CLIENT,
        "GEVAL_OIDC_SECRET": SECRET,
        "GEVAL_OIDC_NAME": "Example ID",
    }


@pytest.fixture
def provider() -> Iterator[Provider]:
    running = Provider()
    yield running
    running.server.shutdown()


@pytest.fixture
def address(database_url: str, provider: Provider) -> Iterator[str]:
    """A site that knows the provider; its tables are made, as `migrate` does where it is switched
    on."""
    settings = oidc(provider)
    environment = {**os.environ, "DATABASE_URL": database_url, **settings}
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "-v0"], cwd=CHECKOUT, env=environment, check=True
    )
    served = SiteProcess(database_url, threads=2, **settings)
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
