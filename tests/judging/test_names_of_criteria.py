"""A criterion may have a name in any language and of any form: its rating is found under it, steps
and prompts name it, and the stand-in rates it, alone and with others in one form."""

import unicodedata

import pytest

from geval.llm.parsing import Rating, parse_rating
from geval.llm.replies import ReplyChoice
from geval.statistics.scales import Scale

SCALE = Scale(1, 5)
NAMES = (
    "Kohärenz", "Q1", "Q 1", "10", "tool_use", "fact-check", "流暢さ", "安全性/有害性", "تماسك",
    "Ясность", "İçerik", "रवानी", "C++", "NLI", "Is it clear?", "Stil (Überzeugung)",
    "Coherence: overall", "1. Klarheit", "50/50",
)  # fmt: skip
FORMS = (
    "{}: 4", "- {}: 4", "**{}**: 4/5", "{} (1-5): 4", "| {} | 4 |", '{{"{}": 4}}', "{}：4",
    "{} = 4", "{} - 4", "The {} of this text is 4.",
)  # fmt: skip


def value_of(reply: str, criterion: str, others: tuple[str, ...] = ()) -> float | str:
    found = parse_rating(ReplyChoice(reply), scale=SCALE, criterion=criterion, others=others)
    return found.value if isinstance(found, Rating) else found.detail


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("accents", ["NFC", "NFD"])
def test_a_rating_is_found_under_its_name(name: str, accents: str) -> None:
    written = unicodedata.normalize(accents, name)

    assert {form: value_of(form.format(written), name) for form in FORMS} == dict.fromkeys(FORMS, 4)


@pytest.mark.parametrize("name", NAMES)
def test_each_criterion_of_a_form_has_its_own_rating(name: str) -> None:
    reply = f"- Tone: 2\n- {name}: 4\n- Depth: 1"

    assert value_of(reply, name, ("Tone", "Depth")) == 4
    assert value_of(reply, "Tone", (name, "Depth")) == 2
