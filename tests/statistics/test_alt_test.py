"""The alternative annotator test, held to its definition where documents cluster, ratings are
missing and annotators do not agree."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.alt_test import (
    alt_test,
    nearest_constant,
    p_of_nearer,
    raters_that_agree,
)
from geval.statistics.arrays import Ratings

RNG = np.random.default_rng(3)


def people(raters: int = 3, outputs: int = 60, missing: float = 0.0, noise: float = 0.7):
    quality = np.repeat(RNG.normal(3, 1, outputs // 3), 3)
    table = np.clip(np.round(quality + RNG.normal(0, noise, (raters, outputs))), 1, 5)
    return np.where(RNG.random(table.shape) < missing, np.nan, table)


def distances(table: np.ndarray, values: np.ndarray, rater: int, output: int) -> float:
    """The root mean squared distance of a value to the ratings of all others."""
    others = np.delete(table[:, output], rater)
    return float(np.sqrt(np.nanmean((values[output] - others) ** 2)))


def duel(table: np.ndarray, judge: np.ndarray, documents: np.ndarray, rater: int, epsilon: float):
    """p and advantage of the judge against one annotator, output by output."""
    losses, wins, clusters = [], [], []
    for output in range(table.shape[1]):
        alone = np.isnan(np.delete(table[:, output], rater)).all()
        if np.isnan(table[rater, output]) or np.isnan(judge[output]) or alone:
            continue
        own, theirs = (distances(table, of, rater, output) for of in (judge, table[rater]))
        wins.append(float(own <= theirs + 1e-12))
        losses.append(float(theirs <= own + 1e-12) - wins[-1])
        clusters.append(documents[output])
    apart, cluster = np.array(losses), np.array(clusters)
    sums = np.array([(apart - apart.mean())[cluster == one].sum() for one in np.unique(cluster)])
    count = len(sums)
    error = np.sqrt(count / (count - 1) * (sums**2).sum()) / len(apart)
    p = stats.t.cdf((apart.mean() - epsilon) / error, count - 1)
    return float(p), float(np.mean(wins)), len(apart)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("epsilon", [0.0, 0.15, 0.4])
def test_it_equals_its_definition_with_standard_errors_clustered_by_document(
    missing: float, epsilon: float
) -> None:
    table, documents = people(4, missing=missing), np.arange(60) // 3
    judge = people(1, missing=missing / 2)[0]
    duels = [duel(table, judge, documents, rater, epsilon) for rater in range(4)]

    found = alt_test(Ratings.of_table(table), judge, epsilon=epsilon, documents=documents)

    assert found.p == pytest.approx([p for p, _wins, _count in duels])
    assert found.advantages == pytest.approx([wins for _p, wins, _count in duels])
    assert found.outputs == max(count for _p, _wins, count in duels)
    assert (found.annotators, found.left_out) == ((0, 1, 2, 3), ())


def test_without_documents_outputs_are_unrelated() -> None:
    table, judge = people(), people(1)[0]
    alone = [duel(table, judge, np.arange(60), rater, 0.2)[0] for rater in range(3)]

    assert alt_test(Ratings.of_table(table), judge).p == pytest.approx(alone)


def test_an_annotator_with_few_outputs_does_not_count() -> None:
    table, judge = people(4), people(1)[0]
    table[1, 2:] = np.nan
    table[3, 1:] = np.nan
    ratings = Ratings.of_table(table)

    usual, all_of_them = alt_test(ratings, judge), alt_test(ratings, judge, least_outputs=1)
    three = alt_test(ratings, judge, least_outputs=3)

    assert usual.annotators == (0, 1, 2)
    assert all_of_them.annotators == (0, 1, 2, 3)
    assert all_of_them.advantages[3] in (0.0, 1.0)
    assert three.annotators == (0, 2)
    assert alt_test(ratings, judge, least_outputs=0).annotators == (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("least", "reason"),
    [
        (1, "no output was rated by two annotators and scored by the judge"),
        (2, "2 annotators with 2 outputs each"),
    ],
)
def test_where_nothing_can_be_compared_it_says_why(least: int, reason: str) -> None:
    found = alt_test(Ratings.of_table(people()), np.full(60, np.nan), least_annotators=least)

    assert reason in found.winning_rate.reason
    if least == 1:
        assert found == alt_test(Ratings.of_table(people()), np.full(60, np.nan))
    assert found.winning_rate == found.advantage
    assert (found.outputs, found.p, found.passes, found.epsilon) == (0, (), False, 0.2)
    assert found.smallest_epsilon is None


def test_one_annotator_is_enough_unless_more_are_asked_for() -> None:
    table = people(2)
    table[1, 30:] = np.nan
    judge = people(1)[0]
    ratings = Ratings.of_table(np.vstack([table, np.full(60, np.nan)]))

    assert alt_test(ratings, judge).winning_rate.value is not None
    assert alt_test(ratings, judge, least_annotators=2).winning_rate.value is not None
    assert alt_test(ratings, judge, least_annotators=3).winning_rate.value is None
    # Of three annotators one shares 40 outputs with the others, who share 20 each with that one.
    table = people(3)
    table[1, 20:] = table[2, :20] = table[2, 40:] = np.nan
    found = alt_test(Ratings.of_table(table), judge, least_outputs=30)
    assert found.annotators == (0,)
    assert found.winning_rate.value is not None
    assert found.outputs == 40
    alone = Ratings.of_table(np.array([[3.0, 4.0, np.nan], [3.0, np.nan, 5.0]]))
    found = alt_test(alone, np.array([3.0, 4.0, 5.0]), least_outputs=1)
    assert found.outputs == 1


def test_distances_that_differ_by_rounding_are_the_same() -> None:
    # 0.1 + 0.2 is no 0.3, so that one side seems nearer by 4e-17.
    table = np.array([[0.3] * 8, [0.1 + 0.2] * 8, [0.0] * 8])
    judge = np.full(8, 0.3)

    found = alt_test(Ratings.of_table(table), judge, epsilon=0.0)

    assert found.advantages[:2] == (1.0, 1.0)
    # Nobody is nearer than the other, so that the margin of 0 is not kept.
    assert found.p[:2] == (1.0, 1.0)
    above = alt_test(Ratings.of_table(table), judge, epsilon=0.01)
    assert above.p[:2] == (0.0, 0.0)


@pytest.mark.parametrize("raters", [2, 3, 4])
def test_the_smallest_epsilon_is_the_first_percent_at_which_the_judge_passes(raters: int) -> None:
    """With two and four annotators it is passed where exactly half of them are won."""
    for noise in np.linspace(0.5, 1.5, 5):
        ratings, judge = Ratings.of_table(people(raters)), people(1, noise=noise)[0]

        found = alt_test(ratings, judge).smallest_epsilon

        assert found is not None
        assert round(100 * found) / 100 == found
        assert alt_test(ratings, judge, epsilon=found).passes
        assert not alt_test(ratings, judge, epsilon=(round(100 * found) - 1) / 100).passes


def test_within_one_document_nothing_is_known_of_the_error() -> None:
    table, judge = people(3), people(1)[0]
    losses = [duel(table, judge, np.arange(60), at, 0.2) for at in range(3)]

    found = alt_test(Ratings.of_table(table), judge, documents=np.zeros(60, dtype=int))

    assert found.advantages == pytest.approx([wins for _p, wins, _count in losses])
    assert set(found.p) <= {0.0, 1.0}


def agrees_by_definition(table: np.ndarray, documents: np.ndarray) -> list[bool]:
    """Whether the interval of a rater's r with the others lies above 0, by the influence of each
    rating on r."""
    count = (~np.isnan(table)).sum(axis=0)
    others = (np.nansum(table, axis=0) - table) / np.where(count > 1, count - 1, np.nan)
    known = ~np.isnan(table) & ~np.isnan(others)
    own, theirs = np.full((2, *table.shape), np.nan)
    order = np.argwhere(known)
    own[known], theirs[known] = stats.rankdata(table[known]), stats.rankdata(others[known])
    found = []
    for rater in range(len(table)):
        at = order[order[:, 0] == rater, 1]
        x, y = ((of - of.mean()) / of.std() for of in (own[rater, at], theirs[rater, at]))
        r = float((x * y).mean())
        influence = x * y - r * (x**2 + y**2) / 2
        of_document = np.unique(documents[at], return_inverse=True)[1]
        sums = np.bincount(of_document, influence)
        error = np.sqrt(len(sums) / (len(sums) - 1) * (sums**2).sum()) / len(at)
        found.append(bool(r - stats.t.ppf(0.975, len(sums) - 1) * error > 0))
    return found


@pytest.mark.parametrize(("count", "noise"), [(11, 1.6), (16, 2.0)])
def test_raters_agree_where_the_interval_of_their_correlation_lies_above_0(
    count: int, noise: float
) -> None:
    documents, seen = np.arange(33) * count // 33, []
    for _ in range(60):
        # So noisy that some of the raters are shown to agree, and some are not.
        table = people(3, 33, noise=noise)
        found = raters_that_agree(Ratings.of_table(table), documents, least_outputs=5)
        assert found.tolist() == agrees_by_definition(table, documents)
        seen += found.tolist()

    assert 0.1 < np.mean(seen) < 0.9


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_nearer_than_other_scores_is_a_t_test_clustered_by_document(missing: float) -> None:
    table, documents = people(3, missing=missing), np.arange(60) // 3
    judge, other = people(1, missing=missing)[0], np.full(60, 3.0)
    apart, cluster = [], []
    for rater in range(3):
        for output in range(60):
            alone = np.isnan(np.delete(table[:, output], rater)).all()
            if not alone and not np.isnan(table[rater, output] + judge[output]):
                theirs, own = (distances(table, of, rater, output) for of in (other, judge))
                apart.append(theirs - own)
                cluster.append(documents[output])
    values, mean = np.array(apart), np.mean(apart)
    sums = [(values - mean)[np.array(cluster) == one].sum() for one in np.unique(cluster)]
    error = np.sqrt(len(sums) / (len(sums) - 1) * np.square(sums).sum()) / len(values)

    found = p_of_nearer(Ratings.of_table(table), judge, other, documents)

    assert found == pytest.approx(stats.t.sf(mean / error, len(sums) - 1))


def test_nearer_is_not_tested_where_nothing_varies_or_counts() -> None:
    ratings, documents = Ratings.of_table(people()), np.arange(60) // 3
    judge, other = np.full(60, 3.0), np.full(60, 2.0)
    alike = Ratings.of_table(np.full((2, 60), 4.0))

    assert p_of_nearer(ratings, np.full(60, np.nan), other, documents) is None
    assert p_of_nearer(ratings, judge, other, np.zeros(60, dtype=int)) is None
    assert p_of_nearer(alike, judge, other, documents) is None
    two = np.arange(60) // 30
    assert p_of_nearer(ratings, people(1)[0], other, two) is not None


def test_the_best_constant_is_the_one_that_is_nearest_most_often() -> None:
    table = people(3, missing=0.2)
    points = (1.0, 2.0, 3.0, 4.0, 5.0)

    def wins(point: float) -> float:
        constant = np.full(60, point)
        places = [
            (rater, output)
            for rater in range(3)
            for output in range(60)
            if not np.isnan(table[rater, output])
            and not np.isnan(np.delete(table[:, output], rater)).all()
        ]
        return float(np.mean([
            distances(table, constant, *place) <= distances(table, table[place[0]], *place) + 1e-12
            for place in places
        ]))  # fmt: skip

    best = nearest_constant(Ratings.of_table(table), points)

    assert best == max(points, key=wins)
    alone = np.array([[1.0, 4.0, np.nan], [np.nan, np.nan, 5.0]])
    assert nearest_constant(Ratings.of_table(alone), points) == 4.0
