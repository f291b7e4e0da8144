"""Real replies of two small models to ten prompts in three languages, at three temperatures and
under three chat templates, labelled twice by readers who did not know the parser.

`tests/data/recorded_replies.jsonl.gz` has one object a line: what was asked, the reply, and the two
labels: a number, "none", "many" (no single rating can be taken), or "unsure:NUMBER".
"""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from geval.llm.parsing import Failure, parse_rating
from geval.llm.replies import ReplyChoice
from geval.statistics.scales import parsed_scale

FILE = Path(__file__).parents[1] / "data" / "recorded_replies.jsonl.gz"
LEAST_READ = 0.95


@cache
def recordings() -> list[dict[str, Any]]:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def as_number(label: str) -> float | None:
    try:
        return float(label.removeprefix("unsure:"))
    except ValueError:
        return None


def read(recording: dict[str, Any], text: str | None = None) -> float | None:
    """What the parser reads; a part of the reply is one that was cut."""
    choice = ReplyChoice(
        recording["text"] if text is None else text,
        recording["finish_reason"] if text is None else "length",
    )
    scale = parsed_scale(recording["scale"])
    rating = parse_rating(choice, scale=scale, criterion=recording["criterion"])
    return None if isinstance(rating, Failure) else rating.value


def test_no_reply_is_read_as_another_number_than_a_reader_took_it_for() -> None:
    wrong = [
        (recording["text"], value, recording["labels"])
        for recording in recordings()
        if (value := read(recording)) is not None
        and value not in map(as_number, recording["labels"])
    ]

    assert wrong == []


def test_nearly_all_replies_with_a_rating_are_read() -> None:
    readable = [
        (recording, float(recording["labels"][0]))
        for recording in recordings()
        if recording["labels"][0] == recording["labels"][1]
        and recording["labels"][0] not in ("none", "many")
        and not recording["labels"][0].startswith("unsure")
        and parsed_scale(recording["scale"]).holds(float(recording["labels"][0]))
    ]
    unread = [recording["text"] for recording, value in readable if read(recording) != value]

    assert len(readable) >= 100
    assert len(unread) <= (1 - LEAST_READ) * len(readable), (len(readable), unread)
