"""A run's results so far: the distribution of its scores, and their agreement with people."""

from dataclasses import dataclass, replace

import numpy as np

from evaluations.models import Criterion, EvaluationRun
from evaluations.reports.data import fill_judges
from evaluations.reports.searched import searches_behind
from evaluations.reports.serving.live import live_data
from geval.reports.data import ReportData
from geval.reports.samples import about_sample
from geval.reports.seen import marked
from geval.statistics.correlation import correlations
from geval.statistics.layout import Outputs, complete, mean_of
from geval.statistics.results import Estimate
from geval.statistics.same_documents import SameDocuments, on_same_documents
from geval.statistics.scales import short
from geval.statistics.types import FloatArray

BINS = 9


@dataclass(frozen=True)
class Bin:
    """A range of scores and how many fall into it; `height` is relative to the fullest, from 0 to
    100."""

    label: str
    count: int
    height: int


@dataclass(frozen=True)
class CriterionSoFar:
    """One criterion of a run at a moment. `outputs` have both a score of this run and a human
    rating; `by_document` has each document's rho, shape (documents,), NaN where it has none (of a
    session's, as on the report; `places` says by the id of a document which of them it is), and
    `weight` for how many documents each stands, None where all that are rated stand for as many;
    `ahead` has both in the same documents, beside the judge that the run is to be compared with,
    over outputs that both judged. No document stands for more than
    `largest`, whether it is judged yet or not. `sample` says of what these numbers speak, and
    `is_seen` whether a search that made the judge has seen documents behind them."""

    criterion: str
    scored: int
    mean: float | None
    bins: tuple[Bin, ...]
    outputs: int
    spearman: Estimate
    kendall: Estimate
    pk: int
    by_document: FloatArray
    places: dict[int, int]
    weight: FloatArray | None = None
    ahead: SameDocuments | None = None
    largest: float | None = None
    sample: tuple[str, ...] = ()
    is_seen: bool = False

    @property
    def named(self) -> str:
        """The criterion where its numbers stand."""
        return marked(self.criterion, is_seen=self.is_seen)


def so_far(run: EvaluationRun) -> list[CriterionSoFar]:
    """A run's current results on each of its criteria."""
    criteria = run.judged_criteria()
    # Scores that count for every criterion are shown beside each.
    criteria = criteria or list(run.project.criteria.all())
    if not criteria:
        return []
    data = live_data(run.project)
    tables = replace(data, judges={})
    fill_judges(tables, [run.judge_id], [criterion.pk for criterion in criteria], run=run)
    searches = searches_behind(run.project)
    criteria_so_far = [
        replace(
            _criterion(run, criterion, tables), is_seen=searches.made(criterion.pk, run.judge_id)
        )
        for criterion in criteria
    ]
    return (
        criteria_so_far
        if run.goal_rival_id is None
        else [_ahead(run, one, data, tables) for one in criteria_so_far]
    )


def _ahead(
    run: EvaluationRun, one: CriterionSoFar, data: ReportData, tables: ReportData
) -> CriterionSoFar:
    """A criterion with the difference to the judge that a run is to be compared with.

    Args:
        known: the scores of all judges; `tables` has those of the run.
    """
    human = tables.humans[one.pk]
    nothing = np.full(human.mean.shape, np.nan)
    sides = [
        tables.judges.get((one.pk, run.judge_id), nothing),
        data.judges.get((one.pk, run.goal_rival_id or 0), nothing),
    ]
    outputs, (rated, *scores) = complete(tables.units.weighted(human.weight), human.mean, *sides)
    same = on_same_documents(outputs, rated, scores[0], scores[1])
    return replace(one, ahead=replace(same, weight=_of_documents(outputs)))


def _criterion(run: EvaluationRun, criterion: Criterion, tables: ReportData) -> CriterionSoFar:
    human = tables.humans[criterion.pk].mean
    scores = tables.judges.get((criterion.pk, run.judge_id))
    values = scores[~np.isnan(scores)] if scores is not None else np.empty(0)
    nothing = np.full(human.shape, np.nan)
    outputs = tables.units_on(criterion.pk)
    estimates = correlations(outputs, human, nothing if scores is None else scores)
    return CriterionSoFar(
        criterion=criterion.name,
        scored=len(values),
        mean=float(values.mean()) if len(values) else None,
        bins=_bins(values, *_range(run, criterion, values)),
        outputs=estimates.pairs,
        spearman=estimates.estimates["spearman"]["summary"],
        kendall=estimates.estimates["kendall"]["summary"],
        pk=criterion.pk,
        by_document=estimates.by_document["spearman"],
        places=dict(zip(tables.document_ids.tolist(), tables.unit_of.tolist(), strict=True)),
        weight=None if scores is None else _of_documents(complete(outputs, human, scores)[0]),
        largest=None if outputs.weight is None else float(outputs.weight.max()),
        sample=about_sample(tables.humans[criterion.pk]),
    )


def _of_documents(outputs: Outputs) -> FloatArray | None:
    """For how many documents each stands, shape (documents,), NaN without outputs. The weights are
    there even if all these are alike, as they may not be like those that come."""
    if outputs.weight is None:
        return None
    return mean_of(outputs.weighing(), outputs.by_document())


def _range(run: EvaluationRun, criterion: Criterion, values: np.ndarray) -> tuple[float, float]:
    """From where to where scores are counted: the scale, or what there is for scores that are not
    on it."""
    if run.judge.rates_on_scale or not len(values):
        return criterion.scale.lowest, criterion.scale.highest
    lowest, highest = float(values.min()), float(values.max())
    return (lowest, highest) if lowest < highest else (lowest - 0.5, highest + 0.5)


def _bins(values: np.ndarray, lowest: float, highest: float) -> tuple[Bin, ...]:
    counts, edges = np.histogram(
        np.clip(values, lowest, highest), bins=BINS, range=(lowest, highest)
    )
    most = max(1, int(counts.max(initial=0)))
    return tuple(
        Bin(
            f"{short(round(edges[i], 2))} to {short(round(edges[i + 1], 2))}",
            int(count),
            round(100 * count / most),
        )
        for i, count in enumerate(counts)
    )
