"""Convert several people's answers to comparable numbers. Pure."""

from collections.abc import Sequence

import numpy as np

from geval.files.answers.pairs import Answer, preference_pairs
from geval.statistics.types import FloatArray


def as_array(
    answers: Sequence[tuple[int, int, Answer, Sequence[int]]], annotators: Sequence[int]
) -> FloatArray:
    """Return answers as numbers: shape (annotators, items, questions), NaN where there is none.

    Args:
        answers: for each the item, the annotator, the answer, and the outputs as shown.
    """
    items = {pk: index for index, pk in enumerate(dict.fromkeys(item for item, *_ in answers))}
    place = {pk: index for index, pk in enumerate(annotators)}
    numbers = [
        (place[who], items[item], values(answer, shown)) for item, who, answer, shown in answers
    ]
    columns: dict[str, int] = {}
    for _, _, given in numbers:
        for name in given:
            columns.setdefault(name, len(columns))
    array = np.full((len(annotators), len(items), max(1, len(columns))), np.nan)
    for who, item, given in numbers:
        for name, value in given.items():
            array[who, item, columns[name]] = value
    return array


def values(answer: Answer, shown: Sequence[int]) -> dict[str, float]:
    """Return an answer as numbers, comparable with another annotator's for the same item: a score
    for each question, or for comparisons a preference for each pair of outputs, in the order of
    their ids."""
    numbers = {key: float(score) for key, score in answer.get("scores", {}).items()}
    places = {pk: place for place, pk in enumerate(sorted(shown))}
    for pair in preference_pairs(answer, shown):
        name = f"{pair.criterion} {places[pair.output_a]} {places[pair.output_b]}"
        numbers[name] = float(pair.value)
    return numbers
