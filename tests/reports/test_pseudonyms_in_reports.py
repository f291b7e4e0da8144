"""Reports that are published name no annotator."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from evaluations.models import Project, ShareLink
from evaluations.models.tokens import new_token
from geval.reports.downloads.formats import BY_ENDING

pytestmark = pytest.mark.django_db
NAMES = ("annaname", "bobname", "carelessname")


@pytest.fixture
def rated(project: Project, load: Callable[..., Any]) -> Project:
    """Two people who agree, one who does not, and a judge."""
    chance = random.Random(1)
    ratings, scores = [], []
    for document in range(40):
        for system in range(4):
            true = (document * 3 + system * 2) % 5 + 1
            points = (true, min(5, true + chance.randint(0, 1)), chance.randint(1, 5))
            about = {"doc_id": f"d{document}", "system_id": f"s{system}", "criterion": "quality"}
            ratings += [about | {"annotator": name, "score": point}
                        for name, point in zip(NAMES, points, strict=True)]  # fmt: skip
            scores.append(about | {"judge": "gpt", "score": true})
    outputs = [{"doc_id": f"d{d}", "system_id": f"s{s}", "source": f"text {d}", "output": f"o {s}"}
               for d in range(40) for s in range(4)]  # fmt: skip
    files = {"o.jsonl": outputs, "r.jsonl": ratings, "s.jsonl": scores}
    load(project, {name: "\n".join(map(json.dumps, rows)) for name, rows in files.items()})
    return project


@pytest.mark.parametrize("ending", BY_ENDING)
def test_a_report_with_pseudonyms_names_nobody(
    rated: Project, owner: User, client: Client, ending: str
) -> None:
    client.force_login(owner)
    address = f"/p/{rated.slug}/report/export/{ending}/"

    shown = client.get(f"{address}?pseudonyms").content.decode()

    plain = client.get(address).content.decode()
    assert [name for name in NAMES if name in shown] == []
    for number, name in enumerate(NAMES, start=1):
        plain = plain.replace(name, f"annotator {number}")
    assert shown.strip() == plain.strip()


def test_who_has_a_shared_link_gets_no_names(rated: Project, owner: User, client: Client) -> None:
    secret, digest = new_token()
    ShareLink.objects.create(project=rated, digest=digest, made_by=owner)
    address = f"/shared/{secret}/export/json/"

    for query in ("", "?pseudonyms=false"):
        shown = client.get(address + query).content.decode()
        assert '"annotator 3"' in shown
        assert [name for name in NAMES if name in shown] == []
