"""Items of rubrics that models propose."""

import pytest

from geval.llm.replies import ReplyChoice
from geval.llm.written_steps import StepsError, read_items


@pytest.mark.parametrize(
    ("reply", "items"),
    [
        ("2 | Cites sources | Does it?\n1 | Short", ["2 | Cites sources | Does it?", "1 | Short"]),
        (
            "Here is a rubric:\n\n1. 2 | Cites | Does it?\n- 1.5 | Short | Is it?",
            ["2 | Cites | Does it?", "1.5 | Short | Is it?"],
        ),
        (
            "| weight | name | question |\n|---|---|---|\n| 3 | Cites | Does it? |",
            ["3 | Cites | Does it?"],
        ),
        ("```\n1 | Cites | Does it?\n1 | cites | Again?\n```", ["1 | Cites | Does it?"]),
    ],
)
def test_items_of_replies(reply: str, items: list[str]) -> None:
    assert read_items(ReplyChoice(reply)).splitlines() == items


@pytest.mark.parametrize(
    "choice",
    [
        ReplyChoice(""),
        ReplyChoice("I cannot help with that."),
        ReplyChoice("2 | "),
        ReplyChoice("1 | Cites | Does it?\n1 | Sh", finish_reason="length"),
    ],
)
def test_replies_without_items(choice: ReplyChoice) -> None:
    with pytest.raises(StepsError, match="no items"):
        read_items(choice)
