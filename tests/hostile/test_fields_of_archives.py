"""Odd values in every field of every file of an archive are refused with their place, or what they
make is shown by every page and operation of the API."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from evaluations.models import Project
from evaluations.projects.archive.read import read_archive
from geval.files.archive.record_file import ArchiveError
from tests.hostile.archive_fields import Edit, Rows, edits_of, passes_checks, rows_of, write_zip
from tests.hostile.table import record
from tests.pages.addresses import address, operations, routes
from tests.pages.test_every_route_of_conversations import EXPECTED, ask, conversations, place

__all__ = ["conversations", "place"]
pytestmark = pytest.mark.django_db
PARTS = 4
# How many of a project's fields are odd at once: few enough that pages get to the others.
SHARE = 0.5


def imported(rows: Rows, edits: Sequence[Edit], file: Path) -> Project:
    """A copy in which these values are odd, by the short name that addresses have."""
    changed = deepcopy_rows(rows)
    for edit in edits:
        edit.apply(changed)
    return read_archive(write_zip(changed, file), slug="small")


def deepcopy_rows(rows: Rows) -> Rows:
    """Only the first records are changed."""
    return {name: [deepcopy(records[0]), *records[1:]] for name, records in rows.items()}


def draws(edits: Sequence[Edit], part: int) -> Iterator[list[Edit]]:
    """Sets of edits of different fields, until each edit of this part was in one."""
    rng = random.Random(part)
    waiting = [edit for number, edit in enumerate(edits) if number % PARTS == part]
    rng.shuffle(waiting)
    fields = {(edit.table, edit.path[0]) for edit in edits}
    while waiting:
        chosen: dict[tuple[str, str | int], Edit] = {}
        for edit in waiting:
            if len(chosen) < SHARE * len(fields):
                chosen.setdefault((edit.table, edit.path[0]), edit)
        drawn = list(chosen.values())
        waiting = [edit for edit in waiting if edit not in drawn]
        yield drawn


def records_of_copy(copy: Project, place: dict[str, Any]) -> dict[str, Any]:
    """The first record of each kind, as odd values are in the first."""
    runs = copy.runs.order_by("pk")
    run = runs.filter(items__isnull=False).first() or runs[0]
    firsts = {
        "document": copy.documents, "criterion": copy.criteria, "steps": copy.criteria,
        "system": copy.systems, "judge": copy.judges, "endpoint": copy.endpoints,
        "campaign": copy.campaigns, "adjudication": copy.campaigns, "task": copy.campaigns,
        "study": copy.studies, "certificate": copy.certificates, "search": copy.searches,
        "improve": copy.searches,
    }  # fmt: skip
    records = {name: rows.order_by("pk").first().pk for name, rows in firsts.items()}
    candidate = copy.searches.order_by("pk")[0].candidates.order_by("pk")[0].pk
    return place | records | {
        "project": copy, "limits": copy.pk, "run": run.pk, "candidate": candidate,
        "look": candidate, "item": run.items.order_by("pk")[0].pk,
        "output": copy.documents.order_by("pk")[0].outputs.order_by("pk")[0].pk,
    }  # fmt: skip


def addresses_of(place: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The pattern and the address of each page, and of what the API reads."""
    for name, _taken in routes():
        # Shared pages show the project that the link was made for.
        if not name.startswith(("admin:", "api:", "evaluations:shared")):
            yield name, address(name, place)
    for method, path in operations():
        if method == "GET":
            yield path, address(path, place)


def broken_addresses(
    client: Client, copy: Project, place: dict[str, Any], among: frozenset[str]
) -> dict[str, str]:
    """The pattern and the address of each page that breaks; `among` some, or of all."""
    records = records_of_copy(copy, place)
    return {
        pattern: path
        for pattern, path in addresses_of(records)
        if (not among or pattern in among)
        and (status := ask(client, "GET", path)) >= 400
        and status not in EXPECTED
    }


@pytest.mark.parametrize("part", range(PARTS))
def test_what_comes_in_is_shown(
    client: Client, owner: User, place: dict[str, Any], part: int, tmp_path: Path
) -> None:
    file = tmp_path / "a.zip"
    rows = rows_of(place["project"])
    Project.objects.update(slug="the-first")
    every = list(edits_of(rows))
    passed = [edit for edit in every if passes_checks(edit, rows)]
    ends = Counter({"refused": (len(every) - len(passed)) // PARTS})
    client.raise_request_exception = False
    broken: list[str] = []

    def refusal(edits: Sequence[Edit]) -> str:
        try:
            with transaction.atomic():
                imported(rows, edits, file)
                transaction.set_rollback(True)
        except ArchiveError as error:
            return str(error)
        return ""

    def taken_of(edits: list[Edit]) -> list[Edit]:
        """Without those that references or the database refuse."""
        while reason := refusal(edits):
            suspects = [edit for edit in edits if reason.startswith(f"{edit.table}.jsonl")] or edits
            wrong = [edit for edit in suspects if refusal([edit])] or suspects[-1:]
            edits = [edit for edit in edits if edit not in wrong]
        return edits

    def broken_by(edits: Sequence[Edit], among: Iterable[str] = ()) -> dict[str, str]:
        with transaction.atomic():
            copy = imported(rows, edits, file)
            copy.memberships.create(user=owner, role="owner")
            paths = broken_addresses(client, copy, place, frozenset(among))
            transaction.set_rollback(True)
        return paths

    for drawn in draws(passed, part):
        taken = taken_of(drawn)
        ends["refused"] += len(drawn) - len(taken)
        paths = broken_by(taken)
        culprits = [
            f"{edit}: {alone}" for edit in taken if paths and (alone := broken_by([edit], paths))
        ]
        broken += culprits or (["together: " + ", ".join(paths)] if paths else [])
        ends["shown"] += len(taken) - len(culprits)
        ends["lost"] += len(culprits)
    record("odd fields of archives", ends)
    assert broken == []
