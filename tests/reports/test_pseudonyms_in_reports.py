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
from tests.reports.test_kept_reports import compute

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


def names_in(text: str) -> list[str]:
    return [name for name in NAMES if name in text]


@pytest.mark.parametrize("ending", BY_ENDING)
def test_a_report_with_pseudonyms_names_nobody(
    rated: Project, owner: User, client: Client, ending: str
) -> None:
    client.force_login(owner)
    address = f"/p/{rated.slug}/report/export/{ending}/"

    shown = client.get(address).content.decode()

    plain = client.get(f"{address}?pseudonyms=false").content.decode()
    assert names_in(shown) == []
    for number, name in enumerate(NAMES, start=1):
        plain = plain.replace(name, f"annotator {number}")
    assert shown == plain


@pytest.mark.parametrize("in_page", [1_000_000, 0], ids=["small project", "large project"])
def test_what_leaves_the_team_has_pseudonyms(
    rated: Project, owner: User, client: Client, settings: Any, in_page: int
) -> None:
    settings.REPORT_IN_PAGE_NUMBERS = in_page
    client.force_login(owner)
    secret, digest = new_token()
    ShareLink.objects.create(project=rated, digest=digest, made_by=owner)
    on, by = rated.criteria.get().pk, rated.judges.get().pk
    report, shared = f"/p/{rated.slug}/report/", f"/shared/{secret}/"
    api, names = f"/api/v1/projects/{rated.slug}/report", "?pseudonyms=false"
    client.get(report)
    compute()
    client.post(f"{report}snapshots/new/", {"query": "", "note": ""})
    frozen = rated.snapshots.get()

    pages = ["", "numbers/", "paper/", "live/?part=more", f"drawing/matrix/{on}/{by}/svg/",
             f"cell/{on}/{by}/", "export/json/", f"export/json/{names}"]  # fmt: skip
    shown = {page: client.get(shared + page).content.decode() for page in pages}

    assert names_in("".join(shown.values()) + frozen.content + frozen.page) == []
    for page in ["", "numbers/", f"drawing/matrix/{on}/{by}/svg/", "export/json/"]:
        assert "annotator 3" in shown[page], page
    assert "annotator 3" in frozen.page
    assert "the ratings of annotator 1" in shown["live/?part=more"]
    assert client.get(api).content.decode() == frozen.content
    assert names_in(client.get(api + names).content.decode()) == [*NAMES]
    drawing = f"{report}drawing/matrix/{on}/{by}/svg/"
    assert names_in(client.get(drawing).content.decode()) == []
    assert names_in(client.get(drawing + names).content.decode()) == [*NAMES]
    assert names_in(client.get(f"{report}numbers/").content.decode()) == [*NAMES]
