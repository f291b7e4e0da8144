"""How repeatable a judge's scores are when the same items are asked again.

The replies of an item are taken as ratings by interchangeable raters (one-way random effects;
Shrout and Fleiss, 1979). The effect of more replies follows Spearman (1910) and Brown (1910): the
mean of k replies has the variance between items plus that within items over k.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.arrays import Outputs, Ratings, equal_pairs, mean_of, sums
from geval.statistics.coefficients import pearson
from geval.statistics.labels import most_frequent_point
from geval.statistics.reliability import one_way
from geval.statistics.scales import Scale
from geval.statistics.shares import ShareEstimate, share_of_outputs
from geval.statistics.thresholds import REPLIES_ITEMS
from geval.statistics.types import Estimate, FloatArray, IntArray

_NO_ORDER = Estimate.undefined("labels have no order")
_FEW = f"fewer than {REPLIES_ITEMS} items have two replies or more"


@dataclass(frozen=True)
class Repeatability:
    """How far replies to the same question differ.

    `items` have two or more readable replies, `replies` on average. `icc` is the reliability of one
    reply, `reply_error` its standard error and `score_error` that of a score, which is the mean of
    an item's replies, both in points of the scale. `differ` is the chance that two replies to one
    question differ, `flips` the chance that, asked twice, the judge puts two outputs of a document
    in opposite orders. `pearson` is the correlation of scores with people's mean over all outputs.
    """

    items: int
    replies: float
    icc: Estimate
    reply_error: Estimate
    score_error: Estimate
    differ: Estimate
    flips: Estimate
    pearson: Estimate
    between: float = 0.0
    within: float = 0.0
    noise: float = 0.0

    @property
    def of_labels(self) -> "Repeatability":
        """The same of labels without an order: only whether two replies differ."""
        return replace(
            self,
            icc=_NO_ORDER,
            reply_error=_NO_ORDER,
            score_error=_NO_ORDER,
            flips=_NO_ORDER,
            pearson=_NO_ORDER,
        )

    def pearson_with(self, replies: int) -> Estimate:
        """Return the correlation with people that scores from this many replies would have."""
        if self.pearson.value is None:
            return self.pearson
        now, then = self.between + self.noise, self.between + self.within / replies
        if now <= 0 or then <= 0:
            return Estimate.undefined("replies differ as much within items as between them")
        return Estimate(max(-1.0, min(1.0, self.pearson.value * math.sqrt(now / then))))


def repeatability(
    replies: Ratings, outputs: Outputs, human: FloatArray | None = None
) -> Repeatability:
    """Compute how repeatable a judge is on one criterion.

    Args:
        replies: ratings of outputs; the raters are the first, second, … reply to each item.
        outputs: the outputs that were asked about.
        human: people's mean of each output; shape (outputs,), NaN for missing.
    """
    again = replies.count > 1
    items = int(again.sum())
    if items < REPLIES_ITEMS:
        few = Estimate.undefined(_FEW)
        return Repeatability(items, 0.0, few, few, few, few, few, few)
    count, means = replies.count[again].astype(float), mean_of(replies.total, replies.count)
    repeated = again[replies.output]
    value, output = replies.value[repeated], replies.output[repeated]
    within = float(((value - means[output]) ** 2).sum() / (len(value) - items))
    noise = within * float((1 / count).mean())
    between = max(0.0, float(means[again].var(ddof=1)) - noise)
    rated = human is not None and again & ~np.isnan(human)
    return Repeatability(
        items=items,
        replies=float(count.mean()),
        icc=one_way(replies),
        reply_error=Estimate(math.sqrt(within)),
        score_error=Estimate(math.sqrt(noise)),
        differ=_differ(replies),
        flips=_flips(replies, outputs),
        pearson=_pearson(means, human, rated),
        between=between,
        within=within,
        noise=noise,
    )


def _pearson(means: FloatArray, human: FloatArray | None, rated: np.ndarray | bool) -> Estimate:
    if human is None or isinstance(rated, bool) or rated.sum() < REPLIES_ITEMS:
        return Estimate.undefined(f"fewer than {REPLIES_ITEMS} of the items are rated by people")
    judge, people = means[rated], human[rated]
    if judge.std() == 0 or people.std() == 0:
        return Estimate.undefined("all scores, or all ratings, are the same")
    return Estimate(float(pearson(judge, people)))


def scores_of_repeats(
    output: IntArray, value: FloatArray, outputs: int, scale: Scale | None = None
) -> tuple[FloatArray, np.ndarray]:
    """Combine the scores that a judge gave outputs again and again: the vote where there are only
    two values, in a tie the lower one (a fail), and otherwise the mean. Of labels without an order
    it is the most frequent one, in a tie none.

    Args:
        output, value: shape (scores,).
        scale: their scale, None where they have no criterion.

    Returns:
        the scores of outputs, NaN where there are none, and whether each was scored more than
        once; both of shape (outputs,).
    """
    count = np.bincount(output, minlength=outputs)
    if scale is not None and not scale.is_ordered and (count > 1).any():
        return most_frequent_point(_as_ratings(output, value, outputs), scale), count > 1
    mean = mean_of(sums(output, value, outputs), count.astype(float))
    points = np.unique(value)
    if len(points) == 2:
        mean = np.where(np.isnan(mean), mean, points[(mean > points.mean()).astype(int)])
    return mean, count > 1


def _as_ratings(output: np.ndarray, value: np.ndarray, outputs: int) -> Ratings:
    """Return repeated scores as ratings by the first, second and later repeat of each output."""
    order = np.argsort(output, kind="stable")
    output, value = output[order], value[order]
    first = np.searchsorted(output, output)
    repeat = np.arange(len(output)) - first
    return Ratings(output, repeat, value, outputs, int(repeat.max(initial=0)) + 1)


def share_that_repeats(
    outputs: Outputs, output: IntArray, value: FloatArray, scale: Scale
) -> ShareEstimate:
    """Return the share of the outputs with several scores whose scores all round to the same point
    of the scale, with its interval over documents.

    Args:
        output, value: shape (scores,).
    """
    count = np.bincount(output, minlength=len(outputs))
    point = np.round((value - scale.lowest) / scale.step)
    highest, lowest = np.full(len(outputs), -np.inf), np.full(len(outputs), np.inf)
    np.maximum.at(highest, output, point)
    np.minimum.at(lowest, output, point)
    again = count > 1
    return share_of_outputs(outputs.clustered, again & (highest == lowest), again)


def _differ(replies: Ratings) -> Estimate:
    """Return the share of unequal pairs of replies, averaged over items."""
    shares = []
    for block in replies.blocks:
        if block.size < 2:
            continue
        rows = np.sort(replies.value[block.members], axis=1)
        same = equal_pairs(rows)
        shares.append(1 - same / (block.size * (block.size - 1) / 2))
    return Estimate(float(np.concatenate(shares).mean()))


def _flips(replies: Ratings, outputs: Outputs) -> Estimate:
    """Return the probability that two rounds order two outputs of a document oppositely.

    Asking k gives one reply to each of the two; of n askings with both, u put the first higher and
    d lower, and 2 u d / (n (n - 1)) is the share of pairs of askings that disagree.
    """
    table = np.full((replies.outputs, replies.raters), np.nan)
    table[replies.output, replies.rater] = replies.value
    total, pairs = 0.0, 0
    for block in outputs.blocks:
        members = table[block.members]  # (documents, outputs of each, replies)
        for first in range(block.size):
            for second in range(first + 1, block.size):
                gap = members[:, first] - members[:, second]
                shared = (~np.isnan(gap)).sum(axis=1)
                up, down = (gap > 0).sum(axis=1), (gap < 0).sum(axis=1)
                usable = shared > 1
                each = 2 * up[usable] * down[usable] / (shared * (shared - 1))[usable]
                total, pairs = total + float(each.sum()), pairs + int(usable.sum())
    if not pairs:
        return Estimate.undefined("no document has two outputs that were asked about twice")
    return Estimate(total / pairs)
