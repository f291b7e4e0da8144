"""Documents of one group are locked together: one that is alike was not seen by a search."""

import csv
import json
from collections import defaultdict
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import geval
from evaluations.corpus.locks.locking import lock_documents
from evaluations.corpus.store import LoadError
from evaluations.models import LockedDocuments
from evaluations.models.improving import is_withheld, withheld_documents
from evaluations.reports.data import without_withheld
from evaluations.reports.report import load_data
from geval.statistics.locked_rule import can_lock_groups, locked_flags

pytestmark = pytest.mark.django_db
TOPICS = [f"t{number % 12}" for number in range(60)]


def outputs(*lines: dict[str, Any]) -> dict[str, str | bytes]:
    return {"outputs.jsonl": "\n".join(map(json.dumps, lines))}


def line(name: str, **more: Any) -> dict[str, Any]:
    return {"doc_id": name, "system_id": "a", "source": f"Text {name}.", "output": "A."} | more


@pytest.fixture
def drawn(project: Any, load: Any) -> LockedDocuments:
    load(
        project,
        outputs(*(line(f"d{n}", metadata={"group": of}) for n, of in enumerate(TOPICS)), line("x")),
    )
    return lock_documents(project, seed="s")


def test_groups_are_whole_and_later_documents_fall_with_theirs() -> None:
    names = [f"d{number}" for number in range(60)]
    flags = locked_flags(
        [*names, "later", "alone"], [*TOPICS, "t3", ""], seed="s", share=0.4, by_group=True
    )
    by_topic = defaultdict(set)
    for topic, flag in zip([*TOPICS, "t3"], flags, strict=False):
        by_topic[topic].add(flag)

    assert all(len(seen) == 1 for seen in by_topic.values())
    assert {flag for seen in by_topic.values() for flag in seen} == {True, False}
    assert flags[-1] == locked_flags(["alone"], seed="s", share=0.4)[0]
    named = [f"{TOPICS[number]}-{number}" for number in range(60)]
    assert locked_flags(named, seed="s", share=0.4, by_group=True) == flags[:60]
    assert locked_flags(named, TOPICS, seed="s", share=0.4) != flags[:60]


@pytest.mark.parametrize(
    ("units", "groups", "can"),
    [
        (["a", "b"], ["t", "t"], True),
        (["a", "b"], ["t", ""], True),
        (["a", "b"], ["", ""], False),
        (["a", "b"], [], False),
        ([f"t{group}-{number}" for group in range(8) for number in range(3)], [], True),
        ([f"t{group}-{number}" for group in range(7) for number in range(3)], [], False),
        (["s", "s"], ["t", "t"], True),
        (["s", "s"], ["t", "u"], False),
        (["s", "s"], ["t", ""], False),
    ],
)
def test_only_groups_of_whole_sessions_can_be_locked(
    units: list[str], groups: list[str], can: bool
) -> None:
    assert can_lock_groups(units, groups) is can


def test_a_site_locks_whole_groups_everywhere(project: Any, drawn: LockedDocuments) -> None:
    by_topic = defaultdict(set)
    hidden = set(withheld_documents(project.pk))
    for document in project.documents.all():
        by_topic[document.group].add(document.pk in hidden)
        assert is_withheld(document) is (document.pk in hidden)

    assert drawn.by_group
    assert all(len(seen) == 1 for seen in by_topic.values())
    data = load_data(project, [], [], with_withheld=True)
    assert without_withheld(data, project).withheld == len(hidden)


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        ([line("x", metadata={"group": "t1"})], "group"),
        ([line("d1", metadata={"group": "t2"})], None),  # another group is an error of its own
        ([line("d1", session_id="s1")], "session_id"),
        (
            [line("n1", session_id="s", metadata={"group": "t1"}), line("n2", session_id="s")],
            "group",
        ),
    ],
)
def test_no_later_file_moves_a_document(
    project: Any, load: Any, drawn: LockedDocuments, rows: list[Any], column: str | None
) -> None:
    before = withheld_documents(project.pk)
    with pytest.raises(LoadError) as refused:
        load(project, outputs(*rows), replace=column is None)
    assert column is None or {error.column for error in refused.value.errors} == {column}
    assert withheld_documents(project.pk) == before


def test_a_locked_project_takes_new_documents_and_the_same_ones_again(
    project: Any, load: Any, drawn: LockedDocuments
) -> None:
    again = load(
        project,
        outputs(
            line("d1", metadata={"group": "t1"}), line("x"), line("new", metadata={"group": "t1"})
        ),
    )
    assert again.documents.created == 1
    new = project.documents.get(doc_id="new")
    assert is_withheld(new) is is_withheld(project.documents.get(doc_id="d1"))


def test_documents_of_an_earlier_draw_can_get_groups(project: Any, load: Any) -> None:
    load(project, outputs(*(line(f"d{number}") for number in range(20))))
    lock = lock_documents(project, seed="s")
    before = withheld_documents(project.pk)
    load(project, outputs(*(line(f"d{n}", metadata={"group": "t"}) for n in range(20))))

    assert not lock.by_group
    assert withheld_documents(project.pk) == before


def test_the_library_locks_whole_groups_of_a_named_column(tmp_path: Path) -> None:
    path, locked = tmp_path / "table.csv", tmp_path / "locked.jsonl"
    with path.open("w") as file:
        writer = csv.writer(file)
        writer.writerow(["doc", "topic", "system", "ann", "near", "far"])
        for number, system in product(range(60), range(4)):
            topic = TOPICS[number]
            writer.writerow([f"d{number}", topic, system, system, system, (system + number) % 4])
    arguments = {
        "human": "ann", "judge": "far", "judges": ["near", "far"], "document": "doc",
        "system": "system", "group": "topic", "locked": locked,
    }  # fmt: skip
    result = geval.improve(path, **arguments, prove=True)
    unlocked = {TOPICS[int(name[1:])] for name in result.open_documents}

    assert json.loads(locked.read_text().splitlines()[0])["by_group"] is True
    assert len(result.open_documents) == sum(topic in unlocked for topic in TOPICS)
    assert geval.improve(path, **arguments).looks_used == 1
