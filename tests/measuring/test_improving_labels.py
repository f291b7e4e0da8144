"""`geval.improve` on labels without an order: kappa is what is improved, by another judge alone."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geval
from geval.improving.changes import NO_ORDER, ONE_LABEL
from tests.statistics import plain_definitions

KINDS = ["wrong", "rude", "slow"]
RIGHT = {"today": 0.5, "second": 0.5, "better": 0.9}


def table(
    documents: int = 200, *, seed: int = 1, kinds: list[str] | None = None
) -> list[dict[str, Any]]:
    """An output for each document, labelled by a person and by judges that are right as often as
    `RIGHT` says."""
    rng = np.random.default_rng(seed)

    def label() -> str:
        return str(rng.choice(kinds or KINDS))

    return [
        {
            "doc": f"d{document}",
            "expert": own,
            **{name: own if rng.random() < share else label() for name, share in RIGHT.items()},
        }
        for document in range(documents)
        for own in [label()]
    ]


@pytest.fixture
def improve(tmp_path: Path) -> Any:
    return partial(
        geval.improve, human="expert", judge="today", judges=list(RIGHT), document="doc",
        labels=KINDS, locked=tmp_path / "locked.jsonl",
    )  # fmt: skip


def test_another_judge_is_proven_by_kappa(improve: Any) -> None:
    rows = table()
    result = improve(rows)
    proven = result.prove()

    assert (result.proposed.change, result.proposed.measure) == ("choice", "kappa")
    assert (proven.look.outcome, proven.looked_at.title) == ("proven", "better on quality")
    assert result.not_tried["Panel"] == NO_ORDER["panel"]
    assert result.not_tried["Calibration map"] == NO_ORDER["calibration"]
    training = [row for row in rows if row["doc"] in result.open_documents]
    locked = [row for row in rows if row["doc"] not in result.open_documents]
    assert result.searched.today == pytest.approx(kappa(training, "today"))
    assert proven.look.today == pytest.approx(kappa(locked, "today"))
    assert proven.look.value == pytest.approx(kappa(locked, "better"))
    assert "kappa" in str(proven)


def kappa(rows: list[dict[str, Any]], judge: str) -> float:
    people, given = ([float(KINDS.index(row[name])) for row in rows] for name in ("expert", judge))
    return plain_definitions.label_kappa(people, given)


def test_without_two_labels_of_people_there_is_nothing_to_improve(improve: Any) -> None:
    rows = [row | {"expert": "wrong"} for row in table()]

    result = improve(rows)

    assert result.proposed is None
    assert result.not_tried["Another judge"] == ONE_LABEL


def test_labels_are_never_members_of_a_panel_on_a_scale(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for document in range(60):
        for system in "abc":
            value = int(rng.integers(1, 6))
            about = {"doc_id": f"d{document}", "system_id": system}
            for rater in ("ann", "today", "other"):
                given = about | {"annotator" if rater == "ann" else "judge": rater}
                score = min(5, max(1, value + int(rng.integers(-1, 2))))
                rows.append(given | {"criterion": "quality", "score": score})
                rows.append(given | {"criterion": "kind", "score": KINDS[value % 3]})
    measured = geval.measure(rows, labels={"kind": KINDS})

    result = geval.improve(
        measured, judge="today", criterion="quality", locked=tmp_path / "locked.jsonl"
    )

    members = [m for each in result.to_dict()["candidates"] for m in each["formula"]["members"]]
    assert {member["criterion"] for member in members} == {"quality"}
