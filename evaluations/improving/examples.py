"""Rated outputs of training documents as examples in a judge's prompt (few-shot)."""

from collections.abc import Iterator

import numpy as np

from evaluations.improving.arms import Ground
from evaluations.llm.prompts import example_block, has_placeholder
from evaluations.models import CandidateOutput
from evaluations.scales import Scale, short
from evaluations.statistics.pairing import IntArray

# How many examples, and the seed of a draw.
SETS = ((3, 0), (6, 0), (6, 1))


def example_sets(ground: Ground, documents: IntArray) -> Iterator[tuple[str, str]]:
    """Sets that cover the range of people's ratings, each example of another document: a name that
    is the same each time, and the text.

    Args:
        documents: positions of those to take examples from.
    """
    there = np.isin(ground.outputs.document, documents) & ~np.isnan(ground.human)
    places = np.flatnonzero(there)
    for count, seed in SETS:
        order = np.random.default_rng(seed).permutation(places)
        chosen = _covering(ground, order, count)
        if len(chosen) == count:
            yield f"examples-{count}-{seed}", _text(ground, chosen)


def _covering(ground: Ground, order: IntArray, count: int) -> list[int]:
    """Places whose ratings are nearest to evenly spaced points between the lowest and the
    highest."""
    texts = CandidateOutput.objects.select_related("document").in_bulk(
        [int(pk) for pk in ground.output_ids[order]]
    )
    usable = [
        int(at) for at in order if not has_placeholder(_both(texts[int(ground.output_ids[at])]))
    ]
    human, chosen, used = ground.human, list[int](), set[int]()
    if not usable:
        return chosen
    for point in np.linspace(human[usable].min(), human[usable].max(), count):
        free = [at for at in usable if int(ground.outputs.document[at]) not in used]
        if not free:
            break
        nearest = min(free, key=lambda at: abs(human[at] - point))
        chosen.append(nearest)
        used.add(int(ground.outputs.document[nearest]))
    return chosen


def _text(ground: Ground, chosen: list[int]) -> str:
    ids = [int(ground.output_ids[at]) for at in chosen]
    texts = CandidateOutput.objects.select_related("document").in_bulk(ids)
    return "\n\n".join(
        example_block(
            texts[pk].document.source,
            texts[pk].text,
            _rating(float(ground.human[at]), ground.criterion.scale),
        )
        for at, pk in zip(chosen, ids, strict=True)
    )


def _rating(mean: float, scale: Scale) -> str:
    """A mean rating as the nearest point of the scale, which is what the judge can give."""
    return short(min(scale.points, key=lambda point: abs(point - mean)))


def _both(output: CandidateOutput) -> str:
    return f"{output.document.source}\n{output.text}"
