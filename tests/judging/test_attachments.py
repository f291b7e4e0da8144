"""What a judge is not shown of an item is a note on its score."""

import pytest

from geval.llm.item_texts import Texts
from geval.llm.scoring import Scored
from geval.texts.turns import Turn

PICTURE = Turn("user", "Look.", attachments=("https://example.org/a.png",))
SCORED = Scored(4.0, {4.0: 1.0})


@pytest.mark.parametrize(
    ("texts", "phrase"),
    [
        (Texts("s", "o"), ""),
        (Texts("s", "o", history=(Turn("user", "Look."),)), ""),
        (Texts("s", "o", history=(PICTURE,)), "1 attachment "),
        (Texts("s", "o", history=(PICTURE,), rival_turns=(PICTURE,)), "2 attachments"),
    ],
)
def test_attachments_are_counted(texts: Texts, phrase: str) -> None:
    assert phrase in texts.not_shown
    assert bool(phrase) == bool(texts.not_shown)


def test_notes_are_joined() -> None:
    assert SCORED.noting("").note == ""
    assert SCORED.noting("A.").noting("B.").note == "A. B."
