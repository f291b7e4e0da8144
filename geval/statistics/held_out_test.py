"""Test whether a judge's improvement holds on documents that were not used for any choice.

Both judges are compared on the same locked documents, ties counted (see `same_documents`), by the
interval over documents of the difference. The error of 5 % is divided over all looks at these
documents that a project may ever have and over the criteria of a look (Bonferroni), so that at most
5 % of projects ever have a wrong proof. Outputs that were drawn with different probabilities count
by their weights, so that a gain applies to all documents that could be drawn and locked.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from geval.statistics.arrays import Outputs, complete, mean_of
from geval.statistics.distributions import t_ppf
from geval.statistics.jackknife import (
    LeftOut,
    difference_interval,
    interval_of_difference,
    no_interval,
    t_quantile,
)
from geval.statistics.labels import label_kappa, label_kappa_lead
from geval.statistics.paired_labels import paired_shares
from geval.statistics.resampling import Interval
from geval.statistics.same_documents import Ranked, on_same_documents
from geval.statistics.shares import ShareEstimate, ends_of_sum
from geval.statistics.thresholds import LOCKED_DOCUMENTS, POWER, PROOF_ERROR
from geval.statistics.types import Estimate, FloatArray
from geval.statistics.within_systems import less_system_means, level_within, outputs_within


class ProofOutcome(StrEnum):
    """The outcome of a look."""

    PROVEN = "proven"
    NOT_PROVEN = "not proven"
    WORSE = "worse"


@dataclass(frozen=True)
class AgainstConstant:
    """A judge that always gives `value` on the locked documents: its mean absolute distance from
    people, and by how much the candidate is closer."""

    value: float
    distance: float
    gain: float
    interval: Interval

    @property
    def is_beaten(self) -> bool:
        """Whether the candidate is shown to be closer."""
        return self.interval.is_above_zero


@dataclass(frozen=True)
class Proof:
    """Two judges on the locked documents: their values, the first's gain with its interval, and the
    confidence; `ranked` is the number of documents in which each ranks outputs, None where
    distances are compared. There a candidate must also beat the best constant, as uninformative
    scores come closer to people when they are drawn to the middle. `within` is the interval of the
    gain in rank within systems (`is_within_gain`), which must not be shown to be below 0; where
    distances are compared, of the candidate's correlation there, which must be shown to be above 0.
    Otherwise the
    candidate may know only who wrote a text. None where it cannot be looked at."""

    candidate: Estimate
    today: Estimate
    gain: Estimate
    interval: Interval
    confidence: float
    documents: int
    ranked: Ranked | None = None
    constant: AgainstConstant | None = None
    within: Interval | None = None
    is_within_gain: bool = False

    @property
    def outcome(self) -> ProofOutcome:
        ends = self.interval.ends
        if ends is None or ends[0] <= 0 <= ends[1]:
            return ProofOutcome.NOT_PROVEN
        if ends[1] < 0:
            return ProofOutcome.WORSE
        is_shown = (self.constant is None or self.constant.is_beaten) and self._reads
        return ProofOutcome.PROVEN if is_shown else ProofOutcome.NOT_PROVEN

    @property
    def _reads(self) -> bool:
        """Whether the gain may come from reading."""
        if self.within is None:
            return True
        if not self.is_within_gain:
            return self.within.low is not None and self.within.low > 0
        return self.within.high is None or self.within.high >= 0


def confidence_of(looks: int, criteria: int) -> float:
    """Return the confidence of each interval, for the total number of allowed looks and the
    criteria of each."""
    return 1 - PROOF_ERROR / (max(1, looks) * max(1, criteria))


def gain_in_rank(
    outputs: Outputs,
    human: FloatArray,
    candidate: FloatArray,
    today: FloatArray,
    *,
    confidence: float,
) -> Proof:
    """Return how much better the candidate ranks outputs than today's judge: the difference of
    summary-level Spearman correlations on the same documents, in which people rank anything; a
    judge that ties all outputs of a document counts as 0 there.

    Args:
        human, candidate, today: shape (outputs,), NaN for missing.
    """
    outputs, (human, candidate, today) = _compact(outputs, human, candidate, today)
    same = on_same_documents(outputs, human, candidate, today)
    candidate_estimate, theirs = (
        _NOTHING if np.isnan(mean) else Estimate(mean) for mean in same.means
    )
    proof = _proof(
        candidate_estimate, theirs, 1, interval_of_difference(same, confidence), confidence, outputs
    )
    within = _within(outputs, human, candidate, today)
    return replace(proof, ranked=same.ranked, within=within, is_within_gain=True)


def _within(
    outputs: Outputs, human: FloatArray, candidate: FloatArray, other: FloatArray
) -> Interval | None:
    """Return the 95 % interval of how much better the candidate ranks within systems than other
    scores; None where that cannot be looked at."""
    counting = outputs_within(outputs, human, candidate + other)
    if counting is None:
        return None
    people, first, second = (
        less_system_means(outputs, np.where(counting, side, np.nan))
        for side in (human, candidate, other)
    )
    level = level_within(outputs, counting)
    return difference_interval(outputs, (people, first), (people, second), "spearman", level)


def gain_in_balance(
    outputs: Outputs,
    human: FloatArray,
    scores: tuple[FloatArray, FloatArray],
    verdicts: tuple[np.ndarray, np.ndarray],
    middle: float,
    *,
    confidence: float,
) -> Proof:
    """Return how much higher the candidate's balanced accuracy is than that of today's judge, from
    the differences in the share of right verdicts on fails and on passes (Zou and Donner, 2008):
    Student's t over documents errs where one class is rare.

    Args:
        human: shape (outputs,), NaN for missing.
        scores: the candidate's and today's judge's, each of shape (outputs,), NaN for missing.
        verdicts: which outputs each passes, masks of shape (outputs,).
        middle: the rating from which on people pass an output.
    """
    outputs, (human, *sides) = _compact(outputs, human, *scores, *verdicts)
    people = human >= middle
    rights = (sides[2] == people, sides[3] == people)
    fails, passes = (
        paired_shares(outputs.clustered, rights, kind, confidence) for kind in (~people, people)
    )
    candidate, today = (_half_of_both(fails.shares[at], passes.shares[at]) for at in (0, 1))
    ends, others = fails.interval.ends, passes.interval.ends
    if ends is None or others is None:
        interval = no_interval(fails.interval.reason or passes.interval.reason)
    else:
        halves = (fails.difference, ends, 0.5), (passes.difference, others, 0.5)
        interval = Interval(*ends_of_sum(*halves))
    proof = _proof(candidate, today, 1, interval, confidence, outputs)
    within = _within(outputs, human, sides[0], sides[1])
    return replace(proof, within=within, is_within_gain=True)


def gain_in_kappa(
    outputs: Outputs,
    human: FloatArray,
    candidate: FloatArray,
    today: FloatArray,
    labels: int,
    *,
    confidence: float,
) -> Proof:
    """Return how much higher the candidate's kappa with people is than that of today's judge, over
    the outputs that have all labels.

    Args:
        human, candidate, today: labels as whole numbers from 0; shape (outputs,), NaN for missing.
        labels: how many there are.
    """
    outputs, (human, candidate, today) = _compact(outputs, human, candidate, today)
    if not len(human):
        return _proof(_NOTHING, _NOTHING, 1, no_interval(_NOTHING.reason), confidence, outputs)
    own, its = (label_kappa(outputs, human, side, labels).estimate for side in (candidate, today))
    lead = label_kappa_lead(outputs, human, candidate, today, labels, confidence=confidence)
    return _proof(own, its, 1, lead, confidence, outputs)


def _half_of_both(found: ShareEstimate, kept: ShareEstimate) -> Estimate:
    values = found.estimate.value, kept.estimate.value
    if values[0] is None or values[1] is None:
        return _NOTHING
    return Estimate((values[0] + values[1]) / 2)


def gain_in_distance(
    outputs: Outputs,
    human: FloatArray,
    candidate: FloatArray,
    today: FloatArray,
    *,
    confidence: float,
    constant: float | None = None,
) -> Proof:
    """Return how much closer to people the candidate's scores are: today's mean absolute distance
    minus the candidate's, by document.

    It must be closer than both today's judge and the constant, so each is tested at the same
    confidence (Berger, 1982).

    Args:
        human, candidate, today: shape (outputs,), NaN for missing.
        constant: the best constant score, determined without these documents.
    """
    outputs, (human, candidate, today) = _compact(outputs, human, candidate, today)
    errors, theirs = np.abs(candidate - human), np.abs(today - human)
    interval = _interval_of_mean(outputs, theirs - errors, confidence)
    means = [Estimate(outputs.mean(side)) if len(human) else _NOTHING for side in (errors, theirs)]
    proof = replace(
        _proof(means[0], means[1], -1, interval, confidence, outputs),
        within=_within(outputs, human, candidate, np.zeros(len(human))),
    )
    if constant is None or not len(human):
        return proof
    always = np.abs(constant - human)
    beside = AgainstConstant(
        constant,
        outputs.mean(always),
        outputs.mean(always - errors),
        _interval_of_mean(outputs, always - errors, confidence),
    )
    return replace(proof, constant=beside)


def _interval_of_mean(outputs: Outputs, values: FloatArray, confidence: float) -> Interval:
    """Return the interval over documents of a mean over outputs.

    Args:
        values: shape (outputs,), complete.
    """
    by_document = mean_of(outputs.weighing(values), outputs.weighing())
    # In a weighted sample a document counts by the weight of all its outputs, as in the mean over
    # them.
    weight = None if outputs.weight is None else outputs.weighing()
    return LeftOut.of(outputs.documents, outputs.group).mean_interval(
        by_document, confidence, weight
    )


def smallest_gain(spread: float, documents: int, *, confidence: float) -> float:
    """Return the smallest gain that this many locked documents prove in 80 % of cases.

    Args:
        spread: the standard deviation over documents of the two judges' difference.
    """
    freedom = max(1, documents - 1)
    needed = t_quantile(freedom, confidence) + t_ppf(POWER, freedom)
    return float(needed * spread / np.sqrt(max(1, documents)))


def documents_for(spread: float, gain: float, *, confidence: float) -> int:
    """Return how many locked documents prove a gain in 80 % of cases; at least the smallest number
    for a look."""
    low, high = LOCKED_DOCUMENTS, LOCKED_DOCUMENTS
    while smallest_gain(spread, high, confidence=confidence) > gain:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        enough = smallest_gain(spread, middle, confidence=confidence) <= gain
        low, high = (low, middle) if enough else (middle, high)
    return high


def _compact(outputs: Outputs, *values: FloatArray) -> tuple[Outputs, list[FloatArray]]:
    """Select the outputs that have all values, without documents that have no such output."""
    outputs, values_of_units = complete(outputs, *values)
    everybody = np.ones(outputs.systems, dtype=bool)
    return outputs.among(outputs.documents_with(), everybody), values_of_units


_NOTHING = Estimate.undefined(
    "in no locked document are there ratings that differ, and both judges' scores"
)


def _proof(
    candidate: Estimate,
    today: Estimate,
    sign: int,
    interval: Interval,
    confidence: float,
    outputs: Outputs,
) -> Proof:
    """
    Args:
        sign: 1 where more is better, -1 where less is.
    """
    documents = int(outputs.documents_with().sum())
    if candidate.value is None or today.value is None:
        none = no_interval(_NOTHING.reason)
        return Proof(candidate, today, _NOTHING, none, confidence, documents)
    gain = Estimate(sign * (candidate.value - today.value))
    return Proof(candidate, today, gain, interval, confidence, documents)
