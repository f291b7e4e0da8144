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
        "1. Read the text.\n2. Choose a point:\n- 1\n- 5\n3. Explain the choice.",
        "1. Read the text.\n2. Count its errors.\nMax: 5\n3. Subtract them from 5.",
        "- Read the first text.\n- 5\n- Compare it with the other text.",
        "Step 1: Read the text.\nStep 2: Rate it.",
        "**Step 1:** Read the text.\n\n**Step 2:** Rate it.",
        "### Step 1: Read\nRead the text.\n### Step 2: Rate\nRate its order.",
        "Schritt 1: Lies den Text.\nSchritt 2: Bewerte ihn.",
        "步骤1：阅读原文。\n步骤2：检查摘要是否连贯。",
        "1. Do the sentences follow each other?\n2. Would you understand it alone?",
        "1. Read the text and note:\n   - Error: a wrong name\n2. Rate it.",
    ],
)
def test_all_steps_of_a_list_are_kept(reply: str) -> None:
    assert read_steps(ReplyChoice(reply)) == reply


@pytest.mark.parametrize(
    "reply",
    [
        "1. I'm sorry, I can't help with that.\n2. Ask for something else.",
        "- I cannot rate this.\n- I need the text.",
        "1. What criterion do you mean?\n2. Which scale should I use?",
        "- Error: rate limit exceeded\n- Retry later, or contact support",
        f"Error: {PROSE} {PROSE}",
        f"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1>{PROSE} {PROSE}</body></html>",
        f'{{"error": {{"message": "{PROSE} {PROSE}"}}}}',
        f'```json\n{{"detail": "{PROSE} {PROSE}"}}\n```',
        "1. The order is clear.\n2. I would rate this highly.",
        "1. The order is clear.\n2. My rating is 4 out of 5.",
        "1. [Step 1]\n2. [Step 2]\n3. [Step 3]",
        "Step 1: [what to do]\nStep 2: [what to do]",
        "1. Step 1\n2. Step 2\n3. Step 3",
        "I'm sorry, I can't do that. I need:\n1. The source\n2. The summary",
        "Es tut mir leid, dabei kann ich nicht helfen:\n1. Quelle\n2. Zusammenfassung",
        "Could you share the text?\n1. The source text\n2. The summary of it",
        "- Coherence: 4\n- Reason: the order is clear, and the end is good.",
        f"Score: 4\n\n{PROSE} {PROSE}",
        f'{{"score": 4, "reason": "{PROSE} {PROSE}"}}',
        f"I would give this summary a 4 out of 5. {PROSE} {PROSE}",
        "1. Read the text.\n" * 6,
        "Read the text once more.\n" * 20,
    ],
)
def test_other_replies_are_no_steps(reply: str) -> None:
    with pytest.raises(StepsError, match="wrote no evaluation steps"):
        read_steps(ReplyChoice(reply))
