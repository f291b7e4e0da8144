"""What influences a judge's scores that should not, and how its scores compare with people's.

A probe changes something irrelevant to quality; its effect is the mean difference of an output's
scores with and without it. Outputs of a document are correlated, so documents are left out in turn
(jackknife, Student's t), and Holm's (1979) adjustment holds the chance of any false finding at 5 %,
over all probes and checks of a study together.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from geval.statistics.arrays import Outputs
from geval.statistics.distributions import t_cdf, t_tail
from geval.statistics.jackknife import LeftOut, t_interval
from geval.statistics.labels import kappas
from geval.statistics.resampling import Interval
from geval.statistics.significance import holm
from geval.statistics.thresholds import (
    INTERVAL_DOCUMENTS,
    PROBE_RELIABILITY,
    PROBE_SPREAD,
    SIGNIFICANCE,
)
from geval.statistics.types import FloatArray

SEVERITY, SPREAD, NOISE, REPEATED = "severity", "spread", "noise", "repeated"
# A judge that gives every output the same has no variance, whose logarithm is infinite.
_CLIP = 1e-9


@dataclass(frozen=True)
class Finding:
    """The effect of a probe, or a check.

    `value` is in points for probes and severity (scores less ratings), the ratio of the standard
    deviations for the spread, ICC(1) for noise; of labels the share that stays, and kappa. None,
    with a reason, where undefined. `p` is of the hypothesis that all is well: no effect
    (two-sided), or a spread, a reliability or a share of labels that is not too small (one-sided);
    `adjusted` by Holm over the whole study.
    """

    name: str
    outputs: int
    documents: int
    value: float | None
    interval: Interval | None = None
    p: float | None = None
    adjusted: float | None = None
    reason: str = ""

    @property
    def is_found(self) -> bool:
        """Whether an effect or a failed check is shown, at 5 % over all probes and checks."""
        return self.adjusted is not None and self.adjusted <= SIGNIFICANCE


def sensitivity(
    outputs: Outputs,
    unchanged: FloatArray,
    changed: Mapping[str, FloatArray],
    human: FloatArray | None = None,
) -> list[Finding]:
    """Return the findings of probes, in the order of `changed`, then those of checks.

    Args:
        unchanged: scores of two rounds without a change; shape (outputs, 2), NaN for missing.
        changed: scores under each probe; shape (outputs,).
        human: people's mean ratings on the same scale; shape (outputs,), NaN for unrated.
    """
    plain = _row_means(unchanged)
    findings = [_mean(name, outputs, scores - plain) for name, scores in changed.items()]
    differences = unchanged[:, 1] - unchanged[:, 0]
    findings.append(_mean(REPEATED, outputs, differences))
    if human is not None and (~np.isnan(human)).any():
        findings += [_mean(SEVERITY, outputs, plain - human), _spread(outputs, plain, human)]
    return _adjusted([*findings, _noise(outputs, unchanged)])


def label_sensitivity(
    outputs: Outputs, unchanged: FloatArray, changed: Mapping[str, FloatArray], labels: int
) -> list[Finding]:
    """Return the findings of probes of labels without an order, in the order of `changed`, then
    those of checks.

    The value of a probe is the share of labels that it leaves as they are, the mean over the two
    rounds; its test is whether fewer stay than where the judge is asked the same again. That share
    is the value of REPEATED, and its kappa that of NOISE.

    Args:
        unchanged, changed: as for `sensitivity`, with labels as whole numbers from 0.
        labels: how many there are.
    """
    again = _same(*unchanged.T)
    findings = []
    for name, given in changed.items():
        kept = (_same(unchanged[:, 0], given) + _same(unchanged[:, 1], given)) / 2 + 0 * again
        lead = _mean(name, outputs, kept - again, below=True)
        findings.append(replace(_mean(name, outputs, kept), p=lead.p))
    repeated = replace(_mean(REPEATED, outputs, again), p=None)
    return _adjusted([*findings, repeated, _noise_of_labels(outputs, unchanged, labels)])


def _same(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return 1 where two labels are the same, 0 where not, NaN where one is missing."""
    return np.where(np.isnan(first + second), np.nan, (first == second).astype(float))


def _noise_of_labels(outputs: Outputs, unchanged: FloatArray, labels: int) -> Finding:
    """Test whether kappa of the two rounds is too low, on Fisher's z."""
    present, documents, left_out = _documents(outputs, unchanged.sum(axis=1))
    if left_out is None:
        return _too_few(NOISE, int(present.sum()), documents)
    _names, document = np.unique(outputs.document[present], return_inverse=True)
    common = Outputs(document, np.arange(len(document)), documents, len(document))
    first, second = unchanged[present].T
    kappa, without = kappas(common, first, second, left_out, labels)
    if not np.isfinite([kappa, *without]).all():
        reason = "the judge gave nearly every output the same label"
        return Finding(NOISE, int(present.sum()), documents, None, reason=reason)
    return _reliable(present, documents, left_out, _fisher(np.array(kappa)), _fisher(without))


def _adjusted(findings: list[Finding]) -> list[Finding]:
    """Return findings with Holm's adjustment over all that are tested."""
    tested = [finding.p for finding in findings if finding.p is not None]
    adjusted = iter(holm(tested))
    return [
        replace(finding, adjusted=next(adjusted)) if finding.p is not None else finding
        for finding in findings
    ]


def _row_means(scores: FloatArray) -> FloatArray:
    count = (~np.isnan(scores)).sum(axis=1)
    total = np.nansum(scores, axis=1)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def _mean(name: str, outputs: Outputs, gap: FloatArray, *, below: bool = False) -> Finding:
    """Test a mean over outputs against 0: two-sided, or whether it is below."""
    present, documents, left_out = _documents(outputs, gap)
    if left_out is None:
        return _too_few(name, int(present.sum()), documents)
    value = float(gap[present].mean())
    sums, counts = (_sums(outputs, present, of) for of in (gap, np.ones(len(gap))))
    means = left_out.sums(sums) / left_out.sums(counts)
    return _tested(name, present, documents, left_out, value, means, against=0.0, below=below)


def _spread(outputs: Outputs, judge: FloatArray, human: FloatArray) -> Finding:
    """Test whether the ratio of standard deviations is too small, on its logarithm."""
    present, documents, left_out = _documents(outputs, judge + human)
    if left_out is None:
        return _too_few(SPREAD, int(present.sum()), documents)
    variances = [_left_out_variance(outputs, present, side, left_out) for side in (judge, human)]
    (judge_all, judge_without), (human_all, human_without) = variances
    if min(human_all, human_without.min()) <= _CLIP:
        return Finding(
            SPREAD, int(present.sum()), documents, None, reason="people gave every output the same"
        )
    value = np.log(max(judge_all, _CLIP) / human_all) / 2
    means = np.log(np.maximum(judge_without, _CLIP) / human_without) / 2
    tested = _tested(
        SPREAD, present, documents, left_out, float(value), means,
        against=float(np.log(PROBE_SPREAD)), below=True,
    )  # fmt: skip
    return _brought_back(tested, np.exp)


def _left_out_variance(
    outputs: Outputs, present: np.ndarray, values: FloatArray, left_out: LeftOut
) -> tuple[float, FloatArray]:
    """Return a variance over outputs, and with each group of documents left out."""
    centred = values - values[present].mean()
    first, second, count = (
        left_out.sums(_sums(outputs, present, of))
        for of in (centred, centred**2, np.ones(len(values)))
    )
    return float(values[present].var()), second / count - (first / count) ** 2


def _noise(outputs: Outputs, unchanged: FloatArray) -> Finding:
    """Test whether the reliability of one score, from two rounds, is too low, on Fisher's z.

    With two scores each, and B and W the mean squares between and within outputs, ICC(1) is (B - W)
    / (B + W).
    """
    present, documents, left_out = _documents(outputs, unchanged.sum(axis=1))
    if left_out is None:
        return _too_few(NOISE, int(present.sum()), documents)
    half = unchanged.mean(axis=1)
    within = _sums(outputs, present, (unchanged[:, 1] - unchanged[:, 0]) ** 2 / 2)
    counts = _sums(outputs, present, np.ones(len(unchanged)))
    all_half, without_half = _left_out_variance(outputs, present, half, left_out)
    n, total = left_out.sums(counts), float(within.sum())
    value = _fisher(_icc(all_half, total / counts.sum(), float(counts.sum())))
    means = _fisher(_icc(without_half, left_out.sums(within) / n, n))
    return _reliable(present, documents, left_out, value, means)


def _reliable(
    present: np.ndarray, documents: int, left_out: LeftOut, value: FloatArray, without: FloatArray
) -> Finding:
    """Test whether a reliability, given as Fisher's z, is too low."""
    tested = _tested(
        NOISE, present, documents, left_out, float(value), without,
        against=float(np.arctanh(PROBE_RELIABILITY)), below=True,
    )  # fmt: skip
    return _brought_back(tested, np.tanh)


def _icc(
    variance_of_means: FloatArray | float, within: FloatArray | float, n: FloatArray | float
) -> FloatArray:
    between = 2 * np.asarray(variance_of_means) * n / (np.asarray(n) - 1)
    total = between + within
    return np.where(total > _CLIP, (between - within) / np.maximum(total, _CLIP), 1.0)


def _fisher(icc: FloatArray) -> FloatArray:
    return np.asarray(np.arctanh(np.clip(icc, -0.999, 0.999)))


def _documents(outputs: Outputs, values: FloatArray) -> tuple[np.ndarray, int, LeftOut | None]:
    """Return which outputs have a value, and in how many documents; None if these are too few."""
    present = ~np.isnan(values)
    documents = len(np.unique(outputs.document[present]))
    return present, documents, LeftOut.each(documents) if documents >= INTERVAL_DOCUMENTS else None


def _sums(outputs: Outputs, present: np.ndarray, values: FloatArray) -> FloatArray:
    """Return sums over the outputs of each document that has any; shape (documents,)."""
    _names, indexes = np.unique(outputs.document[present], return_inverse=True)
    return np.asarray(np.bincount(indexes, weights=values[present]), dtype=float)


def _tested(
    name: str,
    present: np.ndarray,
    documents: int,
    left_out: LeftOut,
    value: float,
    without: FloatArray,
    *,
    against: float,
    below: bool = False,
) -> Finding:
    """Return a value with its interval, tested against a number: two-sided, or whether it is
    below."""
    n, freedom = int(present.sum()), left_out.freedom(documents)
    variance = left_out.variance(without)
    distance = value - against
    if not variance:  # the same in every document
        certain = distance < 0 if below else abs(distance) > _CLIP
        return Finding(name, n, documents, value, Interval(value, value), 0.0 if certain else 1.0)
    t = distance / np.sqrt(variance)
    p = t_cdf(t, freedom) if below else 2 * t_tail(abs(t), freedom)
    return Finding(name, n, documents, value, t_interval(value, variance, freedom), float(p))


def _brought_back(finding: Finding, back: np.ufunc) -> Finding:
    """Transform a finding back from another scale to its own."""
    assert finding.value is not None
    assert finding.interval is not None
    assert finding.interval.ends is not None
    low, high = finding.interval.ends
    ends = Interval(float(back(low)), float(back(high)))
    return replace(finding, value=float(back(finding.value)), interval=ends)


def _too_few(name: str, outputs: int, documents: int) -> Finding:
    reason = f"{documents} documents count; {INTERVAL_DOCUMENTS} are needed"
    return Finding(name, outputs, documents, None, reason=reason)
