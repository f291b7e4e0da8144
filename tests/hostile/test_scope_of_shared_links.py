"""A share link shows its view and nothing else: all of its addresses, with all ids and all filters,
asked by a visitor without an account."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.corpus.store import LoadResult
from evaluations.models import Project, ShareLink
from evaluations.models.tokens import digest_of
from evaluations.web.views.sharing import SENDING
from geval.reports.downloads.formats import BY_ENDING
from geval.reports.drawings.drawn import KINDS
from geval.reports.figures import FIGURES
from tests.hostile.table import record
from tests.pages.addresses import routes

pytestmark = pytest.mark.django_db
# Names that occur nowhere by chance.
NAMES = {
    "criteria": ("Zebrine", "Quokkal"),
    "judges": ("Vexillo", "Marzipan"),
    "systems": ("Plinth", "Gossamer"),
    "annotators": ("Ulrike", "Thaddeus"),
}
DOCUMENTS = ("north", "south")


@pytest.fixture
def scoped(project: Project, load: Callable[..., LoadResult]) -> Project:
    """Two of everything, over twelve documents of two kinds."""
    ratings = ["doc_id,system_id,criterion,annotator,score"]
    scores = ["doc_id,system_id,criterion,judge,score"]
    outputs = ["doc_id,system_id,source,output"]
    for number, (kind, system) in enumerate(
        itertools.product([f"{kind}{n}" for kind in DOCUMENTS for n in range(6)], NAMES["systems"])
    ):
        outputs.append(f"{kind},{system},About {kind}.,{system} wrote of {kind}.")
        for criterion in NAMES["criteria"]:
            for index, annotator in enumerate(NAMES["annotators"]):
                value = 1 + (number * 7 + index) % 5
                ratings.append(f"{kind},{system},{criterion},{annotator},{value}")
            for index, judge in enumerate(NAMES["judges"]):
                scores.append(f"{kind},{system},{criterion},{judge},{1 + (number + index) % 5}")
    load(
        project,
        {
            "outputs.csv": "\n".join(outputs),
            "ratings.csv": "\n".join(ratings),
            "scores.csv": "\n".join(scores),
        },
    )
    return project


def views(project: Project) -> Iterator[tuple[dict[str, Any], set[str]]]:
    """Each filter alone, with the words that nothing may show then."""
    for filtered, names in NAMES.items():
        for shown, hidden in (names, names[::-1]):
            pk = getattr(project, filtered).get(name__iexact=shown).pk
            yield {filtered: pk}, {hidden}
    for shown, hidden in (DOCUMENTS, DOCUMENTS[::-1]):
        yield {"documents": shown}, {hidden}


def addresses(project: Project, token: str) -> Iterator[str]:
    """Every address of a shared link, with all ids."""
    choices: dict[str, list[Any]] = {
        "criterion": list(project.criteria.values_list("pk", flat=True)),
        "judge": list(project.judges.values_list("pk", flat=True)),
        "document": list(project.documents.values_list("pk", flat=True)),
        "token": [token],
    }
    for name, taken in routes():
        if not name.startswith("evaluations:shared"):
            continue
        endings = ["svg", "tex"] if "drawing" in name else [*BY_ENDING]
        kinds = list(KINDS if "drawing" in name else FIGURES)
        own = choices | {"ending": endings, "kind": kinds}
        for values in itertools.product(*(own[argument] for argument in taken)):
            yield reverse(name, kwargs=dict(zip(taken, values, strict=True)))


def queries(project: Project) -> list[str]:
    """What a visitor may add to an address: other filters, and how parts are sent."""
    criteria, judges = (
        list(getattr(project, name).values_list("pk", flat=True)) for name in ("criteria", "judges")
    )
    every = [
        (name, pk) for name in NAMES for pk in getattr(project, name).values_list("pk", flat=True)
    ]
    filters = [
        urlencode(every),
        "documents=",
        "criteria=&judges=&systems=&annotators=&documents=",
    ]
    drawn = [
        urlencode({"drawn": criterion, "by": judge})
        for criterion, judge in itertools.product(criteria, judges)
    ]
    assert {"drawn", "by", "part", "table"} <= SENDING
    return ["", *filters, *drawn, "part=more", "table=1"]


def test_no_address_of_a_link_shows_what_its_view_leaves_out(scoped: Project) -> None:
    ends: Counter[str] = Counter()
    leaks = []
    for number, (view, hidden) in enumerate(views(scoped)):
        token = f"link-{number}"
        ShareLink.objects.create(
            project=scoped, digest=digest_of(token), query=urlencode(view), with_texts=True
        )
        visitor = Client()
        paths = list(addresses(scoped, token))
        few = [path for path in paths if path.count("/") <= 4]
        asked = [*paths, *(f"{path}?{query}" for path in few for query in queries(scoped)[1:])]
        for path in asked:
            response = visitor.get(path)
            content = b"".join(response) if response.streaming else response.content
            text = content.decode(errors="replace").casefold()
            seen = [word for word in hidden if word.casefold() in text]
            ends["lost" if seen or response.status_code >= 500 else str(response.status_code)] += 1
            if seen or response.status_code >= 500:
                leaks.append((view, path, response.status_code, seen))

    record("addresses of shared links", ends)
    assert leaks == []
    assert ends["200"]
    assert ends["404"]
