"""The docs are part of the site, at /docs/; where they were not built, a page says how."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture
def site(tmp_path: Path, settings: Any) -> Path:
    """A site of two pages with a picture."""
    settings.DOCS_SITE = tmp_path / "site"
    (tmp_path / "site" / "method").mkdir(parents=True)
    (tmp_path / "site" / "index.html").write_text("<h1>Start</h1>")
    (tmp_path / "site" / "method" / "index.html").write_text("<h1>Method</h1>")
    (tmp_path / "site" / "picture.png").write_bytes(b"png")
    (tmp_path / "secret.txt").write_text("secret")
    return tmp_path / "site"


def body(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.getvalue().decode()


@pytest.mark.usefixtures("site")
def test_pages_and_files_are_served_to_visitors(client: Client) -> None:
    assert body(client, "/docs/") == "<h1>Start</h1>"
    assert body(client, "/docs/method/") == "<h1>Method</h1>"
    assert client.get("/docs/picture.png")["Content-Type"] == "image/png"
    assert client.get("/docs/method")["Location"] == "/docs/method/"
    assert "script-src 'self'" in client.get("/docs/")["Content-Security-Policy"]


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "address",
    ["/docs/nothing/", "/docs/../secret.txt", "/docs/%2e%2e/secret.txt", "/docs//etc/x.y"],
)
def test_nothing_else_is(client: Client, address: str) -> None:
    assert client.get(address).status_code in {400, 404}
    assert client.post("/docs/").status_code == 405


def test_without_them_every_address_leads_to_how_they_are_built(
    client: Client, tmp_path: Path, settings: Any
) -> None:
    settings.DOCS_SITE = tmp_path / "missing"

    page = client.get("/docs/method/", follow=True)

    assert page.redirect_chain == [("/docs/", 302)]
    assert "make docs" in page.content.decode()
