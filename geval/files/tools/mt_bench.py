"""Judgments of MT-bench, as FastChat writes them: a judge's score of an answer, or its choice
between two answers in both orders. Answers are loaded as outputs; later turns are documents of
their own, named `question__turn`."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.fields import number_of
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OVERALL
from geval.texts.turns import NAME_SEPARATOR

TITLE = "judgments of MT-bench"
MARKS = ("judgment", "g1_winner")
# FastChat's score where the judge's reply could not be read.
NO_SCORE = -1
_KNOWN = ("user_prompt", "judgment", "tstamp", "g1_user_prompt", "g2_user_prompt", "g1_judgment",
          "g2_judgment", "model")  # fmt: skip


def knows(record: Mapping[str, Any]) -> bool:
    return "question_id" in record and (
        {"model", "judge", "score"} <= record.keys() or {"model_1", "g1_winner"} <= record.keys()
    )


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield a score, or two choices."""
    for name in _KNOWN:
        record[name].skip()
    judge, turn = _judge(record["judge"]), record["turn"].value
    document = record["question_id"].name()
    if "g1_winner" in record.reading.record:
        yield from _choices(record, document, judge, turn)
        return
    score = record["score"]
    if number_of(score.value) in (None, NO_SCORE):
        score.note_unused("judgments without a score")
        return
    yield {
        "doc_id": document if turn in (None, 1) else f"{document}{NAME_SEPARATOR}{turn}",
        "system_id": record["model"].name(),
        "criterion": OVERALL,
        "judge": judge,
        "score": score.value,
    }


def _choices(record: Part, document: str, judge: str, turn: Any) -> Iterator[dict[str, Any]]:
    """Yield the choices with each model shown first; "error" is none."""
    systems = [record["model_1"].name(), record["model_2"].name()]
    names = {"model_1": "a", "model_2": "b", "tie": "tie"}
    for game, first in (("g1_winner", "a"), ("g2_winner", "b")):
        winner = record[game].name()
        if winner not in names:
            record[game].note_unused("judgments without a choice")
            continue
        yield {
            "doc_id": document,
            "turn": turn,
            "system_a": systems[0],
            "system_b": systems[1],
            "judge": judge,
            "winner": names[winner],
            "shown_first": first,
        }


def _judge(judge: Part) -> str:
    """Return the model of a judge, which is named with its prompt: ["gpt-4", "single-v1"]."""
    value = judge.value
    return str(value[0] if isinstance(value, list) and value else value or "MT-bench judge")
