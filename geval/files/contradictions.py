"""Contradictions in files: the same thing twice with different values, and ratings off a scale."""

from geval.statistics.scales import ScaleGuess

# How much two numbers of the same score may differ, as a share of the larger: files round.
SAME = 1e-10
SCORES = (
    "score {:.12g} contradicts {:.12g}, the score that this output already has on this criterion"
)
REPLIES = "this output already has different replies on {}"
OUTPUTS = "system {} has a different output for document {} at {}"
OUTSIDE = "score {:g} is outside {}'s scale {}; change it or the scale"
PREFERENCES = "contradicts this annotator's existing preference about these two outputs"
VERDICTS = "contradicts another row about these two outputs in this order"
PROBABILITIES = (
    "the probability {:g} contradicts {:g} of another rating of the same output on this criterion;"
    " state one for all of them"
)


def are_same(one_score: float, other: float) -> bool:
    """Return whether two numbers are the same score, except for rounding."""
    return abs(one_score - other) <= SAME * max(abs(one_score), abs(other))


def stray(rating: float, guess: ScaleGuess, name: str, *, others: int, wider: str) -> str:
    """Return the error message for a rating that is off the scale of a criterion's other ratings.

    Args:
        others: how many ratings are on the scale.
        wider: how to say that a wider scale is right, such as "confirm that the scale is 1-10".
    """
    if guess.is_mixed:
        return (
            f"{rating:g} is on another scale than the {others:,} ratings of {name} that seem to be"
            f" on {guess.scale}; bring all to one scale, or {wider} for all"
        )
    return (
        f"{rating:g} is off {guess.scale}, the scale of the other {others:,} ratings of {name};"
        f" correct it, or {wider}"
    )
