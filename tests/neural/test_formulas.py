"""Each neural evaluator against its formula, computed one text at a time, slowly and directly;
batched or not."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from geval.evaluators.bartscore import BartScore
from geval.evaluators.base import Corpus, Item
from geval.evaluators.bertscore import BertScore
from geval.evaluators.ctc import Ctc
from geval.evaluators.embedding import EmbeddingSimilarity
from geval.evaluators.factcc import FactCc
from geval.evaluators.moverscore import MoverScore
from geval.evaluators.neural.transport import earth_movers_distance
from geval.evaluators.prism import Prism
from geval.evaluators.qags import Qags, best_span, token_f1
from geval.evaluators.unieval import UniEval
from geval.evaluators.usr import Usr
from geval.llm.scoring import Scored
from tests.neural.conftest import OUTPUTS, REFERENCES, SOURCE, torch

Load = Callable[..., Any]
BATCHES = pytest.mark.parametrize("batch", [1, 2, 32])
EXACT = 1e-5


def values(outcomes: list[Any]) -> list[float]:
    assert all(isinstance(outcome, Scored) for outcome in outcomes), outcomes
    return [outcome.value for outcome in outcomes]


def states(model: Any, tokenizer: Any, text: str, layer: int) -> tuple[list[int], list[Any]]:
    """Token ids of a text and the vector of each, as lists."""
    tokens = tokenizer(text, return_tensors="pt")
    with torch.no_grad():
        hidden = model(**tokens, output_hidden_states=True).hidden_states[layer][0]
    return tokens["input_ids"][0].tolist(), [row.double() for row in hidden]


def cosine(a: Any, b: Any) -> float:
    return float(a @ b / (a.norm() * b.norm()))


@BATCHES
@pytest.mark.parametrize("measure", ["precision", "recall", "f"])
@pytest.mark.parametrize("idf", [False, True])
def test_bertscore(
    loaded: Load, by_hand: Load, items: list[Item], batch: int, measure: str, idf: bool
) -> None:
    evaluator = loaded(
        BertScore, "bert", batch_size=batch, measure=measure, idf=idf, layer=2, references="mean"
    )
    if idf:
        evaluator.look(Corpus(references=REFERENCES))

    found = values(evaluator.score(items))

    model, tokenizer = by_hand("bert", "AutoModel")
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id}
    sets = [set(tokenizer(text)["input_ids"]) for text in REFERENCES]

    def weight(token: int) -> float:
        if token in special:
            return 0.0
        return math.log((2 + 1) / (sum(token in ids for ids in sets) + 1)) if idf else 1.0

    def side(text: str, other: str) -> float:
        ids, vectors = states(model, tokenizer, text, 2)
        _, others = states(model, tokenizer, other, 2)
        best = [max(cosine(vector, there) for there in others) for vector in vectors]
        total = sum(weight(token) for token in ids)
        return (
            sum(weight(token) * value for token, value in zip(ids, best, strict=False)) / total
            if total
            else 0.0
        )

    for value, output in zip(found, OUTPUTS, strict=False):
        by_reference = []
        for reference in REFERENCES:
            p, r = side(output, reference), side(reference, output)
            f = 2 * p * r / (p + r) if p + r else 0.0
            by_reference.append({"precision": p, "recall": r, "f": f}[measure])
        assert value == pytest.approx(np.mean(by_reference), abs=EXACT)


def test_bertscore_rescales_by_its_baseline(loaded: Load, items: list[Item]) -> None:
    plain = values(loaded(BertScore, "bert").score(items))
    rescaled = values(loaded(BertScore, "bert", baseline=0.2).score(items))

    assert rescaled == pytest.approx([(value - 0.2) / 0.8 for value in plain], abs=EXACT)


def log_likelihood(model: Any, tokenizer: Any, given: str, text: str) -> float:
    """Token by token: the decoder is asked for the next token after every prefix."""
    source = tokenizer(given, return_tensors="pt")
    target = tokenizer(text)["input_ids"]
    prefix = [model.config.decoder_start_token_id]
    total = 0.0
    for token in target:
        with torch.no_grad():
            logits = (
                model(**source, decoder_input_ids=torch.tensor([prefix])).logits[0, -1].double()
            )
        total += float(torch.log_softmax(logits, dim=-1)[token])
        prefix.append(token)
    return total / len(target)


@BATCHES
def test_bartscore_in_every_direction(
    loaded: Load, by_hand: Load, items: list[Item], batch: int
) -> None:
    found = {
        direction: values(
            loaded(BartScore, "bart", direction=direction, batch_size=batch).score(items)
        )
        for direction in ("source_to_output", "reference_to_output", "output_to_reference", "both")
    }

    model, tokenizer = by_hand("bart", "AutoModelForSeq2SeqLM")
    for index, output in enumerate(OUTPUTS):
        faithful = log_likelihood(model, tokenizer, SOURCE, output)
        precision = max(
            log_likelihood(model, tokenizer, reference, output) for reference in REFERENCES
        )
        recall = max(
            log_likelihood(model, tokenizer, output, reference) for reference in REFERENCES
        )
        assert found["source_to_output"][index] == pytest.approx(faithful, abs=EXACT)
        assert found["reference_to_output"][index] == pytest.approx(precision, abs=EXACT)
        assert found["output_to_reference"][index] == pytest.approx(recall, abs=EXACT)
        assert found["both"][index] == pytest.approx((precision + recall) / 2, abs=EXACT)


@BATCHES
def test_prism_is_the_mean_of_both_directions(
    loaded: Load, by_hand: Load, items: list[Item], batch: int
) -> None:
    found = values(loaded(Prism, "bart", batch_size=batch, references="mean").score(items))

    model, tokenizer = by_hand("bart", "AutoModelForSeq2SeqLM")
    for value, output in zip(found, OUTPUTS, strict=False):
        sides = [
            log_likelihood(model, tokenizer, *pair)
            for reference in REFERENCES
            for pair in ((reference, output), (output, reference))
        ]
        assert value == pytest.approx(np.mean(sides), abs=EXACT)


@BATCHES
def test_unieval_on_whole_outputs_and_sentence_by_sentence(
    loaded: Load, by_hand: Load, items: list[Item], batch: int
) -> None:
    evaluator = loaded(UniEval, "t5", batch_size=batch)
    fluency = [Item(item.texts, "fluency", "Is this good ?") for item in items]
    whole, each = values(evaluator.score(items)), values(evaluator.score(fluency))

    model, tokenizer = by_hand("t5", "AutoModelForSeq2SeqLM")
    yes, no = (tokenizer.convert_tokens_to_ids(word) for word in ("Yes", "No"))

    def share(text: str) -> float:
        with torch.no_grad():
            logits = model(
                **tokenizer(text, return_tensors="pt"), decoder_input_ids=torch.tensor([[0]])
            ).logits[0, 0]
        a, b = float(logits[yes].double().exp()), float(logits[no].double().exp())
        return a / (a + b)

    for index, output in enumerate(OUTPUTS):
        asked = f"question: Is it good ? </s> summary: {output} </s> document: {SOURCE}"
        assert whole[index] == pytest.approx(share(asked), abs=EXACT)
    sentences = ("the captain was late .", "the wind was not .")
    by_sentence = [
        share(f"question: Is this good ? </s> paragraph: {sentence}") for sentence in sentences
    ]
    assert each[3] == pytest.approx(np.mean(by_sentence), abs=EXACT)


@BATCHES
def test_moverscore(loaded: Load, by_hand: Load, items: list[Item], batch: int) -> None:
    evaluator = loaded(MoverScore, "bert", batch_size=batch, layers=2, references="mean", idf=False)

    found = values(evaluator.score([items[0], items[1], items[4]]))

    model, tokenizer = by_hand("bert", "AutoModel")

    def vectors(text: str) -> list[Any]:
        last, before = (states(model, tokenizer, text, layer)[1][1:-1] for layer in (-1, -2))
        put = [
            torch.cat([(a + b) / 2, torch.minimum(a, b), torch.maximum(a, b)])
            for a, b in zip(last, before, strict=True)
        ]
        return [vector / vector.norm() for vector in put]

    def distance(left: list[Any], right: list[Any]) -> float:
        """With equal weights an optimal flow moves equal parts: each token in as many parts as the
        other has tokens."""
        parts_left = [vector for vector in left for _ in right]
        parts_right = [vector for vector in right for _ in left]
        costs = np.array([[float((a - b).norm()) for b in parts_right] for a in parts_left])
        from scipy.optimize import linear_sum_assignment

        return float(costs[linear_sum_assignment(costs)].mean())

    for value, output in zip(found, (OUTPUTS[0], OUTPUTS[1], OUTPUTS[4]), strict=False):
        expected = np.mean(
            [1 - distance(vectors(output), vectors(reference)) for reference in REFERENCES]
        )
        assert value == pytest.approx(expected, abs=EXACT)


def test_the_earth_movers_distance_of_two_points_moved_crosswise() -> None:
    left, right = np.array([[0.0, 0.0], [0.0, 3.0]]), np.array([[4.0, 0.0], [4.0, 3.0]])

    # Straight over: 4 for all the weight there is room for; the rest goes the diagonal of 5.
    assert earth_movers_distance(
        left, np.array([0.5, 0.5]), right, np.array([0.5, 0.5])
    ) == pytest.approx(4.0)
    assert earth_movers_distance(
        left, np.array([0.75, 0.25]), right, np.array([0.5, 0.5])
    ) == pytest.approx(4.25)


@BATCHES
@pytest.mark.parametrize(
    "aspect", ["consistency", "relevance", "preservation", "engagingness", "groundedness"]
)
def test_ctc_by_embeddings(
    loaded: Load, by_hand: Load, items: list[Item], batch: int, aspect: str
) -> None:
    found = values(loaded(Ctc, "bert", batch_size=batch, aspect=aspect).score(items))

    model, tokenizer = by_hand("bert", "AutoModel")

    def align(text: str, other: str) -> list[float]:
        own, there = (states(model, tokenizer, one, -1)[1][1:-1] for one in (text, other))
        return [max(cosine(vector, another) for another in there) for vector in own]

    for value, output in zip(found, OUTPUTS, strict=False):
        forward, back = np.mean(align(output, SOURCE)), np.mean(align(SOURCE, output))
        expected = {
            "consistency": forward,
            "relevance": np.mean(align(REFERENCES[0], output)) * forward,
            "preservation": 2 * forward * back / (forward + back),
            "engagingness": sum(align(output, f"{SOURCE}\nthe wind was early")),
            "groundedness": sum(align(output, "the wind was early")),
        }[aspect]
        assert value == pytest.approx(float(expected), abs=EXACT * 10)


@BATCHES
def test_ctc_by_a_classifier_of_tokens(
    loaded: Load, by_hand: Load, items: list[Item], batch: int
) -> None:
    evaluator = loaded(Ctc, "tokens", batch_size=batch, align="discriminator")

    found = values(evaluator.score(items))

    model, tokenizer = by_hand("tokens", "AutoModelForTokenClassification")
    for value, output in zip(found, OUTPUTS, strict=False):
        tokens = tokenizer(SOURCE, output, return_tensors="pt")
        with torch.no_grad():
            # Read without token types, which the classifier was not given in training.
            logits = model(
                input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]
            ).logits[0]
        count = len(tokenizer(output)["input_ids"]) - 2
        shares = torch.softmax(logits.double(), dim=-1)[-1 - count : -1, 1]
        assert value == pytest.approx(float(shares.mean()), abs=EXACT)


@BATCHES
def test_factcc_by_sentence(loaded: Load, by_hand: Load, items: list[Item], batch: int) -> None:
    found = values(loaded(FactCc, "classifier", batch_size=batch).score(items))

    model, tokenizer = by_hand("classifier", "AutoModelForSequenceClassification")

    def share(claim: str) -> float:
        with torch.no_grad():
            return float(
                torch.softmax(
                    model(**tokenizer(SOURCE, claim, return_tensors="pt")).logits[0], dim=-1
                )[0]
            )

    assert found[0] == pytest.approx(share(OUTPUTS[0]), abs=EXACT)
    both = [share("the captain was late ."), share("the wind was not .")]
    assert found[3] == pytest.approx(np.mean(both), abs=EXACT)


@BATCHES
def test_usr_masks_each_token_in_turn(
    loaded: Load, by_hand: Load, items: list[Item], batch: int
) -> None:
    found = values(loaded(Usr, "mlm", batch_size=batch).score(items))

    model, tokenizer = by_hand("mlm", "AutoModelForMaskedLM")
    for value, output in zip(found, OUTPUTS, strict=False):
        ids = tokenizer(SOURCE, output)["input_ids"]
        count = len(tokenizer(output)["input_ids"]) - 2
        total = 0.0
        for place in range(len(ids) - 1 - count, len(ids) - 1):
            masked = [*ids[:place], tokenizer.mask_token_id, *ids[place + 1 :]]
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([masked])).logits[0, place].double()
            total += float(torch.log_softmax(logits, dim=-1)[ids[place]])
        assert value == pytest.approx(total / count, abs=EXACT)


def test_usr_by_a_classifier_of_replies(loaded: Load, by_hand: Load, items: list[Item]) -> None:
    found = values(loaded(Usr, "classifier", variant="retrieval", given="context").score(items))

    model, tokenizer = by_hand("classifier", "AutoModelForSequenceClassification")
    for value, output in zip(found, OUTPUTS, strict=False):
        with torch.no_grad():
            logits = model(**tokenizer("the wind was early", output, return_tensors="pt")).logits[0]
        assert value == pytest.approx(float(torch.softmax(logits, dim=-1)[0]), abs=EXACT)


@BATCHES
@pytest.mark.parametrize("pooling", ["mean", "first"])
def test_embedding_similarity(
    loaded: Load, by_hand: Load, items: list[Item], batch: int, pooling: str
) -> None:
    found = values(
        loaded(EmbeddingSimilarity, "bert", batch_size=batch, pooling=pooling).score(items)
    )

    model, tokenizer = by_hand("bert", "AutoModel")

    def pooled(text: str) -> Any:
        vectors = states(model, tokenizer, text, -1)[1]
        return vectors[0] if pooling == "first" else sum(vectors) / len(vectors)

    for value, output in zip(found, OUTPUTS, strict=False):
        assert value == pytest.approx(cosine(pooled(output), pooled(SOURCE)), abs=EXACT)


def test_qags_asks_and_compares_answers(
    loaded: Load, tiny: Callable[[str], str], items: list[Item]
) -> None:
    evaluator = loaded(Qags, "bart", answer_model=tiny("answers"), questions=3, question_tokens=8)

    outcome = evaluator.score([items[2]])[0]

    questions, _ = evaluator._questions(OUTPUTS[2])
    shares = []
    for question in questions:
        own, there = (evaluator._answer(question, text, "text")[0] for text in (OUTPUTS[2], SOURCE))
        if own:
            shares.append(token_f1(there, own))
    assert outcome == Scored.plain(pytest.approx(np.mean(shares)))


def test_the_best_span_is_the_best_of_all_allowed(loaded: Load, tiny: Callable[[str], str]) -> None:
    evaluator = loaded(Qags, "bart", answer_model=tiny("answers"))
    answering = evaluator.answering
    tokens = answering.tokenizer("when ?", SOURCE)
    inside = [part == 1 for part in tokens.sequence_ids()]

    found = best_span(answering, tokens["input_ids"], inside)

    with torch.no_grad():
        logits = answering.model(torch.tensor([tokens["input_ids"]]))
    starts, ends = logits.start_logits[0].tolist(), logits.end_logits[0].tolist()
    allowed = [
        (starts[a] + ends[b], (a, b))
        for a, b in itertools.combinations_with_replacement(range(len(inside)), 2)
        if inside[a] and inside[b] and b - a < 30
    ]
    best = max(allowed)
    assert found == (best[1] if best[0] >= starts[0] + ends[0] else None)


def test_the_f1_of_answers_counts_shared_words() -> None:
    assert token_f1("the old Harbour", "harbour") == pytest.approx(0.5)
    assert token_f1("noon", "seven") == 0.0
    assert token_f1("a a", "a") == pytest.approx(2 / 3)
