"""Draw samples with known probabilities, more often where a prediction is likely to be wrong.

Active choice (Zrnic and Candès, 2024, "Active statistical inference"): what is drawn depends on how
large the judge's error is likely to be, mixed with equal probabilities, so that no probability is
near 0 and weights are bounded. Samples have a fixed size and exactly the requested probabilities:
systematic sampling from a list in random order (Madow, 1949; Hartley and Rao, 1962).
"""

import numpy as np

from geval.statistics.types import FloatArray, IntArray

# The share of a sample with equal probabilities. Weights are then at most twice those of a uniform
# sample.
UNIFORM_SHARE = 0.5
# A group's mean is shrunk towards that of all, as if with this many additional ratings.
SHRINKING = 5
# A finer group has too few ratings to show how wrong the judge is there.
SCORE_GROUPS = 10


def equal_probabilities(units: int, size: float) -> FloatArray:
    """Return a uniform sample's probabilities; shape (units,)."""
    return np.full(units, min(1.0, size / units) if units else 0.0)


def proportional_probabilities(measure: FloatArray, size: float) -> FloatArray:
    """Return probabilities proportional to a measure, at most 1, with a sum of `size`; shape
    (units,).

    Args:
        measure: shape (units,), at least 0; where the rest is all 0, the probabilities are equal.
    """
    proportional_probabilities = np.zeros(len(measure))
    size = min(size, float(len(measure)))
    certain = np.zeros(len(measure), dtype=bool)
    while not certain.all():
        left = ~certain
        rest = size - certain.sum()
        total = measure[left].sum()
        proportional_probabilities[left] = (
            rest * measure[left] / total if total > 0 else equal_probabilities(left.sum(), rest)
        )
        over = left & (proportional_probabilities >= 1)
        if not over.any():
            break
        certain |= over
    proportional_probabilities[certain] = 1.0
    return proportional_probabilities


def active_probabilities(error: FloatArray, size: float) -> FloatArray:
    """Mix equal probabilities with probabilities proportional to a predicted error; shape (units,).

    Args:
        error: shape (units,), the judge's predicted error, NaN where unknown, which counts as the
            mean of the known ones.
    """
    if not len(error):
        return np.zeros(0)
    defined = error[~np.isnan(error)]
    filled = np.nan_to_num(error, nan=float(defined.mean()) if len(defined) else 1.0)
    equal = equal_probabilities(len(error), size)
    proportional = proportional_probabilities(filled, size)
    return UNIFORM_SHARE * equal + (1 - UNIFORM_SHARE) * proportional


def draw_systematically(probabilities: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw units with exactly these probabilities; their number is the sum, rounded up or down.

    Returns:
        Positions, ascending.
    """
    order = rng.permutation(len(probabilities))
    # Rounded, so that an integral sum stays integral despite rounding errors.
    passed = np.round(np.cumsum(probabilities[order]), 9)
    marks = np.floor(passed + rng.random())
    before = np.append(0.0, marks[:-1])
    return np.sort(order[marks > before])


def in_any(*probabilities: FloatArray) -> FloatArray:
    """Return the probability of being in at least one of several independently drawn samples."""
    first, *others = probabilities
    if not others:
        return first
    left_out = 1 - first
    for other in others:
        left_out = left_out * (1 - other)
    return 1 - left_out


def predicted_errors(human: FloatArray, judge: FloatArray, system: IntArray) -> FloatArray:
    """Predict how far people's ratings are from a regression on the judges' scores.

    Uses the squared errors of a regression line through the rated outputs, by system and by decile
    of scores: both as multiples of the overall one, and shrunk towards it.

    Args:
        human, judge: shape (outputs,), NaN for missing.
        system: shape (outputs,).

    Returns:
        Shape (outputs,); NaN where fewer than two outputs are rated.
    """
    rated = ~np.isnan(human)
    if rated.sum() < 2:
        return np.full(len(human), np.nan)
    scored = rated & ~np.isnan(judge)
    error = np.where(rated, human - human[rated].mean(), np.nan)
    if scored.sum() > 2 and np.ptp(judge[scored]) > 0:
        slope, level = np.polyfit(judge[scored], human[scored], 1)
        error[scored] = human[scored] - level - slope * judge[scored]
    squared = error**2
    overall = float(squared[rated].mean())
    if not overall:
        return np.ones(len(human))
    predicted = np.full(len(human), overall)
    defined = judge[~np.isnan(judge)]
    groups = [system]
    if len(defined):
        cuts = np.unique(np.quantile(defined, np.linspace(0, 1, SCORE_GROUPS + 1)[1:-1]))
        # Outputs without a score are a separate group.
        groups.append(np.where(np.isnan(judge), len(cuts) + 1, np.searchsorted(cuts, judge)))
    for group in groups:
        _, indexes = np.unique(group, return_inverse=True)
        total = np.bincount(indexes, np.where(rated, squared, 0.0))
        deviation = (total + SHRINKING * overall) / (np.bincount(indexes, rated) + SHRINKING)
        predicted *= (deviation / overall)[indexes]
    errors: FloatArray = np.sqrt(predicted)
    return errors
