"""A judge's correlation with noise-free ratings (correction for attenuation).

Spearman (1904), "The proof and measurement of association between two things": noise of the ratings
lowers a correlation by the square root of their reliability. The reliability is taken from outputs
that several people rated, by analysis of variance. The judge's own noise is not corrected: it is
part of the judge. Outputs that were drawn with different probabilities count by their weights,
scaled so that these sum to the number of outputs.
"""

from dataclasses import dataclass

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, mean_of, sums
from geval.statistics.jackknife import LeftOut, documents_counting, no_interval
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import NOISE_DOCUMENTS, NOISE_OUTPUTS, NOISE_RELIABILITY
from geval.statistics.types import Estimate, FloatArray

FEW_TWICE = f"fewer than {NOISE_OUTPUTS} outputs were rated by two people"
NOISY = (
    f"the mean rating's reliability is below {NOISE_RELIABILITY}: mostly noise, so that nothing"
    " can be said of what is behind it"
)
SAME = "the mean ratings or the judge's scores are all the same"
# A variance up to this comes from rounding: means have ten decimals.
LEAST_VARIANCE = 1e-20


@dataclass(frozen=True)
class Disattenuated:
    """Pearson's r over outputs, corrected for the noise of the mean rating, which has this
    `reliability`, with an interval over documents. It may exceed 1 by chance."""

    estimate: Estimate
    interval: Interval
    reliability: Estimate


def disattenuated(
    outputs: Outputs, ratings: Ratings, judge: FloatArray, documents: LeftOut
) -> Disattenuated:
    """Return a judge's correlation at dataset level, corrected for the noise of ratings.

    Where everybody rated every output, a consistently strict person adds no noise; elsewhere
    that is noise too.

    Args:
        judge: shape (outputs,), NaN for missing.
    """
    scored = ~np.isnan(judge) & (ratings.count > 0)
    twice = scored & (ratings.count > 1)
    if twice.sum() < NOISE_OUTPUTS:
        return _nothing(FEW_TWICE)
    weight = None if outputs.weight is None else outputs.weight / outputs.weight[scored].mean()
    parts = _parts(outputs, ratings, judge, scored, documents, weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = parts.sum(axis=1, keepdims=True)
        reliability, value = (number.item() for number in _corrected(total))
        _, without = _corrected(total - parts)
    if not np.isfinite(reliability):
        return _nothing(SAME)
    reliable = Estimate(reliability)
    if reliability < NOISE_RELIABILITY:
        return _nothing(NOISY, reliable)
    if not np.isfinite(value):
        return _nothing(SAME, reliable)
    counting = documents_counting(outputs.part(scored))
    return Disattenuated(
        Estimate(value),
        documents.interval(
            value, without, counting=counting, least=NOISE_DOCUMENTS, by_influence=True
        ),
        reliable,
    )


def _nothing(reason: str, reliability: Estimate | None = None) -> Disattenuated:
    none = Estimate.undefined(reason)
    return Disattenuated(none, no_interval(reason), reliability or none)


def _parts(
    outputs: Outputs,
    ratings: Ratings,
    judge: FloatArray,
    scored: np.ndarray,
    documents: LeftOut,
    weight: FloatArray | None,
) -> FloatArray:
    """Sums by the groups in which documents are left out; shape (8, groups): outputs, mean ratings,
    scores, their squares and product, shares of one rating's noise in means, squared deviations
    from the output's mean, and their degrees of freedom."""
    mean = ratings.total[scored] / ratings.count[scored]
    # Centred, so that little precision is lost where squares are subtracted.
    human, score = mean - mean.mean(), judge[scored] - judge[scored].mean()
    count = ratings.count[scored]
    deviation = _deviations(ratings, scored, weight)
    squared = sums(ratings.output, deviation**2, ratings.outputs)[scored]
    raters = _raters_of_all(ratings, scored)
    free = (count - 1) * (1 - 1 / len(count) if raters else 1.0)
    of_output = (
        np.ones(len(count)), human, score, human**2, score**2, human * score, 1 / count, squared,
        free,
    )  # fmt: skip
    if weight is not None:
        of_output = tuple(part * weight[scored] for part in of_output)
    group = documents.group[outputs.document[scored]]
    return np.stack([sums(group, part, documents.groups) for part in of_output])


def _raters_of_all(ratings: Ratings, scored: np.ndarray) -> bool:
    """Return whether the same people rated every output."""
    given = np.bincount(ratings.rater[scored[ratings.output]], minlength=ratings.raters)
    return bool(np.isin(given, (0, scored.sum())).all())


def _deviations(ratings: Ratings, scored: np.ndarray, weight: FloatArray | None) -> FloatArray:
    """Return each rating's distance from its output's mean, without raters' severity where
    everybody rated everything; shape (ratings,), of the outputs used."""
    means = np.zeros(ratings.outputs)
    means[scored] = ratings.total[scored] / ratings.count[scored]
    deviation = np.where(scored[ratings.output], ratings.value - means[ratings.output], 0.0)
    if not _raters_of_all(ratings, scored):
        return deviation
    given = scored[ratings.output].astype(float)
    own = deviation
    if weight is not None:
        given = given * weight[ratings.output]
        own = deviation * weight[ratings.output]
    strictness = mean_of(*(sums(ratings.rater, side, ratings.raters) for side in (own, given)))
    return deviation - strictness[ratings.rater]


def _corrected(parts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the reliability of the mean rating, and the corrected correlation; shape (groups,)."""
    n, human, score, human_2, score_2, product, shares, squared, free = parts
    of_means = (human_2 - human**2 / n) / (n - 1)
    of_scores = (score_2 - score**2 / n) / (n - 1)
    together = (product - human * score / n) / (n - 1)
    noise = squared / free * shares / n
    # Equal fractions, such as 3.3, have means and a variance with rounding errors.
    of_means, of_scores = (
        np.where(of > LEAST_VARIANCE, of, np.nan) for of in (of_means, of_scores)
    )
    reliability = 1 - noise / of_means
    return reliability, together / np.sqrt(of_scores * of_means * reliability)
