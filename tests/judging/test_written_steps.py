"""Which replies are evaluation steps. What is none would be frozen into every prompt of a judge."""

import pytest

from geval.llm.replies import ReplyChoice
from geval.llm.written_steps import StepsError, read_steps

PROSE = "The sentences follow each other well, and a reader is never lost in the many details."


@pytest.mark.parametrize(
    ("reply", "steps"),
    [
        (
            "1. Read the text.\n2. Rate it from 1 to 5.",
            "1. Read the text.\n2. Rate it from 1 to 5.",
        ),
        ("1. Read the text.\n2. Assign a score: 1-5", "1. Read the text.\n2. Assign a score: 1-5"),
        ("1. Read it.\n2. Rate its order.\n\n**Rating:** 4", "1. Read it.\n2. Rate its order."),
        (
            '1. Does the model say "I\'m sorry"?\n2. Rate its politeness.',
            '1. Does the model say "I\'m sorry"?\n2. Rate its politeness.',
        ),
        ("- Read one.\n- Read two.\n- Read one.", "- Read one.\n- Read two.\n- Read one."),
    ],
)
def test_steps_are_read_without_a_rating(reply: str, steps: str) -> None:
    assert read_steps(ReplyChoice(reply)) == steps


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, I can't do that. I need:\n1. The source\n2. The summary",
        "Es tut mir leid, dabei kann ich nicht helfen:\n1. Quelle\n2. Zusammenfassung",
        "Could you share the text?\n1. The source text\n2. The summary of it",
        "Which criterion do you mean?\n1. Coherence of the text\n2. Fluency",
        "- Coherence: 4\n- Reason: the order is clear, and the end is good.",
        "1. 4\n2. 3\n3. 5 and no more",
        f"Score: 4\n\n{PROSE} {PROSE}",
        f"<score>4</score> {PROSE} {PROSE}",
        f'{{"score": 4, "reason": "{PROSE} {PROSE}"}}',
        f"I would give this summary a 4 out of 5. {PROSE} {PROSE}",
        "1. Read the text.\n" * 6,
        "Read the text once more.\n" * 20,
    ],
)
def test_other_replies_are_no_steps(reply: str) -> None:
    with pytest.raises(StepsError, match="wrote no evaluation steps"):
        read_steps(ReplyChoice(reply))
