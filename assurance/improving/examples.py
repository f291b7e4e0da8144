"""Rated outputs of training documents as few-shot examples in a judge's prompt."""

from collections.abc import Iterator

import numpy as np

from assurance.improving.search_data import outputs_at
from assurance.prompt_examples import example_of, is_usable_example
from evaluations.models import CandidateOutput
from geval.evaluators.wording import LONGEST_EXAMPLES
from geval.improving.ground import Ground
from geval.statistics.types import IntArray

# The number of examples, and the seed of a draw.
SETS = ((3, 0), (6, 0), (6, 1))
# The size of the pool from which each prompt shows the nearest examples to its text.
POOL, NEAREST = 40, 3


def example_sets(ground: Ground, documents: IntArray) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield sets of examples that cover the range of people's ratings, each example from a
    different document, and a pool from which each prompt shows the nearest. Each has a reproducible
    name and the parts of a wording.

    Args:
        documents: positions of the documents to take examples from.
    """
    is_rated = np.isin(ground.outputs.document, documents) & ~np.isnan(ground.human)
    places = np.flatnonzero(is_rated)
    texts = dict(zip(places.tolist(), outputs_at(ground, places), strict=True))
    usable = np.array([index for index in texts if is_usable_example(texts[index])], dtype=np.int64)
    for count, seed in SETS:
        chosen = _covering(ground, np.random.default_rng(seed).permutation(usable), count)
        if len(chosen) == count:
            blocks = (_block(ground, index, texts[index]) for index in chosen)
            yield f"examples-{count}-{seed}", {"examples": "\n\n".join(blocks), "nearest": "0"}
    order = np.random.default_rng(0).permutation(usable)
    pool = _as_fits(
        [_block(ground, index, texts[index]) for index in sorted(_covering(ground, order, POOL))]
    )
    if len(pool) > NEAREST:
        yield f"nearest-{NEAREST}", {"examples": "\n\n".join(pool), "nearest": str(NEAREST)}


def _as_fits(blocks: list[str]) -> list[str]:
    """Return as many blocks as a wording may hold, in order."""
    ends = np.cumsum([len(block) + 2 for block in blocks])
    return blocks[: int((ends <= LONGEST_EXAMPLES).sum())]


def _covering(ground: Ground, order: IntArray, count: int) -> list[int]:
    """Return positions in different documents whose ratings are nearest to evenly spaced points
    between the lowest and the highest; the first of equally near ones."""
    human, free, chosen = ground.human, order.tolist(), list[int]()
    if not free:
        return chosen
    for point in np.linspace(human[order].min(), human[order].max(), count):
        if not free:
            break
        nearest = min(free, key=lambda index: abs(human[index] - point))
        chosen.append(nearest)
        document = ground.outputs.document
        free = [index for index in free if document[index] != document[nearest]]
    return chosen


def _block(ground: Ground, at: int, output: CandidateOutput) -> str:
    return example_of(output, float(ground.human[at]), ground.criterion.scale)
