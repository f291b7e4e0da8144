"""A query parameter that an address does not read is refused, by every page and every export."""

import re
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from evaluations.models import Project
from evaluations.web.parameters import ANY

pytestmark = pytest.mark.django_db


def patterns(resolver: URLResolver, start: str = "/") -> Iterator[tuple[str, URLPattern]]:
    for part in resolver.url_patterns:
        if isinstance(part, URLResolver):
            if part.app_name in ("", "evaluations", "annotations"):
                yield from patterns(part, start + str(part.pattern))
        elif resolver.app_name:
            yield start + str(part.pattern), part


PAGES = [
    re.sub(r"<[^>]+>", "1", address.replace("<slug:slug>", "small"))
    for address, part in patterns(get_resolver())
    if "<slug:address>" not in address and ANY not in getattr(part.callback, "reads", ())
]


def test_no_page_ignores_a_parameter(owner: User, small_project: Project, client: Client) -> None:
    client.force_login(owner)
    ignored = []
    for address in PAGES:
        refused = client.get(f"{address}?nobody_reads_this=1")
        if refused.status_code != 400 or b"is no parameter here" not in refused.content:
            ignored.append((address, refused.status_code))

    assert ignored == []
    assert len(PAGES) > 100


def test_the_nearest_parameter_is_named(
    owner: User, small_project: Project, client: Client
) -> None:
    client.force_login(owner)

    refused = client.get("/p/small/annotate/export/answers.csv?pseudonym=true")

    assert "Did you mean pseudonyms?" in refused.content.decode()


def test_panels_add_parameters_to_open_links(client: Client) -> None:
    query = urlencode({"PROLIFIC_PID": "x", "campaign": "of the panel"})

    assert client.get(f"/c/nowhere?{query}").status_code == 404
