"""One project's report: for every judge and criterion, how its scores go with the mean human rating."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from django.db import connection

from annotations.human_scores import HumanScores, human_scores
from evaluations.models import Criterion, EvaluationRun, Judge, Project
from evaluations.scales import Scale
from evaluations.statistics.agreement import (
    MEASUREMENTS,
    LeaveOneOut,
    Measurement,
    krippendorff_alpha,
    leave_one_out,
)
from evaluations.statistics.alt_test import AltTest, alt_test
from evaluations.statistics.correlation import COEFFICIENTS, Coefficient, Correlations, correlations
from evaluations.statistics.pairing import FloatArray, table
from evaluations.statistics.resampling import Interval, bootstrap_samples, draw, percentile_interval
from evaluations.statistics.results import Estimate

# Fixed and stated, so that a published interval can be found again.
SEED = 0
EPSILON = 0.2


@dataclass(frozen=True)
class JudgeResult:
    """A judge on one criterion: its correlations with people, how sure they are, and how many outputs it left out.

    `intervals` are for the summary level, over documents; `alt_test` asks whether it may replace an annotator.
    """

    judge: str
    correlations: Correlations
    intervals: dict[Coefficient, Interval]
    alt_test: AltTest
    missing: int
    is_stand_in: bool


@dataclass(frozen=True)
class Agreement:
    """How far annotators agree on one criterion.

    `ceiling` is what one annotator reaches against the mean of the others at summary level, on average.
    """

    ceiling: dict[Coefficient, Estimate]
    alpha: dict[Measurement, Estimate]
    leave_one_out: dict[str, LeaveOneOut]


@dataclass(frozen=True)
class CriterionResult:
    """All judges on one criterion. `documents` have at least one human rating on it; `in_sight` counts ratings made
    while annotators saw LLM scores, which may have led them.
    """

    criterion: str
    documents: int
    rated_outputs: int
    judges: tuple[JudgeResult, ...]
    agreement: Agreement
    in_sight: int = 0

    @property
    def best(self) -> "JudgeResult | None":
        """The judge whose summary-level rho with people is highest; None where none has one."""
        ranked = [result for result in self.judges if _rho(result) is not None]
        return max(ranked, key=lambda result: _rho(result) or 0.0, default=None)

    def share_of_ceiling(self, result: "JudgeResult") -> float | None:
        """A judge's summary-level rho as a share of what one annotator reaches."""
        ceiling, rho = self.agreement.ceiling["spearman"].value, _rho(result)
        return rho / ceiling if ceiling and ceiling > 0 and rho is not None else None


def _rho(result: JudgeResult) -> float | None:
    return result.correlations.estimates["spearman"]["summary"].value


@dataclass(frozen=True)
class Report:
    """A project's numbers, in the order of its criteria and judges."""

    project: str
    name: str
    outputs: int
    criteria: tuple[CriterionResult, ...]

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(result.judge for criterion in self.criteria for result in criterion.judges))

    @property
    def in_sight(self) -> int:
        """How many ratings were made while annotators saw LLM scores."""
        return sum(criterion.in_sight for criterion in self.criteria)

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """The judges that are the offline stand-in, not an LLM."""
        results = (result for criterion in self.criteria for result in criterion.judges)
        return tuple(dict.fromkeys(result.judge for result in results if result.is_stand_in))


@dataclass(frozen=True)
class ScoreTables:
    """The human and judge scores of a project as tables over its documents and systems.

    `judges` maps criterion id and judge id to an array of shape (documents, systems), NaN for missing.
    """

    document_ids: list[int]
    system_ids: list[int]
    outputs: int
    humans: dict[int, HumanScores]
    judges: dict[int, dict[int, FloatArray]]


def build_report(
    project: Project,
    *,
    judges: Collection[Judge] | None = None,
    criteria: Collection[Criterion] | None = None,
) -> Report:
    """The report of a project, on some of its judges and criteria or on all."""
    chosen_criteria = list(project.criteria.all()) if criteria is None else list(criteria)
    chosen_judges = list(project.judges.all()) if judges is None else list(judges)
    tables = score_tables(project, chosen_judges, chosen_criteria)
    return Report(
        project=project.slug,
        name=project.name,
        outputs=tables.outputs,
        criteria=tuple(_criterion_result(criterion, chosen_judges, tables) for criterion in chosen_criteria),
    )


def score_tables(
    project: Project, judges: Collection[Judge], criteria: Collection[Criterion], *, run: EvaluationRun | None = None
) -> ScoreTables:
    """Everything the statistics need, in a handful of queries whatever the size of the project.

    Args:
        run: take the scores of this run only, where otherwise the newest of each judge count.
    """
    document_ids = list(project.documents.order_by("pk").values_list("pk", flat=True))
    system_ids = list(project.systems.order_by("pk").values_list("pk", flat=True))
    documents = {pk: index for index, pk in enumerate(document_ids)}
    systems = {pk: index for index, pk in enumerate(system_ids)}
    criterion_ids = [criterion.pk for criterion in criteria]
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*) FROM evaluations_candidateoutput o JOIN evaluations_document d ON d.id = o.document_id
               WHERE d.project_id = %s""",
            [project.pk],
        )
        outputs = cursor.fetchone()[0]
    return ScoreTables(
        document_ids=document_ids,
        system_ids=system_ids,
        outputs=outputs,
        humans=human_scores(project.pk, criterion_ids, documents=documents, systems=systems),
        judges=_judge_tables([judge.pk for judge in judges], criterion_ids, documents, systems, run=run),
    )


def _judge_tables(
    judge_ids: list[int],
    criterion_ids: list[int],
    documents: dict[int, int],
    systems: dict[int, int],
    *,
    run: EvaluationRun | None,
) -> dict[int, dict[int, FloatArray]]:
    with connection.cursor() as cursor:
        # A later run's score of the same item replaces an earlier one, so runs come in their order.
        cursor.execute(
            """SELECT r.judge_id, coalesce(s.criterion_id, 0), o.document_id, o.system_id, s.value
               FROM evaluations_score s JOIN evaluations_evaluationrun r ON r.id = s.run_id
               JOIN evaluations_candidateoutput o ON o.id = s.output_id
               WHERE r.judge_id = ANY(%s) AND (%s::bigint IS NULL OR r.id = %s) ORDER BY r.id""",
            [judge_ids, run.pk if run else None, run.pk if run else None],
        )
        rows = np.array(cursor.fetchall(), dtype=float).reshape(-1, 5)
    shape = (len(documents), len(systems))
    found: dict[int, dict[int, FloatArray]] = {}
    for criterion_id in criterion_ids:
        found[criterion_id] = {}
        for judge_id in judge_ids:
            # A score without a criterion (0) counts for every one.
            mine = rows[(rows[:, 0] == judge_id) & ((rows[:, 1] == criterion_id) | (rows[:, 1] == 0))]
            if len(mine):
                found[criterion_id][judge_id] = table(
                    np.array([documents[int(pk)] for pk in mine[:, 2]], dtype=np.int64),
                    np.array([systems[int(pk)] for pk in mine[:, 3]], dtype=np.int64),
                    mine[:, 4],
                    shape=shape,
                )
    return found


def _criterion_result(criterion: Criterion, judges: Collection[Judge], tables: ScoreTables) -> CriterionResult:
    human = tables.humans[criterion.pk]
    results = []
    for judge in judges:
        scores = tables.judges[criterion.pk].get(judge.pk)
        if scores is not None:
            found = int((~np.isnan(scores)).sum())
            results.append(
                JudgeResult(
                    judge=judge.label,
                    correlations=correlations(human.mean, scores),
                    intervals=_intervals(human.mean, scores),
                    alt_test=_alt_test(human, scores, criterion.scale),
                    missing=tables.outputs - found,
                    is_stand_in=judge.is_stand_in,
                )
            )
    rated = ~np.isnan(human.mean)
    return CriterionResult(
        criterion=criterion.name,
        documents=int(rated.any(axis=1).sum()),
        rated_outputs=int(rated.sum()),
        judges=tuple(results),
        agreement=_agreement(human),
        in_sight=human.in_sight,
    )


def _alt_test(human: HumanScores, scores: FloatArray, scale: Scale) -> AltTest:
    """The alternative annotator test, for judges that rate on the criterion's scale: it compares distances on it."""
    if np.nanmin(scores) < scale.lowest - 1e-9 or np.nanmax(scores) > scale.highest + 1e-9:
        other = Estimate.undefined("the judge's scores are not on the criterion's scale")
        return AltTest(EPSILON, other, other, (), (), 0)
    ratings = human.ratings.reshape(len(human.ratings), scores.size)
    return alt_test(ratings, scores.ravel(), epsilon=EPSILON)


def _intervals(human: FloatArray, scores: FloatArray) -> dict[Coefficient, Interval]:
    """Percentile bootstrap over documents, the same draws for every judge of a project."""
    if not human.size:
        return {coefficient: Interval(None, None, 0, "there are no documents") for coefficient in COEFFICIENTS}
    draws = draw(human.shape, "documents", rng=np.random.default_rng(SEED))
    return {
        coefficient: percentile_interval(bootstrap_samples(human, scores, coefficient, draws))
        for coefficient in COEFFICIENTS
    }


def _ceiling(human: HumanScores) -> dict[Coefficient, Estimate]:
    found: dict[Coefficient, Estimate] = {}
    for coefficient in COEFFICIENTS:
        each = [
            leave_one_out(human.ratings, rater, coefficient=coefficient).estimate.value
            for rater in range(len(human.annotators))
            if len(human.annotators) > 1
        ]
        values = [value for value in each if value is not None]
        nobody = Estimate.undefined("no two annotators rated the same outputs of a document")
        found[coefficient] = Estimate(float(np.mean(values))) if values else nobody
    return found


def _agreement(human: HumanScores) -> Agreement:
    return Agreement(
        ceiling=_ceiling(human),
        alpha={measurement: krippendorff_alpha(human.ratings, measurement) for measurement in MEASUREMENTS},
        leave_one_out={
            name: leave_one_out(human.ratings, index)
            for index, name in enumerate(human.annotators)
            if len(human.annotators) > 1
        },
    )
