"""An empty output has the score that a metric's definition gives it, or fails by name; both are
counted on the run's page."""

import pytest

from geval.evaluators.base import SCORED_EMPTY, Item, Outcome
from geval.evaluators.registry import make_local
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored


def outcome_of(kind: str, output: str, *references: str, **settings: object) -> Outcome:
    evaluator = make_local(kind, settings)
    evaluator.load()
    (outcome,) = evaluator.score_readable([Item(Texts("source", output, references=references))])
    return outcome


@pytest.mark.parametrize("output", ["", " \n"])
@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *(("rouge", {"variant": one}) for one in ("rouge1", "rouge2", "rougeL", "rougeLsum")),
        ("rouge", {"measure": "precision"}),
        ("bleu", {}),
        ("bleu", {"references": "mean"}),
        ("chrf", {}),
        ("chrf", {"word_order": 2}),
        ("meteor", {"synonyms": False}),
    ],
)
def test_a_metric_of_shared_words_gives_an_empty_output_its_worst_score(
    kind: str, settings: dict[str, object], output: str
) -> None:
    outcome = outcome_of(kind, output, "the ferry sails", **settings)

    assert outcome == Scored.plain(0.0, SCORED_EMPTY)


def test_the_packages_give_empty_outputs_the_same_score() -> None:
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    assert RougeScorer(["rougeL"]).score("the ferry", "")["rougeL"].fmeasure == 0
    assert BLEU(effective_order=True).sentence_score("", ["the ferry"]).score == 0
    assert CHRF().sentence_score("", ["the ferry"]).score == 0


def test_rouge_takes_an_output_of_punctuation_for_empty() -> None:
    assert outcome_of("rouge", "… !?", "the ferry") == Scored.plain(0.0, SCORED_EMPTY)


def test_rouge_is_undefined_if_no_reference_has_a_word_either() -> None:
    outcome = outcome_of("rouge", "…", "!?")

    assert isinstance(outcome, Failure)
    assert (outcome.reason, outcome.detail[:22]) == (Reason.UNDEFINED, "No reference has a wor")


def test_an_empty_output_without_a_reference_lacks_the_reference() -> None:
    outcome = outcome_of("bleu", "")

    assert isinstance(outcome, Failure)
    assert outcome.reason == Reason.NO_TEXT
