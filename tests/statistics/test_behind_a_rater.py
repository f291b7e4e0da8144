"""How far a judge in a rater's place is behind that rater: against a slow computation, with ties,
and how often its interval holds."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.agreement import BehindARater, judge_minus_a_rater
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.jackknife import TOO_FEW

DOCUMENTS, SYSTEMS, RATERS = 20, 5, 3


def corpus(seed: int, documents: int = DOCUMENTS) -> tuple[Outputs, np.ndarray, np.ndarray]:
    """Outputs, ratings of shape (raters, outputs) with some missing, and a judge's scores."""
    rng = np.random.default_rng(seed)
    count = documents * SYSTEMS
    outputs = Outputs(
        np.repeat(np.arange(documents), SYSTEMS), np.tile(np.arange(SYSTEMS), documents),
        documents, SYSTEMS,
    )  # fmt: skip
    quality = rng.normal(3, 1, count)
    given = np.clip(np.round(quality + rng.normal(0, 0.8, (RATERS, count))), 1, 5)
    judge = np.clip(np.round(quality + rng.normal(0, 0.8, count)), 1, 5)
    given[0, rng.random(count) < 0.1] = np.nan
    judge[rng.random(count) < 0.1] = np.nan
    return outputs, given, judge


def slow(outputs: Outputs, given: np.ndarray, judge: np.ndarray, kept: np.ndarray) -> float:
    """The mean over raters of the mean over documents, coefficient by coefficient."""
    of_raters = []
    for rater in range(len(given)):
        others = np.delete(given, rater, axis=0)
        mean = np.round(np.nanmean(others, axis=0), 10)
        differences = []
        for document in np.flatnonzero(kept):
            at = (
                (outputs.document == document) & ~np.isnan(given[rater]) & ~np.isnan(judge)
                & ~np.isnan(mean)
            )  # fmt: skip
            if at.sum() < 2 or np.ptp(mean[at]) == 0:
                continue
            rhos = [
                0.0 if np.ptp(side[at]) == 0 else stats.spearmanr(side[at], mean[at]).statistic
                for side in (judge, given[rater])
            ]
            if any(np.ptp(side[at]) for side in (judge, given[rater])):
                differences.append(rhos[0] - rhos[1])
        of_raters.append(np.mean(differences))
    return float(np.mean(of_raters))


@pytest.mark.parametrize("seed", range(3))
def test_it_equals_a_computation_document_by_document(seed: int) -> None:
    outputs, given, judge = corpus(seed)
    everything = np.ones(DOCUMENTS, dtype=bool)

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge)

    assert found.value == pytest.approx(slow(outputs, given, judge, everything))
    left_out = np.array(
        [slow(outputs, given, judge, np.arange(DOCUMENTS) != one) for one in range(DOCUMENTS)]
    )
    variance = (DOCUMENTS - 1) / DOCUMENTS * ((left_out - left_out.mean()) ** 2).sum()
    assert found.error == pytest.approx(np.sqrt(variance))


@pytest.mark.parametrize("level", ["summary", "dataset", "session"])
@pytest.mark.parametrize(("documents", "is_enough"), [(9, False), (10, True), (11, True)])
def test_of_fewer_than_ten_documents_there_is_no_interval(
    documents: int, is_enough: bool, level: str
) -> None:
    outputs, given, judge = corpus(5, documents=documents)

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge, level=level)  # type: ignore[arg-type]

    assert found.value is not None
    assert (found.low(0.95) is not None) is is_enough
    few = "fewer than 10 documents count, too few for an interval"
    assert found.reason == ("" if is_enough else few)


@pytest.mark.parametrize(("systems", "is_enough"), [(9, False), (10, True)])
def test_at_system_level_the_interval_is_over_ten_systems(systems: int, is_enough: bool) -> None:
    rng = np.random.default_rng(7)
    quality = rng.normal(3, 1, 4 * systems)
    given = quality + rng.normal(0, 1, (2, 4 * systems))
    outputs, judge = Outputs.full(4, systems), quality + rng.normal(0, 1, 4 * systems)

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge, level="system")

    assert found.value == pytest.approx(at_level(outputs, given, judge, "system"))
    assert (found.error is not None) is is_enough
    assert found.freedom == (9 if is_enough else 0)
    if not is_enough:
        assert found.reason == TOO_FEW.format(10, "systems")
        return
    left_out = np.array([
        at_level(outputs, given, np.where(outputs.system == one, np.nan, judge), "system")
        for one in range(10)
    ])  # fmt: skip
    assert found.error == pytest.approx(np.sqrt(9 / 10 * ((left_out - left_out.mean()) ** 2).sum()))


def at_level(outputs: Outputs, given: np.ndarray, judge: np.ndarray, level: str) -> float:
    """The mean over raters of the judge's coefficient less the rater's, each over all outputs, or
    over the means of systems or of systems in documents."""
    unit = {
        "dataset": np.arange(len(outputs)),
        "system": outputs.system,
        "session": outputs.document * outputs.systems + outputs.system,
    }[level]
    apart = []
    for rater in range(len(given)):
        mean = np.round(np.nanmean(np.delete(given, rater, axis=0), axis=0), 10)
        at = ~np.isnan(given[rater]) & ~np.isnan(judge) & ~np.isnan(mean)
        units = np.unique(unit[at])
        own, theirs, others = (
            np.array([np.round(side[at & (unit == one)].mean(), 10) for one in units])
            for side in (judge, given[rater], mean)
        )
        ranks = [
            0.0 if np.ptp(side) == 0 or np.ptp(others) == 0 else stats.spearmanr(side, others)[0]
            for side in (own, theirs)
        ]
        apart.append(ranks[0] - ranks[1])
    return float(np.mean(apart))


@pytest.mark.parametrize("tied", ["nobody", "the judge", "a rater"])
@pytest.mark.parametrize("level", ["dataset", "system", "session"])
def test_at_other_levels_who_ties_everything_counts_as_0(level: str, tied: str) -> None:
    outputs, given, judge = corpus(8)
    # Two turns of each session: some systems have two outputs in a document.
    outputs = Outputs(outputs.document, outputs.system // 2, DOCUMENTS, 3)
    if tied == "the judge":
        judge = np.where(np.isnan(judge), np.nan, 4.0)
    if tied == "a rater":
        given[1] = 4.0

    found = judge_minus_a_rater(outputs, Ratings.of_table(given), judge, level=level)  # type: ignore[arg-type]

    assert found.value == pytest.approx(at_level(outputs, given, judge, level))
    if level == "dataset":
        left_out = np.array([
            at_level(outputs, given, np.where(outputs.document == one, np.nan, judge), level)
            for one in range(DOCUMENTS)
        ])  # fmt: skip
        spread = ((left_out - left_out.mean()) ** 2).sum()
        assert found.error == pytest.approx(np.sqrt((DOCUMENTS - 1) / DOCUMENTS * spread))
        assert found.freedom == DOCUMENTS - 1


@pytest.mark.parametrize(
    ("level", "reason"),
    [
        ("summary", "no two annotators rated outputs that the judge scored"),
        ("dataset", "no annotator can be compared with the others at dataset level"),
        ("system", "no annotator can be compared with the others at system level"),
    ],
)
def test_where_nobody_can_be_compared_there_is_a_reason(level: str, reason: str) -> None:
    outputs, given, judge = corpus(9)

    for nobody in (given * [[1], [np.nan], [np.nan]], given):
        scores = judge if nobody is not given else np.full(len(judge), np.nan)
        found = judge_minus_a_rater(outputs, Ratings.of_table(nobody), scores, level=level)  # type: ignore[arg-type]
        assert found == BehindARater(None, None, 0, reason)
        assert found.low(0.95) is None


def test_without_a_document_on_which_all_rests_there_is_no_interval() -> None:
    outputs, given, judge = corpus(10, documents=12)
    given = np.where(outputs.document == 0, given, 3.0)
    ratings = Ratings.of_table(given)

    found = judge_minus_a_rater(outputs, ratings, judge, level="dataset")

    assert found.value is not None
    assert (found.error, found.freedom) == (None, 0)
    assert found.reason.startswith("without some documents")


@pytest.mark.parametrize("skewness", [-0.3, -1e-3, 1e-3, 0.3])
def test_ends_take_the_skewness_off(skewness: float) -> None:
    behind = BehindARater(0.1, 0.05, 10, skewness=skewness)

    for end, side in ((behind.low(0.95), 1), (behind.high(0.95), -1)):
        studentised = (0.1 - (end or 0.0)) / 0.05
        # Hall's g3 of it, with the skewness of the mean, is the quantile of Student's t.
        straight = (
            studentised
            + skewness * studentised**2 / 3
            + skewness**2 * studentised**3 / 27
            + skewness / 6
        )
        assert straight == pytest.approx(side * 1.812461)


def test_the_skewness_is_that_of_a_mean_of_documents() -> None:
    rng = np.random.default_rng(8)
    outputs, quality = Outputs.full(40, 5), rng.normal(size=200)
    given = quality + rng.normal(0, 0.1, (3, 200))
    judge = quality + np.where(outputs.document < 8, rng.normal(0, 3, 200), 0.0)

    behind = judge_minus_a_rater(outputs, Ratings.of_table(given), judge)

    each = []
    for document in range(40):
        alone = np.where(outputs.document == document, judge, np.nan)
        each.append(judge_minus_a_rater(outputs, Ratings.of_table(given), alone).value)
    assert behind.value == pytest.approx(np.mean(each))
    assert behind.skewness == pytest.approx(stats.skew(each) / np.sqrt(40))
    assert behind.skewness < -0.2
