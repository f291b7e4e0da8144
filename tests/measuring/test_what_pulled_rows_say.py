"""Rows pulled from a site say of which session a document is a turn, and with which weights."""

from typing import Any

import pytest

import geval
from geval.client.pulling import Contents


def contents(session: str) -> Contents:
    names = [f"d{at}" for at in range(40)]
    pairs: list[dict[str, Any]] = [
        {"doc_id": name, "system_id": system} for name in names for system in "ab"
    ]
    no_criteria: list[Any] = []
    documents: list[Any] = [{"doc_id": name, "source": "S", "session": session} for name in names]
    return Contents(
        criteria=no_criteria,
        judges=[],
        documents=documents,
        outputs=[pair | {"output": "Text"} for pair in pairs],  # type: ignore[misc]
        ratings=[
            pair | {"criterion": "c", "annotator": "ann", "score": at % 5, "probability": None,
                    "comment": ""}
            for at, pair in enumerate(pairs)
        ],
        preferences=[],
        scores=[
            pair | {"criterion": "c", "judge": judge, "judge_version": 1, "score": at % 3}
            for judge in ("J", "K")
            for at, pair in enumerate(pairs)
        ],
        choices=[],
    )  # fmt: skip


@pytest.mark.parametrize("session", ["", "talk"])
def test_pulled_turns_of_a_session_are_taken_together(session: str) -> None:
    measured = geval.measure(contents(session).pulled())

    assert (measured.report.sessions, measured.report.turns) == ((1, 40) if session else (0, 0))
    assert measured.criteria[0].outputs == 80


def test_weights_beside_columns_of_people_are_refused_and_not_left_out() -> None:
    rows = [
        {"article": f"d{at}", "model": model, "ann": at % 5, "gpt": at % 3, "probability": 0.5}
        for at in range(30)
        for model in "ab"
    ]

    with pytest.raises(geval.InputError, match="Put each rating into a row"):
        geval.measure(rows, human="ann", judge="gpt", document="article", system="model")
