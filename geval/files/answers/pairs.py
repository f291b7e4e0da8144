"""Convert a stored answer to preferences between pairs of outputs, or to comparable numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Answer = dict[str, Any]


@dataclass(frozen=True)
class PreferencePair:
    """A comparison from an answer; `output_a` has the lower id, `value` is positive if it is
    better."""

    output_a: int
    output_b: int
    criterion: int
    value: int
    a_was_left: bool | None


def preference_pairs(answer: Answer, shown: Sequence[int]) -> list[PreferencePair]:
    """Return what an answer says about each pair of outputs.

    A best-worst choice says that the best beats all others and all others beat the worst; a ranking
    compares every pair, and equal ranks are ties.
    """
    preference_pairs = []
    for key, value in answer.get("choices", {}).items():
        left, right = shown[0], shown[1]
        ordered = left < right
        preference_pairs.append(
            PreferencePair(
                min(left, right), max(left, right), int(key), value if ordered else -value, ordered
            )
        )
    for key, best in answer.get("best", {}).items():
        worst = answer["worst"][key]
        for other in shown:
            if other != best:
                preference_pairs.append(_preferred(best, other, int(key)))
            if other not in (best, worst):
                preference_pairs.append(_preferred(other, worst, int(key)))
    for key, ranks in answer.get("ranks", {}).items():
        ordered_ids = sorted(shown)
        for index, a in enumerate(ordered_ids):
            for b in ordered_ids[index + 1 :]:
                difference = ranks[str(b)] - ranks[str(a)]
                preference_pairs.append(
                    PreferencePair(a, b, int(key), (difference > 0) - (difference < 0), None)
                )
    return preference_pairs


def _preferred(better: int, worse: int, criterion: int) -> PreferencePair:
    value = 1 if better < worse else -1
    return PreferencePair(min(better, worse), max(better, worse), criterion, value, None)


def shown_pattern(answer: Answer, shown: Sequence[int]) -> str:
    """Return an answer by the places of outputs on the page, without strengths of choices: the same
    for somebody who always clicks at the same place."""
    place = {pk: str(at) for at, pk in enumerate(shown)}
    choices = {key: (value > 0) - (value < 0) for key, value in answer.get("choices", {}).items()}
    ends = [
        {key: place.get(pk) for key, pk in answer.get(name, {}).items()}
        for name in ("best", "worst")
    ]
    ranks = {
        key: [given.get(str(pk)) for pk in shown] for key, given in answer.get("ranks", {}).items()
    }
    return str([sorted(part.items()) for part in (answer.get("scores", {}), choices, *ends, ranks)])


def answer_values(answer: Answer, shown: Sequence[int]) -> dict[str, float]:
    """Return an answer as numbers, comparable with another annotator's for the same item: a score
    for each question that is not "n/a", or for comparisons a preference for each pair of outputs,
    in the order of their ids."""
    scores = answer.get("scores", {}).items()
    numbers = {key: float(score) for key, score in scores if score is not None}
    places = {pk: place for place, pk in enumerate(sorted(shown))}
    for pair in preference_pairs(answer, shown):
        name = f"{pair.criterion} {places[pair.output_a]} {places[pair.output_b]}"
        numbers[name] = float(pair.value)
    return numbers
