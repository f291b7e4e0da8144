"""Two judges on the same outputs: which of them agrees better with people, and with what
certainty."""

from dataclasses import dataclass

import numpy as np

from geval.measuring.inputs import InputError
from geval.measuring.measurement import Measurement, refuse_other
from geval.reports.pairs import Pair, labels_of_pair, pair_on
from geval.reports.report import LEFT_OUT, CriterionResult
from geval.reports.verdicts.analysis import at_worst
from geval.statistics.arrays import complete
from geval.statistics.correlation import Coefficient, coefficient_of
from geval.statistics.jackknife import difference_interval, no_interval
from geval.statistics.paired_labels import PairedLabels
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import SIGNIFICANCE
from geval.texts.numbers import p_value, signed


@dataclass(frozen=True)
class Comparison:
    """`difference` is the first judge's correlation minus the second's, a mean over the same
    documents with ties counted, or over all outputs where documents have one each, and `interval`
    its 95 % interval. `p` is of a permutation test of whole documents, `p_adjusted` by Holm over
    all pairs of judges and criteria; over all outputs there is no test. None where undefined, with
    a `reason`. On pass or fail, and on labels, the difference is that of accuracy,
    without a test; `labels` has the counts."""

    criterion: str
    first: str
    second: str
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None
    p_adjusted: float | None
    documents: int
    reason: str = ""
    labels: PairedLabels | None = None
    is_over_outputs: bool = False

    @property
    def better(self) -> str:
        """The judge that is shown to agree better; empty where neither is."""
        if self.labels:
            return ("", self.first, self.second)[self.labels.ahead]
        if self.is_over_outputs and self.interval is not None and self.difference is not None:
            is_shown = Interval(*self.interval).leaves_out_zero
            return (self.first if self.difference > 0 else self.second) if is_shown else ""
        if self.p_adjusted is None or self.p_adjusted > SIGNIFICANCE or self.difference is None:
            return ""
        return self.first if self.difference > 0 else self.second

    def __str__(self) -> str:
        if self.difference is None:
            return f"{self.criterion}: {self.first} and {self.second}: {self.reason}."
        ends = "" if self.interval is None else " [{}, {}]".format(*map(signed, self.interval))
        shown = f"{self.better} agrees better" if self.better else "neither is shown to be better"
        tested = "" if self.p_adjusted is None else f", p {p_value(self.p_adjusted)}"
        if self.labels:
            counts = self.labels
            return (
                f"{self.criterion}: {shown}. Accuracy, {self.first} less {self.second}:"
                f" {signed(self.difference)}{ends}; only {self.first} is right on"
                f" {counts.only_first} of {counts.outputs}, only {self.second} on"
                f" {counts.only_second}.{self.reason and f' {self.reason}.'}"
            )
        return (
            f"{self.criterion}: {shown}. {self.first} less {self.second}: {signed(self.difference)}"
            f"{ends} over {self.documents} documents{tested}{self.reason and f'; {self.reason}'}."
        )

    # In a notebook or a shell, a result is read, not its fields.
    __repr__ = __str__


def compare(
    measured: Measurement, first: str, second: str, *, criterion: str = ""
) -> list[Comparison]:
    """Return which of two judges agrees better with people, by criterion.

    Args:
        criterion: by default all that have ratings and scores.

    Raises:
        InputError: there is no such criterion or judge.

    >>> import geval
    >>> table = [{"doc": d, "system": s, "ann": s, "bob": s, "near": s, "far": (s + d) % 4}
    ...          for d in range(20) for s in range(4)]
    >>> result = geval.measure(table, human=["ann", "bob"], judge=["near", "far"], document="doc",
    ...                        system="system")
    >>> geval.compare(result, "near", "far")[0].better
    'near'
    """
    refuse_other(measured)
    for name in (first, second):
        measured.judge_named(name)
    if first == second:
        raise InputError("Name two different judges.")
    results = {result.criterion: result for result in measured.report.criteria}
    chosen = {each.criterion for each in measured.criteria_named(criterion)}
    numbers = [measured.judge_named(name).pk for name in (first, second)]
    compared = []
    for about in measured.gathered.criteria:
        if about.name not in chosen:
            continue
        pair = pair_on(measured.gathered.data, about, numbers[0], numbers[1])
        labels = labels_of_pair(pair) if pair else None
        if pair and labels:
            documents = int(pair.outputs.documents_with().sum())
            compared.append(_of_labels(about.name, (first, second), labels, documents))
        elif pair and len(pair.outputs) == pair.outputs.documents_with().sum():
            coefficient = measured.report.options.coefficient
            compared.append(_over_outputs(about.name, (first, second), pair, coefficient))
        elif about.name in results:
            compared.append(_compared(results[about.name], first, second))
    return compared


def _of_labels(
    criterion: str, judges: tuple[str, str], labels: PairedLabels, documents: int
) -> Comparison:
    ends, reason = labels.interval.ends, labels.interval.reason
    if labels.left_out:
        better = judges[0] if labels.difference > 0 else judges[1]
        reason = LEFT_OUT.format(labels.outputs, labels.outputs + labels.left_out, better)
    return Comparison(
        criterion, *judges, labels.difference, ends, None, None, documents, reason, labels
    )


def _over_outputs(
    criterion: str, judges: tuple[str, str], pair: Pair, coefficient: Coefficient
) -> Comparison:
    """Compare judges on documents of one output each, within which nothing is ranked."""
    first, second = ((pair.human, scores) for scores in (pair.first, pair.second))
    values = [
        coefficient_of(*side, coefficient, of="outputs", weight=pair.outputs.weight).value
        for side in (first, second)
    ]
    if values[0] is None or values[1] is None:
        reason = "people or a judge gave every output the same score"
        return Comparison(criterion, *judges, None, None, None, None, 0, reason)
    interval = difference_interval(pair.outputs, first, second, coefficient, "dataset")
    difference, reason = values[0] - values[1], interval.reason
    if interval.leaves_out_zero and not _holds_at_worst(pair, coefficient, difference):
        better = int(difference < 0)
        rated = int((~np.isnan(pair.whole[0] + pair.whole[2 - better])).sum())
        reason = LEFT_OUT.format(len(pair.outputs), rated, judges[better])
        interval = no_interval(reason)
    return Comparison(
        criterion, *judges, difference, interval.ends, None, None, len(pair.outputs),
        reason, is_over_outputs=True,
    )  # fmt: skip


def _holds_at_worst(pair: Pair, coefficient: Coefficient, difference: float) -> bool:
    """Return whether the better judge is so, too, with the worst scores where it has none."""
    human, *judges = pair.whole
    better, other = judges if difference > 0 else judges[::-1]
    counting = np.where(np.isnan(other), np.nan, human)
    if not np.isnan(better[~np.isnan(counting)]).any():
        return True
    worst, _ = at_worst(pair.units, counting, better)
    outputs, (rated, own, others) = complete(pair.units, counting, worst, other)
    sides = ((rated, own), (rated, others))
    return (difference_interval(outputs, *sides, coefficient, "dataset").low or 0) > 0


def _compared(result: CriterionResult, first: str, second: str) -> Comparison:
    tests = result.significance
    pair = next((each for each in tests.tests if {*each} == {first, second}), None)
    if pair is None:
        scored = {judge.judge for judge in result.judges}
        missing = [name for name in (first, second) if name not in scored]
        reason = (
            f"{missing[0]} has no scores on this criterion"
            if missing
            else "judges are compared at summary level, with more than one output a document"
        )
        return Comparison(result.criterion, first, second, None, None, None, None, 0, reason)
    sign = 1 if pair == (first, second) else -1
    test, ends = tests.tests[pair], tests.intervals[pair].ends
    turned = None if ends is None else sorted(sign * end for end in ends)
    return Comparison(
        result.criterion,
        first,
        second,
        None if test.observed is None else sign * test.observed,
        None if turned is None else (turned[0], turned[1]),
        test.p,
        tests.adjusted.get(pair),
        tests.ranked[pair].documents if pair in tests.ranked else 0,
        test.reason,
    )
