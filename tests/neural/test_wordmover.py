"""Word and sentence mover's similarity against the optimum by hand; files of word vectors."""

import gzip
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from geval.evaluators.base import Corpus, EvaluatorError, Item
from geval.evaluators.wordmover import WordMover, moved
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored
from tests.neural.conftest import OUTPUTS, REFERENCES, torch

Load = Callable[..., Any]
# Kusner's example in two dimensions: equal sentences move nothing.
VECTORS = "the 9 9\nferry 0 0\nboat 0 3\nsails 4 0\nleaves 4 3\nNoon 0 1\n"


def value(outcome: Any) -> float:
    assert isinstance(outcome, Scored), outcome
    return outcome.value


def item(output: str, *references: str, source: str = "source") -> Item:
    return Item(Texts(source, output, references=references))


def by_assignment(left: list[np.ndarray], right: list[np.ndarray]) -> float:
    """With equal weights, each unit is moved in as many parts as the other side has units."""
    rows = [vector for vector in left for _ in right]
    columns = [vector for vector in right for _ in left]
    costs = np.array([[np.linalg.norm(a - b) for b in columns] for a in rows])
    return float(costs[linear_sum_assignment(costs)].mean())


@pytest.mark.parametrize("vectors", ["static", "contextual"])
def test_words_are_moved_at_the_least_cost(
    loaded: Load, by_hand: Load, items: list[Item], vectors: str
) -> None:
    evaluator = loaded(WordMover, "bert", vectors=vectors, references="mean")

    found = [value(outcome) for outcome in evaluator.score([items[0], items[1], items[4]])]

    model, tokenizer = by_hand("bert", "AutoModel")

    def units(text: str) -> list[np.ndarray]:
        tokens = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            if vectors == "contextual":
                return list(model(**tokens).last_hidden_state[0, 1:-1].numpy())
            words = [token for token in text.split() if token != ","]
            ids = tokenizer.convert_tokens_to_ids(words)
            return list(model.get_input_embeddings().weight[ids].numpy())

    for number, output in zip(found, (OUTPUTS[0], OUTPUTS[1], OUTPUTS[4]), strict=True):
        distances = [by_assignment(units(output), units(one)) for one in REFERENCES]
        assert number == pytest.approx(np.mean([math.exp(-d) for d in distances]), abs=1e-5)


def test_sentences_have_the_mean_of_their_words_and_weigh_as_many_words_as_they_have() -> None:
    rows = [np.array([[0.0, 0.0], [2.0, 4.0], [4.0, 2.0]]), np.array([[2.0, 4.0]])]

    words, sentences, both = (moved(rows, unit) for unit in ("words", "sentences", "both"))

    assert words[0].tolist() == [[0, 0], [2, 4], [4, 2]]
    assert words[1].tolist() == [0.25, 0.5, 0.25]
    assert sentences[0].tolist() == [[2, 2], [2, 4]]
    assert sentences[1].tolist() == [0.75, 0.25]
    assert both[0].tolist() == [*words[0].tolist(), *sentences[0].tolist()]
    assert both[1].tolist() == [0.125, 0.25, 0.125, 0.375, 0.125]


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., str]:
    def write(text: str, name: str = "vectors.txt") -> str:
        path = tmp_path / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return str(path)

    return write


def scored(model: str, *items: Item, **settings: Any) -> list[Any]:
    evaluator = WordMover({"model": model, **settings})
    evaluator.load()
    evaluator.look(
        Corpus(
            outputs=[one.texts.output for one in items],
            references=[text for one in items for text in one.texts.references],
            sources=[one.texts.source for one in items],
        )
    )
    return evaluator.score(items)


@pytest.mark.parametrize(
    ("text", "name"),
    [(VECTORS, "glove.txt"), (f"6 2\n{VECTORS}", "word2vec.vec"), (VECTORS, "glove.txt.gz")],
)
def test_a_file_of_word_vectors_moves_words_as_the_paper_does(
    file: Callable[..., str], text: str, name: str
) -> None:
    moved_words, same = scored(
        file(text, name), item("ferry sails", "boat leaves"), item("ferry sails", "sails ferry")
    )

    assert value(moved_words) == pytest.approx(math.exp(-3))  # both words go straight up
    assert value(same) == pytest.approx(1)


def test_words_are_found_in_capitals_or_not_and_those_without_a_vector_are_counted(
    file: Callable[..., str],
) -> None:
    found = scored(file(VECTORS), item("Ferry sails quickly", "Noon sails"))[0]

    assert value(found) == pytest.approx(math.exp(-0.5))  # half of the weight by 1
    assert found.note.startswith("1 of 3 words")
    assert "have no vector" in found.note


def test_a_text_without_any_vector_fails_its_item_and_no_other(file: Callable[..., str]) -> None:
    failed, fine = scored(file(VECTORS), item("zzz", "ferry"), item("boat", "boat"))

    assert isinstance(failed, Failure)
    assert failed.reason == "undefined"
    assert "No word of the output has" in failed.detail
    assert value(fine) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("boat 1 2\nferry 1\n", "line 2 does not have 2 numbers"),
        ("boat 1 2\nferry 1 x\n", "line 2 is no word with 2 numbers"),
        ("boat 1 2\nferry 1 nan\n", "line 2 has a number that is not finite"),
        ("bateau 1 2\n", "has a vector for no word of these texts"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(
    file: Callable[..., str], text: str, message: str
) -> None:
    with pytest.raises(EvaluatorError, match=message):
        scored(file(text), item("ferry", "boat"))
