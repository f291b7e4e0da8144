"""Pages about a judge start that judge; an address of a report with a wrong name says so."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Judge, Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(as_role: Callable[[str], Client]) -> Client:
    return as_role("researcher")


@pytest.fixture
def judges(judged_project: Project) -> tuple[Judge, Judge]:
    """The judge of the project, and a newer one."""
    first = judged_project.judges.get()
    newer = judged_project.judges.get()
    newer.pk, newer.name = None, "Newer"
    newer.save()
    return first, newer


def chosen(page: str) -> list[str]:
    """The judge that the form of a run has chosen."""
    field = page.split('name="judge"')[1].split("</select>", maxsplit=1)[0]
    return re.findall(r'value="(\d*)" selected', field)


def text(client: Client, address: str) -> str:
    return client.get(address).content.decode()


@pytest.mark.parametrize("place", [0, 1])
def test_a_run_from_a_judges_page_is_of_that_judge(
    client: Client, judges: tuple[Judge, Judge], place: int
) -> None:
    judge = judges[place]
    address = re.search(r'href="(/p/small/runs/\?judge=\d+)#start"',
                        text(client, judge.get_absolute_url()))  # fmt: skip

    assert address is not None
    assert chosen(text(client, address[1])) == [str(judge.pk)]


WRONG = {
    "level=nonsense": "level is",
    "coefficient=nonsense": "coefficient is",
    "judges=99999": "There is no judge",
    "criteria=nonsense": "There is no criterion",
    "round=nonsense": "There is no round",
    "judge=99999": "There is no judge",
    "criterion=nonsense": "There is no criterion",
}


def test_a_wrong_name_in_the_address_of_a_report(client: Client, judged_project: Project) -> None:
    for query, message in WRONG.items():
        # A page says it above another view; a file would be another view.
        assert message in text(client, f"/p/small/report/?{query}")
        assert client.get(f"/p/small/report/export/csv/?{query}").status_code == 404
        for address in ("snapshots/new", "share"):
            client.post(f"/p/small/report/{address}/", {"query": query})
    assert not judged_project.snapshots.exists()
    assert not judged_project.share_links.exists()


def test_numbers_of_a_criterion_that_is_not_there(client: Client, judged_project: Project) -> None:
    assert client.get("/p/small/report/numbers/?on=99999").status_code == 404
