"""Marks of judges that agree better with people than a baseline judge, by the paired bootstrap over
documents: papers' † and ‡."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from geval.reports.data import ReportData
from geval.reports.options import ReportOptions
from geval.statistics.arrays import Outputs, complete
from geval.statistics.correlation import Coefficient, Level
from geval.statistics.resampling import MOST_GROUPS, Draws, bootstrap_samples, draw, resample_means
from geval.statistics.same_documents import ranked_by_document
from geval.statistics.significance import paired_bootstrap_p
from geval.statistics.thresholds import BOOTSTRAP_DOCUMENTS
from geval.statistics.types import FloatArray
from geval.texts.subjects import CriterionLike, JudgeLike

# The strictest first.
LEVELS = ((0.01, "‡"), (0.05, "†"))


@dataclass(frozen=True)
class Marks:
    """A mark by criterion, judge and coefficient, against a baseline; `untested` says by criterion
    why it has none."""

    baseline: str
    by_cell: Mapping[tuple[str, str, Coefficient], str] = field(default_factory=dict)
    untested: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_words(self) -> str:
        """The marks' meaning, for a caption."""
        levels = " and ".join(f"{sign} (p <= {level:g})" for level, sign in reversed(LEVELS))
        meaning = (
            f"{levels}: agrees better with people than {self.baseline} does, by a one-sided paired"
            " bootstrap over documents with 1,000 resamples, each comparison by itself."
        )
        reasons = "; ".join(f"{name}: {reason}" for name, reason in self.untested.items())
        return f"{meaning} Without marks: {reasons}." if reasons else meaning


def marks_against(
    baseline: JudgeLike,
    judges: Collection[JudgeLike],
    criteria: Collection[CriterionLike],
    data: ReportData,
    options: ReportOptions,
) -> Marks:
    """Compare judges with a baseline on each criterion, at the view's level, by both coefficients
    of the paper's table."""
    by_cell: dict[tuple[str, str, Coefficient], str] = {}
    untested: dict[str, str] = {}
    for criterion in criteria:
        scores = {judge: data.judges.get((criterion.pk, judge.pk)) for judge in judges}
        own = data.judges.get((criterion.pk, baseline.pk))
        if own is None:
            untested[criterion.name] = f"{baseline.label} has no scores"
            continue
        human, outputs = data.humans[criterion.pk].mean, data.units_on(criterion.pk)
        if reason := _why_not(outputs, human, own, options.level):
            untested[criterion.name] = reason
            continue
        for judge, other in scores.items():
            if other is None or judge.pk == baseline.pk:
                continue
            for coefficient in (options.coefficient, options.second):
                p = _p(outputs, human, (other, own), coefficient, options.level)
                sign = next((sign for level, sign in LEVELS if p is not None and p <= level), "")
                by_cell[criterion.name, judge.label, coefficient] = sign
    return Marks(baseline.label, by_cell, untested)


def _why_not(outputs: Outputs, human: FloatArray, own: FloatArray, level: Level) -> str:
    """Return why resamples of these outputs would be meaningless or cannot be drawn; empty if they
    can."""
    common, _ = complete(outputs, human, own)
    if np.count_nonzero(common.by_document()) < BOOTSTRAP_DOCUMENTS:
        return f"the bootstrap needs {BOOTSTRAP_DOCUMENTS} documents with ratings and scores"
    if level == "summary":
        return ""
    if outputs.weight is not None:
        return f"at {level} level the bootstrap knows no sampling weights"
    if not outputs.has_cells or outputs.documents > MOST_GROUPS:
        return (
            f"at {level} level the bootstrap takes at most {MOST_GROUPS:,} documents with one"
            " output of each system"
        )
    return ""


@lru_cache(maxsize=8)
def _draws(documents: int) -> Draws:
    """Return the resamples of documents, the same for every judge of a project."""
    return draw((min(documents, MOST_GROUPS), 1), "documents", rng=np.random.default_rng(0))


def _p(
    outputs: Outputs,
    human: FloatArray,
    judges: tuple[FloatArray, FloatArray],
    coefficient: Coefficient,
    level: Level,
) -> float | None:
    """Return the p-value of the first judge agreeing better than the second, on the outputs that
    both scored."""
    outputs, (human, *scores) = complete(outputs, human, *judges)
    draws = _draws(outputs.documents)
    first, second = (_samples(outputs, human, side, coefficient, level, draws) for side in scores)
    return paired_bootstrap_p(first, second)


def _samples(
    outputs: Outputs,
    human: FloatArray,
    scores: FloatArray,
    coefficient: Coefficient,
    level: Level,
    draws: Draws,
) -> FloatArray:
    if level == "summary":
        by_document = ranked_by_document(outputs, human, scores, coefficient)
        return resample_means(by_document, draws, outputs.document_weight)
    table = outputs.table
    return bootstrap_samples(table(human), table(scores), coefficient, draws, level=level)
