"""Replies of many kinds, written and labelled by hand before the reader was fitted to any of them,
and replies that earlier versions misread.

`tests/data/replies/*.jsonl` has one object a line: the reply, what a careful reader takes from it
(null: no rating), its kind, the scale and the criterion; of `forms` also the reason for none.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from geval.llm.parsing import Failure, Rating, parse_rating
from geval.llm.replies import ReplyChoice
from geval.statistics.scales import Scale, parsed_scale

FOLDER = Path(__file__).parents[1] / "data" / "replies"
MOST_MISREAD, MOST_UNREAD = 1 / 200, 0.08


@cache
def rows(name: str) -> list[dict[str, Any]]:
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def parsed(row: dict[str, Any]) -> Rating | Failure:
    ends = parsed_scale(row["scale"])
    scale = Scale(ends.lowest, ends.highest, labels=row.get("labels", {}))
    choice = ReplyChoice(row["reply"], row.get("ended", "stop"))
    return parse_rating(choice, scale=scale, criterion=row["criterion"])


def read(row: dict[str, Any]) -> float | None:
    rating = parsed(row)
    return None if isinstance(rating, Failure) else rating.value


def test_hardly_a_written_reply_is_misread() -> None:
    misread = [
        (row["reply"], value)
        for row in rows("written")
        if (value := read(row)) is not None and value != row["want"]
    ]

    assert len(misread) <= MOST_MISREAD * len(rows("written")), misread


def test_nearly_all_written_replies_with_a_rating_are_read() -> None:
    rated = [row for row in rows("written") if row["want"] is not None]
    unread = [row["reply"] for row in rated if read(row) is None]

    assert len(unread) <= MOST_UNREAD * len(rated), unread


@pytest.mark.parametrize("row", rows("misread_before"), ids=lambda row: repr(row["reply"])[:60])
def test_reply_that_was_misread_before_is_right(row: dict[str, Any]) -> None:
    assert read(row) == row["want"]


@pytest.mark.parametrize("row", rows("forms"), ids=lambda row: repr(row["reply"])[:60])
def test_reply_of_a_form_has_its_rating_or_a_named_reason(row: dict[str, Any]) -> None:
    rating = parsed(row)

    if isinstance(rating, Failure):
        assert (rating.reason, bool(rating.detail)) == (row.get("reason"), True)
    else:
        assert rating.value == row["want"]
