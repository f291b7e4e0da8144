"""ROUGE reads the words of every script, and says why where a text has none or is too long."""

import pytest

from geval.evaluators.base import Item, Outcome
from geval.evaluators.registry import make_local
from geval.evaluators.rouge import words_of
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored


def rouge(output: str, reference: str, variant: str = "rouge1") -> Outcome:
    evaluator = make_local("rouge", {"variant": variant})
    evaluator.load()
    (outcome,) = evaluator.score([Item(Texts("", output, references=(reference,)))])
    return outcome


@pytest.mark.parametrize("variant", ["rouge1", "rouge2", "rougeL"])
@pytest.mark.parametrize(
    "text",
    [
        "今天天气很好",
        "วันนี้อากาศดี",
        "Погода сегодня хорошая",
        "आज मौसम अच्छा है",
        "날씨가 정말 좋다",
        "Ο καιρός",
    ],
)
def test_identical_texts_of_any_script_have_a_score_of_1(text: str, variant: str) -> None:
    outcome = rouge(text, text, variant)

    assert isinstance(outcome, Scored)
    assert outcome.value == 1.0


def test_half_of_the_letters_shared_is_a_half() -> None:
    outcome = rouge("今天很好", "今天下雨")

    assert isinstance(outcome, Scored)
    assert outcome.value == pytest.approx(0.5)


def test_latin_texts_are_read_as_rouge_score_reads_them() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    output, reference = "The cafés opened at 9; sails", "A café opens at nine: it sailed"
    outcome = rouge(output, reference)

    assert isinstance(outcome, Scored)
    expected = RougeScorer(["rouge1"], use_stemmer=True).score(reference, output)["rouge1"]
    assert outcome.value == expected.fmeasure


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Погода, сегодня!", ["погода", "сегодня"]),
        ("我有3本书", ["我", "有", "3", "本", "书"]),
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),
        ("が", ["が"]),
        ("", []),
    ],
)
def test_words_by_hand(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_texts_that_would_fill_the_memory_are_refused_for_the_longest_subsequence() -> None:
    long = "word " * 5_100

    refused, counted = rouge(long, long, "rougeL"), rouge(long, long, "rouge1")

    assert isinstance(refused, Failure)
    assert refused.reason == Reason.TOO_LONG
    assert "5,100 and 5,100 words" in refused.detail
    assert isinstance(counted, Scored)
