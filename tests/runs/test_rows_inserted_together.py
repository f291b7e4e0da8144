"""Replies and scores of a batch are stored by one statement each, as if each came alone."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from evaluations.judging.runs import leases, results
from evaluations.models import EvaluationRun, ItemState, ModelReply, Score
from geval.llm.calls import Answer
from geval.llm.judgement import Judgement
from geval.llm.replies import ReplyChoice, Token
from geval.llm.scoring import Scored
from tests.runs.laid_out import run

__all__ = ["run"]
pytestmark = pytest.mark.django_db


def judged(item: leases.ClaimedItem, text: str, *, note: str = "") -> results.FinishedItem:
    choice = ReplyChoice(text, tokens=(Token(text, -0.1, ((text, -0.1), ("\x85“", -2.5))),))
    answer = Answer((choice,), "a model", f"id of {text}", 10, 2, 1, 0.25)
    outcome = Scored(3.1, {3.0: 0.9, 4.0: 0.1}, None, note=note)
    return results.FinishedItem(item, f"key of {text}", outcome, Judgement(outcome, (answer,)))


def test_each_item_gets_its_own_reply(run: EvaluationRun) -> None:
    items = leases.claim(run.pk, "a", most=12)
    texts = {item.id: f"reply {at}" for at, item in enumerate(items)}

    results.store(run, [judged(item, texts[item.id]) for item in reversed(items)], "a")

    rows = run.items.select_related("reply")
    stored = {row.pk: row.reply.choices[0]["text"] for row in rows if row.reply}
    assert stored == texts
    assert len(set(ModelReply.objects.values_list("request_key", flat=True))) == 12


def test_what_was_said_is_stored_to_the_last_digit(run: EvaluationRun) -> None:
    (item,) = leases.claim(run.pk, "a", most=1)
    entry = judged(item, "“3”\n")

    results.store(run, [entry], "a")

    reply, score = ModelReply.objects.get(), Score.objects.get()
    assert entry.judgement is not None
    assert results.answer_from(reply).choices == entry.judgement.answers[0].choices
    assert (reply.seconds, reply.prompt_tokens, reply.removed_at) == (0.25, 10, None)
    assert (score.value, score.distribution) == (3.1, {"3": 0.9, "4": 0.1})
    assert score.coverage is None
    assert score.created_at
    assert reply.created_at


def test_a_text_that_is_no_unicode_fails_its_item_alone(run: EvaluationRun) -> None:
    good, bad = leases.claim(run.pk, "a", most=2)

    results.store_each(run, [judged(good, "3"), judged(bad, "3", note="half \ud800")], "a")

    states = dict(run.items.values_list("pk", "state"))
    assert (states[good.id], states[bad.id]) == (ItemState.DONE, ItemState.FAILED)


@pytest.mark.parametrize("number", [np.float64(4.5), np.float32(4.5), np.int64(4), Decimal("4.5")])
def test_scores_of_packages_with_numbers_of_their_own_are_stored(
    run: EvaluationRun, number: Any
) -> None:
    (item,) = leases.claim(run.pk, "a", most=1)
    scored = Scored(number, {number: np.float64(1)}, np.float64(0.5))

    results.store(run, [results.FinishedItem(item, "", scored)], "a")

    score = Score.objects.get()
    assert (score.value, score.coverage, score.entropy) == (float(number), 0.5, 0)


@pytest.mark.parametrize(
    "scored",
    [Scored.plain(math.nan), Scored.plain(math.inf), Scored(3.0, {3.0: math.nan}, 1.0)],
)
def test_a_score_that_is_no_finite_number_fails_its_item_alone(
    run: EvaluationRun, scored: Scored
) -> None:
    good, bad = leases.claim(run.pk, "a", most=2)
    entries = [judged(good, "3"), results.FinishedItem(bad, "", scored)]

    results.store(run, entries, "a")

    item = run.items.get(pk=bad.id)
    assert (item.state, item.reason) == (ItemState.FAILED, "unforeseen")
    assert "not a finite number" in item.detail
    assert run.items.get(pk=good.id).state == ItemState.DONE
