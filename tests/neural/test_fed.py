"""FED: the likelihood of follow-ups against a slow computation, token by token; its follow-ups."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from geval.evaluators.base import Item, SettingsError
from geval.evaluators.fed import Fed, utterances
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored
from geval.texts.turns import Turn
from tests.neural.conftest import LIMIT, OUTPUTS, torch

Load = Callable[..., Any]
SOURCE = "the captain said that\nwhy was the ferry late ?"
GOOD, BAD = ("yes , yes .", "the city is old"), ("no .", "why is that not said ?", "who")
FROZEN = "\n".join([*(f"+ {text}" for text in GOOD), *(f"- {text}" for text in BAD)])


def items() -> list[Item]:
    return [Item(Texts(SOURCE, output), "charm", FROZEN) for output in OUTPUTS]


def values(outcomes: list[Any]) -> list[float]:
    assert all(isinstance(outcome, Scored) for outcome in outcomes), outcomes
    return [outcome.value for outcome in outcomes]


def token_by_token(model: Any, tokenizer: Any, texts: list[str]) -> tuple[list[float], int]:
    """log p of each token after the first, and how many of them are the last text's."""
    ids: list[int] = []
    for text in texts:
        own = tokenizer(text, add_special_tokens=False)["input_ids"]
        ids += [tokenizer.eos_token_id, *own]
    found = []
    for at in range(1, len(ids)):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids[:at]])).logits[0, -1].double()
        found.append(float(torch.log_softmax(logits, dim=-1)[ids[at]]))
    return found, len(own)


@pytest.mark.parametrize("batch", [1, 3, 32])
@pytest.mark.parametrize("likelihood", ["follow_up", "whole"])
@pytest.mark.parametrize("reduce", ["mean", "sum"])
def test_the_score_is_what_speaks_for_a_reply_minus_what_speaks_against_it(
    loaded: Load, by_hand: Load, batch: int, likelihood: str, reduce: str
) -> None:
    evaluator = loaded(Fed, "gpt", batch_size=batch, likelihood=likelihood, reduce=reduce)

    found = values(evaluator.score(items()))

    model, tokenizer = by_hand("gpt", "AutoModelForCausalLM")
    joined = np.mean if reduce == "mean" else np.sum

    def side(output: str, follow_ups: tuple[str, ...]) -> float:
        each = []
        for text in follow_ups:
            shares, own = token_by_token(model, tokenizer, [*SOURCE.split("\n"), output, text])
            each.append(joined(shares[-own:] if likelihood == "follow_up" else shares))
        return float(joined(each))

    expected = [side(output, GOOD) - side(output, BAD) for output in OUTPUTS]
    assert found == pytest.approx(expected, abs=2e-4)
    assert np.ptp(found) > 0.01  # or a wrong mask would not show


def test_a_quality_without_follow_ups_for_it_has_those_against_it_alone(loaded: Load) -> None:
    evaluator = loaded(Fed, "gpt")
    both, against = (
        values(evaluator.score([Item(Texts(SOURCE, "boat"), "c", frozen)]))[0]
        for frozen in ("+ yes .\n- no .", "- no .")
    )
    alone = values(evaluator.score([Item(Texts(SOURCE, "boat"), "c", "+ yes .")]))[0]

    assert both == pytest.approx(alone + against, abs=1e-5)
    assert against > 0 > alone


def test_of_a_conversation_that_is_too_long_the_last_turns_are_kept(
    loaded: Load, by_hand: Load
) -> None:
    long = "\n".join(["the ferry sails at noon"] * 12)
    item = Item(Texts(long, "boat"), "charm", "+ yes .")

    refused = loaded(Fed, "gpt").score([item])[0]
    cut = loaded(Fed, "gpt", over_limit="cut").score([item])[0]

    assert isinstance(refused, Failure)
    assert refused.reason == "too_long"
    assert "conversation with a follow-up has 77 tokens" in refused.detail
    assert isinstance(cut, Scored)
    assert f"was cut from 77 to {LIMIT} tokens" in cut.note
    model, tokenizer = by_hand("gpt", "AutoModelForCausalLM")
    ids: list[int] = []
    for text in [*long.split("\n"), "boat", "yes ."]:
        ids += [tokenizer.eos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
    kept = ids[-LIMIT:]
    with torch.no_grad():
        shares = torch.log_softmax(model(torch.tensor([kept])).logits[0].double(), dim=-1)
    last = [float(shares[at - 1, kept[at]]) for at in (LIMIT - 2, LIMIT - 1)]
    assert cut.value == pytest.approx(np.mean(last), abs=1e-4)


def test_utterances_are_the_lines_of_a_source_or_the_turns_of_a_conversation() -> None:
    history = (Turn("user", "hi"), Turn("assistant", "hello\nyou"), Turn("user", " "))
    session = (Turn("user", "hi"), Turn("assistant", "bye"))

    assert utterances(Texts("a \n\n b\n", "c\nd")) == ["a", "b", "c d"]
    assert utterances(Texts("shown", "c", history=history)) == ["hi", "hello\nyou", "c"]
    assert utterances(Texts("shown", "all", turns=session)) == ["hi", "bye"]


@pytest.mark.parametrize(
    ("follow_ups", "message"),
    [
        ("+ yes\nno", "line 2 needs “+ a follow-up”"),
        ("+", "line 1 needs"),
        ("[criterion: a]\n\n[criterion: b]\n+ x", "the criterion 'a' has no follow-ups"),
    ],
)
def test_follow_ups_that_cannot_be_read_are_refused_with_their_line(
    follow_ups: str, message: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        Fed({"model": "m", "follow_ups": follow_ups})

    assert message in str(refused.value)
