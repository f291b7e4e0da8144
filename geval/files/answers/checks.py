"""Compare the answer to a check with the expected one. Pure.

An expected answer has the form of an answer: `scores`, `best` and `worst`, `ranks`; for pairs
`winners` (an output's id, 0 for a tie). An attention check cannot name outputs, as each annotator
sees them in another order: `side` is "left" or "right", `places` are positions as shown, from 0.
After a practice item annotators read the `reason`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

# Points such as 0.1 + 0.2 are inexact as floats: a difference of exactly the tolerance passes.
ROUNDING = 1e-9


def is_as_expected(
    answer: Mapping[str, Any], expected: Mapping[str, Any], shown: Sequence[int], *,
    tolerance: float = 0.0,
) -> bool:  # fmt: skip
    """Return whether every question with an expected answer got it.

    Args:
        shown: the outputs in the order in which the annotator saw them.
        tolerance: how far a score or a rank may be from the expected one.
    """
    return all(
        check(answer, expected[part], shown, tolerance)
        for part, check in _CHECKS.items()
        if part in expected
    )


def _scores(answer: Any, expected: Any, _shown: Sequence[int], tolerance: float) -> bool:
    given = answer.get("scores", {})
    return all(
        key in given and is_near(given[key], point, tolerance) for key, point in expected.items()
    )


def is_near(score: float | None, expected: float | None, tolerance: float) -> bool:
    """Return whether a score is as expected; None, for "n/a", is near None alone."""
    if score is None or expected is None:
        return score is expected
    return abs(score - expected) <= tolerance + ROUNDING


def _winners(answer: Any, expected: Any, shown: Sequence[int], _tolerance: float) -> bool:
    choices = answer.get("choices", {})
    return all(
        key in choices and winner_of(choices[key], shown) == winner
        for key, winner in expected.items()
    )


def winner_of(choice: int, shown: Sequence[int]) -> int:
    """Return the output that a choice prefers, 0 for a tie."""
    return 0 if choice == 0 else shown[0] if choice > 0 else shown[1]


def _side(answer: Any, expected: Any, _shown: Sequence[int], _tolerance: float) -> bool:
    sign = 1 if expected == "left" else -1
    return all(choice * sign > 0 for choice in answer.get("choices", {}).values())


def _end(part: str) -> Any:
    def check(answer: Any, expected: Any, _shown: Sequence[int], _tolerance: float) -> bool:
        return all(answer.get(part, {}).get(key) == pk for key, pk in expected.items())

    return check


def _ranks(answer: Any, expected: Any, _shown: Sequence[int], tolerance: float) -> bool:
    given = answer.get("ranks", {})
    return all(
        abs(given.get(key, {}).get(output, 0) - rank) <= tolerance + ROUNDING
        for key, ranks in expected.items()
        for output, rank in ranks.items()
    )


def _places(answer: Any, expected: Any, shown: Sequence[int], _tolerance: float) -> bool:
    """Return the positions of the first and last output as shown, in best-worst choices and
    rankings."""
    best, worst = shown[expected["best"]], shown[expected["worst"]]
    if "best" in answer:
        return all(pk == best for pk in answer["best"].values()) and all(
            pk == worst for pk in answer["worst"].values()
        )
    return all(
        ranks.get(str(best)) == 1 and ranks.get(str(worst)) == len(shown)
        for ranks in answer.get("ranks", {}).values()
    )


_CHECKS = {
    "scores": _scores, "winners": _winners, "side": _side, "best": _end("best"),
    "worst": _end("worst"), "ranks": _ranks, "places": _places,
}  # fmt: skip
