"""The ratings that an annotator of average severity would give.

Mean ratings depend on the raters: where annotators rate different outputs, an output with strict
annotators looks worse than it is. The many-facet Rasch model (Linacre, 1989) with Andrich's (1978)
rating scale treats ratings as steps of an ordinal scale, whose distances need not be equal:

    log P(k) - log P(k - 1) = quality of the output - severity of the annotator - step k

Severities and steps follow from the conditional likelihood given each output's sum (Andersen, 1972;
for raters, Eckes, 2015): no distribution of qualities is assumed, and estimates are consistent with
few ratings per output, where joint maximum likelihood is not. The distribution of qualities is then
estimated on a grid (Laird, 1978), and adjusted scores are posterior means under it.

The model assumes that annotators differ only in severity: for how well they distinguish outputs see
`latent_classes`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from geval.statistics.arrays import Ratings, sums
from geval.statistics.thresholds import RATING_VALUES, SEVERITY_SHARED
from geval.statistics.types import Consensus, FloatArray, IntArray

# A weak normal prior, so that an annotator who is always the stricter one has a finite severity.
RIDGE = 0.01
# The grid of qualities, in logits, on which their distribution is estimated.
GRID = np.linspace(-10.0, 10.0, 61)
MOST_ROUNDS, CHANGE = 500, 1e-7
ONE_VALUE = "all ratings are the same"
MANY_VALUES = f"ratings take more than {RATING_VALUES} values, too many for an ordinal model"
ALONE = f"no two annotators share {SEVERITY_SHARED} outputs with others"


def adjusted_ratings(ratings: Ratings) -> Consensus:
    """Return for each output the expected rating by an average annotator.

    Only annotators linked by common outputs can be compared; of several linked groups the largest
    is used.
    """
    values = np.unique(ratings.value)
    linked = _linked(ratings)
    reason = ""
    if len(values) < 2:
        reason = ONE_VALUE
    elif len(values) > RATING_VALUES:
        reason = MANY_VALUES
    elif not linked.any():
        reason = ALONE
    if reason:
        return Consensus(np.full(ratings.outputs, np.nan), reason)
    part = ratings.among(np.ones(ratings.outputs, dtype=bool), linked)
    model = _Conditional(_Patterns.of(part, values))
    severity, steps = model.fitted()
    share = _share_of_qualities(model.patterns, severity, steps)
    return Consensus(_adjusted(model.patterns, severity, steps, values, share, ratings.outputs))


def _linked(ratings: Ratings) -> np.ndarray:
    """Return which annotators share enough outputs with others and belong to the largest linked
    group; shape (raters,)."""
    enough = np.ones(ratings.raters, dtype=bool)
    while True:
        among_them = ratings.among(np.ones(ratings.outputs, dtype=bool), enough)
        own = np.zeros(ratings.raters)
        own[enough] = among_them.shared
        still = enough & (own >= SEVERITY_SHARED)
        if (still == enough).all():
            break
        enough = still
    group = np.arange(ratings.raters)
    output, rater = ratings.output, ratings.rater
    counted = enough[rater]
    output, rater = output[counted], rater[counted]
    while True:
        least = np.full(ratings.outputs, ratings.raters)
        np.minimum.at(least, output, group[rater])
        joined = group.copy()
        np.minimum.at(joined, rater, least[output])
        if (joined == group).all():
            break
        group = joined
    size = sums(group, enough.astype(float), ratings.raters)
    return np.asarray(enough & (group == int(size.argmax())))


@dataclass(frozen=True, eq=False)
class _Patterns:
    """Outputs by raters and by the sum of their codes, which together are sufficient for an
    output's quality.

    Each block has outputs with equally many ratings: `raters` of shape (patterns, size), `total` of
    shape (patterns,), `outputs` and their patterns (`pattern`), and `codes` of shape (outputs,
    size).
    """

    blocks: "tuple[_Block, ...]"
    raters: int
    codes: int

    @classmethod
    def of(cls, ratings: Ratings, values: FloatArray) -> "_Patterns":
        code = np.searchsorted(values, ratings.value)
        blocks = []
        for block in ratings.blocks:
            raters, codes = ratings.rater[block.members], code[block.members]
            order = np.argsort(raters, axis=1)
            raters, codes = (np.take_along_axis(side, order, 1) for side in (raters, codes))
            rows = np.column_stack([raters, codes.sum(axis=1)])
            patterns, indexes = np.unique(rows, axis=0, return_inverse=True)
            blocks.append(
                _Block(patterns[:, :-1], patterns[:, -1], block.groups, indexes.ravel(), codes)
            )
        return cls(tuple(blocks), ratings.raters, len(values))

    def __iter__(self) -> "Iterator[_Block]":
        return iter(self.blocks)


@dataclass(frozen=True, eq=False)
class _Block:
    raters: IntArray
    total: IntArray
    outputs: IntArray
    pattern: IntArray
    codes: IntArray

    @cached_property
    def count(self) -> FloatArray:
        """The number of outputs with each pattern."""
        return sums(self.pattern, None, len(self.total))


class _Conditional:
    """The conditional likelihood. Parameters are severities, then `steps`: what each code but the
    first and the last adds to the logarithm of its probability; these two are fixed at 0."""

    def __init__(self, patterns: _Patterns) -> None:
        self.patterns = patterns
        self.size = patterns.raters + patterns.codes - 2

    def fitted(self) -> tuple[FloatArray, FloatArray]:
        """Return severities of shape (raters,), which sum to 0 because of the prior, and what each
        code adds, (codes,)."""
        from scipy import optimize  # noqa: PLC0415 (takes most of a second)

        fit = optimize.minimize(
            self._loss, np.zeros(self.size), jac=True, method="BFGS", options={"gtol": 1e-6}
        )
        return self._parts(fit.x)

    def _parts(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        severity, inner = np.split(parameters, [self.patterns.raters])
        return severity, np.concatenate([[0.0], inner, [0.0]])

    def _loss(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        severity, steps = self._parts(parameters)
        loss, gradient = RIDGE / 2 * float(parameters @ parameters), RIDGE * parameters
        for block in self.patterns:
            logs, expected = _given_total(block, severity, steps)
            observed = steps[block.codes] - block.codes * severity[block.raters[block.pattern]]
            loss += float(logs @ block.count - observed.sum())
            gradient = gradient - self._by_output(block, expected).sum(axis=0)
        return loss, gradient

    def _by_output(self, block: _Block, expected: FloatArray) -> FloatArray:
        """Return the score function by output: observed minus expected; shape (outputs,
        parameters)."""
        codes = self.patterns.codes
        rows = np.arange(len(block.codes))[:, None]
        score = np.zeros((len(block.codes), self.size))
        mean = expected @ np.arange(codes)
        of_rater = mean[block.pattern] - block.codes
        np.add.at(score, (rows, block.raters[block.pattern]), of_rater)
        for code in range(1, codes - 1):
            surplus = (block.codes == code) - expected[block.pattern][:, :, code]
            score[:, self.patterns.raters + code - 1] = surplus.sum(axis=1)
        return score


def _given_total(
    block: _Block, severity: FloatArray, steps: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the log weight of each pattern's total, and the probability that each of its raters
    gave each code, given the total; shapes (patterns,) and (patterns, size, codes). Uses forward
    and backward sums over raters, as in a hidden Markov model."""
    codes = len(steps)
    patterns, size = block.raters.shape
    length = size * (codes - 1) + 1
    weight = steps - np.arange(codes) * severity[block.raters][:, :, None]
    scale = weight.max(axis=2, keepdims=True)
    weight = np.exp(weight - scale)
    logs = scale.sum(axis=(1, 2))
    before = [np.zeros((patterns, length))]
    before[0][:, 0] = 1.0
    for index in range(size):
        summed = _shifted(before[-1], weight[:, index])
        total = summed.sum(axis=1, keepdims=True)
        logs = logs + np.log(total[:, 0])
        before.append(summed / total)
    rows = np.arange(patterns)
    logs = logs + np.log(before[-1][rows, block.total])
    # The weights of what the remaining raters must add, going backwards from the total.
    needed = np.zeros((patterns, length))
    needed[rows, block.total] = 1.0
    expected = np.empty((patterns, size, codes))
    for index in reversed(range(size)):
        for code in range(codes):
            given = before[index][:, : length - code] * needed[:, code:]
            expected[:, index, code] = weight[:, index, code] * given.sum(axis=1)
        needed = _shifted_back(needed, weight[:, index])
        needed /= needed.sum(axis=1, keepdims=True)
    expected /= expected.sum(axis=2, keepdims=True)
    return logs, expected


def _shifted(sums_before: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weights of sums after adding another rater's code."""
    shifted = np.zeros_like(sums_before)
    for code in range(weight.shape[1]):
        kept = sums_before[:, : sums_before.shape[1] - code]
        shifted[:, code:] += weight[:, code, None] * kept
    return shifted


def _shifted_back(needed: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the weights of sums from which this rater's code leads to the needed ones."""
    shifted_back = np.zeros_like(needed)
    for code in range(weight.shape[1]):
        shifted_back[:, : needed.shape[1] - code] += weight[:, code, None] * needed[:, code:]
    return shifted_back


def _probabilities(quality: FloatArray, severity: float, steps: FloatArray) -> FloatArray:
    """Return the probability of each code at some qualities; shape (qualities, codes)."""
    probabilities: FloatArray = special.softmax(
        np.multiply.outer(quality - severity, np.arange(len(steps))) + steps, axis=1
    )
    return probabilities


def _likelihood(block: _Block, severity: FloatArray, steps: FloatArray) -> FloatArray:
    """Return the likelihood of each pattern's total at each quality of the grid, up to a factor per
    pattern; shape (patterns, grid)."""
    norm = np.array(
        [
            special.logsumexp(np.multiply.outer(GRID - own, np.arange(len(steps))) + steps, axis=1)
            for own in severity
        ]
    )
    logs = np.multiply.outer(block.total, GRID) - norm[block.raters].sum(axis=1)
    likelihood: FloatArray = np.exp(logs - logs.max(axis=1, keepdims=True))
    return likelihood


def _share_of_qualities(patterns: _Patterns, severity: FloatArray, steps: FloatArray) -> FloatArray:
    """Estimate the distribution of outputs over the grid, by EM from a uniform one."""
    likelihood = np.concatenate([_likelihood(block, severity, steps) for block in patterns])
    count = np.concatenate([block.count for block in patterns])
    share = np.full(len(GRID), 1 / len(GRID))
    for _ in range(MOST_ROUNDS):
        posterior = likelihood * share
        posterior /= posterior.sum(axis=1, keepdims=True)
        renewed = count @ posterior / count.sum()
        change = np.abs(renewed - share).max()
        share = renewed
        if change < CHANGE:
            break
    return share


def _adjusted(
    patterns: _Patterns,
    severity: FloatArray,
    steps: FloatArray,
    values: FloatArray,
    share: FloatArray,
    outputs: int,
) -> FloatArray:
    """Return the expected rating of each output by an average annotator, given its ratings."""
    average = _probabilities(GRID, 0.0, steps) @ values
    adjusted = np.full(outputs, np.nan)
    for block in patterns:
        posterior = _likelihood(block, severity, steps) * share
        posterior /= posterior.sum(axis=1, keepdims=True)
        adjusted[block.outputs] = (posterior @ average)[block.pattern]
    return adjusted
