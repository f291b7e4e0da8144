"""The data of a search: ratings on a criterion and the scores of judges, divided into training and
locked documents."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress

import numpy as np

from geval.improving.changes import Measure, measure_on
from geval.reports.data import ReportData
from geval.reports.samples import about_proof
from geval.statistics.arrays import Outputs, complete
from geval.statistics.jackknife import documents_counting
from geval.statistics.labels import are_labels, most_frequent_point
from geval.statistics.panel import Arms
from geval.statistics.pass_fail import best_threshold
from geval.statistics.same_documents import ranked_by_document
from geval.statistics.types import FloatArray, IntArray
from geval.texts.subjects import CriterionLike, JudgeLike

# With fewer scores than these a threshold is not chosen anew.
LEAST_FOR_THRESHOLD = 20
# The most arms, as each adds a row and a column to every document's matrix.
MOST_ARMS = 100


class ImproveError(Exception):
    """Nothing can be searched or proven; the message says why and what to do."""


class TooFewRatingsError(ImproveError):
    """More outputs have to be rated first."""


@dataclass(frozen=True)
class Arm:
    """A judge's scores on a criterion (empty: they apply to every one); shape (outputs,), NaN for
    missing."""

    judge: JudgeLike
    criterion: str
    scores: FloatArray

    @property
    def name(self) -> str:
        return f"{self.judge.label} on {self.criterion}" if self.criterion else self.judge.label


@dataclass(frozen=True, eq=False)
class Ground:
    """A judge on a criterion, with everything that could replace it.

    `outputs` are by session where documents are turns of sessions. `human`, `today` and
    `output_ids` have shape (outputs,), NaN for missing; `training` and `locked` are positions of
    documents; `left_out` says why judges are not arms. `weight` has shape (outputs,), the sampling
    weights, None where all are equal: a proof is about all outputs that could be drawn, while a
    search learns from the rated ones; `sample` says so in sentences. `unit_names` are the names of
    `outputs.documents`, and `open_documents` the names of documents that are not locked.
    """

    judge: JudgeLike
    criterion: CriterionLike
    outputs: Outputs
    human: FloatArray
    today: FloatArray
    arms: tuple[Arm, ...]
    training: IntArray
    locked: IntArray
    left_out: dict[str, str]
    weight: FloatArray | None = None
    sample: tuple[str, ...] = ()
    output_ids: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    unit_names: tuple[str, ...] = ()
    open_documents: tuple[str, ...] = ()

    @property
    def measure(self) -> Measure:
        """What is to be improved."""
        return measure_on(self.criterion.scale)

    @property
    def is_pass_fail(self) -> bool:
        return self.measure == Measure.BALANCE

    @cached_property
    def merit_of_today(self) -> FloatArray:
        """The merit of today's judge in each training document; shape (training,)."""
        return self.merit(self.training, self.today)

    @cached_property
    def learnable(self) -> tuple[Arms, IntArray]:
        """The arms on training documents, and these documents; without any locked ones."""
        outputs, (human, *scores) = self.on(
            self.training, self.human, *(arm.scores for arm in self.arms)
        )
        outputs, (human, *scores) = complete(outputs, human, *scores)
        arms = Arms(outputs, human, np.stack(scores))
        return arms, np.flatnonzero(outputs.documents_with())

    @cached_property
    def counting(self) -> int:
        """The number of locked documents behind a proof; for a weighted sample the effective
        number."""
        is_there = np.isin(self.outputs.document, self.locked) & ~np.isnan(self.human + self.today)
        return documents_counting(self.outputs.weighted(self.weight).part(is_there))

    def merit(self, documents: IntArray, scores: FloatArray) -> FloatArray:
        """Return how good scores are in each of some training documents; shape (documents,), NaN
        for a document that tells nothing.

        On pass or fail it is the share of right verdicts, where fails and passes count by how rare
        they are, so that the mean over all training documents is balanced accuracy; a missing
        score is wrong. Of labels it is agreement beyond chance, whose mean over all training
        documents is Cohen's kappa; a missing one is wrong. Otherwise it is Spearman's rho, 0 where
        scores tie all outputs that people rank.
        """
        if self.measure == Measure.RANK:
            outputs, (human, values) = self.on(documents, self.human, scores)
            return ranked_by_document(outputs, human, values)[documents]
        if self.is_pass_fail:
            is_right = (self.passing(scores) == self._people) * ~np.isnan(scores)
        else:
            is_right = self._beyond_chance(scores)
        right = self._worth * is_right
        total, count = (
            np.bincount(self.outputs.document, side, self.outputs.documents)[documents]
            for side in (right, self._worth)
        )
        return np.where(count > 0, total, np.nan)

    def _beyond_chance(self, scores: FloatArray) -> FloatArray:
        """Return by how much each label agrees with people's beyond chance, 1 at most, where the
        mean over training outputs is Cohen's kappa; shape (outputs,), NaN where people gave one
        label."""
        counting = self._worth > 0
        labelled = counting & ~np.isnan(scores)
        points = np.array(self.criterion.scale.points)[:, None]
        people = (self.human[counting] == points).mean(axis=1)
        given = (scores[labelled] == points).sum(axis=1) / max(1, labelled.sum())
        chance = float(people @ given) if people.max() < 1 else np.nan
        return np.asarray(((scores == self.human) - chance) / (1 - chance))

    @cached_property
    def _people(self) -> np.ndarray:
        """Whether people pass each output; shape (outputs,)."""
        return np.asarray(self.human >= self.middle)

    @property
    def middle(self) -> float:
        """The rating from which on people pass an output."""
        return sum(self.criterion.scale.points) / 2

    @cached_property
    def _worth(self) -> FloatArray:
        """What a right verdict on each training output adds to its document; shape (outputs,), 0
        for others."""
        counting = np.isin(self.outputs.document, self.training)
        counting &= ~np.isnan(self.human + self.today)
        documents = len(np.unique(self.outputs.document[counting]))
        worth = np.zeros(len(counting))
        kinds = [counting]
        if self.is_pass_fail:
            kinds = [counting & self._people, counting & ~self._people]
        for kind in kinds:
            worth[kind] = documents / (len(kinds) * max(1, kind.sum()))
        return worth

    def passing(self, scores: FloatArray) -> np.ndarray:
        """Return which outputs scores pass, from the threshold; shape (outputs,), False for
        missing."""
        return np.asarray(np.nan_to_num(scores, nan=-np.inf) >= self.threshold(scores))

    def threshold(self, scores: FloatArray) -> float:
        """Return the score from which on an output passes: the middle of the scale for verdicts,
        otherwise the best on training documents, that of today's scores where few are there."""
        there = scores[~np.isnan(scores)]
        if np.isin(there, self.criterion.scale.points).all():
            return self.middle
        counting = (self._worth > 0) & ~np.isnan(scores)
        if counting.sum() < LEAST_FOR_THRESHOLD and scores is not self.today:
            return self.threshold(self.today)
        return best_threshold(self._people[counting], scores[counting])

    def on(self, documents: IntArray, *values: FloatArray) -> tuple[Outputs, list[FloatArray]]:
        """Return the outputs of some documents as they were rated, and their values."""
        chosen = np.isin(self.outputs.document, documents)
        return self.outputs.part(chosen), [side[chosen] for side in values]


def ground_in(
    data: ReportData,
    judges: Sequence[JudgeLike],
    judge: JudgeLike,
    criteria: Sequence[CriterionLike],
    criterion: CriterionLike,
    locked: Callable[[Sequence[str], Sequence[str]], Sequence[bool]],
    *,
    fitted: Collection[int] = (),
) -> Ground:
    """Gather the data to improve a judge on a criterion.

    Args:
        judges: those that may take its place.
        locked: returns for each document or session, with its group, whether it is locked.
        fitted: the ids of judges that are fitted to ratings.

    Raises:
        ImproveError: the judge has no scores on it, or there are no ratings.
    """
    today = data.judges.get((criterion.pk, judge.pk))
    if today is None:
        raise ImproveError(f"{judge.label} has no scores on {criterion.name}; run it first.")
    human = people_of(data, criterion)
    counting = ~np.isnan(human) & ~np.isnan(today)
    if not are_labels(today, criterion.scale):
        raise ImproveError(f"The scores of {judge.label} are not labels of {criterion.name}.")
    if not counting.any():
        raise TooFewRatingsError(
            f"Nobody has rated outputs on {criterion.name} that {judge.label} scored."
        )
    arms, left_out = _arms(data, judges, criterion, criteria, counting, fitted)
    rated = data.units.documents_with(counting)
    is_locked = data.locked_units(locked)
    return Ground(
        judge=judge,
        criterion=criterion,
        outputs=data.units,
        human=human,
        today=today,
        arms=arms,
        training=np.flatnonzero(rated & ~is_locked),
        locked=np.flatnonzero(rated & is_locked),
        left_out=left_out,
        weight=data.humans[criterion.pk].weight,
        sample=about_proof(data.humans[criterion.pk]),
        output_ids=data.output_ids,
        unit_names=data.names_of_units,
        open_documents=tuple(compress(data.doc_ids, ~is_locked[data.unit_of])),
    )


def people_of(data: ReportData, criterion: CriterionLike) -> FloatArray:
    """Return people's score of each output: of labels without an order the most frequent; shape
    (outputs,), NaN for missing."""
    human = data.humans[criterion.pk]
    if criterion.scale.is_ordered:
        return human.mean
    return most_frequent_point(human.ratings, criterion.scale)


def _arms(
    data: ReportData,
    judges: Sequence[JudgeLike],
    criterion: CriterionLike,
    criteria: Sequence[CriterionLike],
    counting: np.ndarray,
    fitted: Collection[int],
) -> tuple[tuple[Arm, ...], dict[str, str]]:
    """Return the scores that cover every output that counts, those on the criterion first."""
    kept: list[Arm] = []
    left_out: dict[str, str] = {}
    for judge in judges:
        if judge.pk in fitted:
            left_out[judge.label] = "fitted to ratings, perhaps of locked documents"
            continue
        scores = data.judges.get((criterion.pk, judge.pk))
        arms = _arms_of(data, judge, criterion, criteria)
        covering = [arm for arm in arms if not np.isnan(arm.scores[counting]).any()]
        if covering and not are_labels(covering[0].scores, criterion.scale):
            left_out[judge.label] = f"its scores are not labels of {criterion.name}"
            continue
        if not covering:
            left_out[judge.label] = (
                "no scores" if scores is None else "scores are missing for outputs that count"
            )
        kept += [arm for arm in covering if np.ptp(arm.scores[counting]) > 0]
    kept.sort(key=lambda arm: arm.criterion not in ("", criterion.name))
    for arm in kept[MOST_ARMS:]:
        left_out[arm.name] = f"only {MOST_ARMS} are looked at, those on {criterion.name} first"
    return tuple(kept[:MOST_ARMS]), left_out


def _arms_of(
    data: ReportData, judge: JudgeLike, criterion: CriterionLike, criteria: Sequence[CriterionLike]
) -> list[Arm]:
    """Return a judge's scores on each criterion; one arm for scores that apply to every one. Labels
    without an order are only of use on their own criterion."""
    scores = {
        each.name: data.judges[each.pk, judge.pk]
        for each in criteria
        if (each.pk, judge.pk) in data.judges
        and (each.pk == criterion.pk or (each.scale.is_ordered and criterion.scale.is_ordered))
    }
    first, *others = scores.values() or [np.empty(0)]
    if others and all(np.array_equal(first, other, equal_nan=True) for other in others):
        return [Arm(judge, criterion.name, first)]
    return [Arm(judge, name, values) for name, values in scores.items()]
