"""Intervals of correlations, held to slow computations of their definitions: at every level, over
documents, systems and both, of one judge and of two, with weights and gaps."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.correlation import COEFFICIENTS, Coefficient, coefficients_by_document
from geval.statistics.jackknife import (
    TOO_FEW,
    LeftOut,
    Spread,
    correlation_interval,
    interval_of_difference,
    interval_of_mean,
    no_interval,
    over_systems,
)
from geval.statistics.resampling import Interval, Over
from geval.statistics.same_documents import on_same_documents, ranked_by_document
from geval.statistics.types import FloatArray
from geval.statistics.weighted import kish

DOCUMENTS, SYSTEMS = 12, 11
OUTPUTS = Outputs.full(DOCUMENTS, SYSTEMS)
SCIPY: dict[Coefficient, Any] = {
    "pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau
}  # fmt: skip


def corpus(seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """People's ratings, two judges' scores and weights of documents; of some outputs nothing is
    known, and the second judge ties all outputs of two documents."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, DOCUMENTS * SYSTEMS)
    human = np.clip(np.round(quality + rng.normal(0, 0.7, len(quality))), 1, 5)
    first, second = (quality + rng.normal(0, sd, len(quality)) for sd in (0.5, 1.5))
    human[rng.random(len(quality)) < 0.1] = np.nan
    second[OUTPUTS.document < 2] = 3.0
    return human, first, second, np.repeat(rng.uniform(1, 4, DOCUMENTS), SYSTEMS)


def contrary(seed: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The same where the first judge ranks the outputs of every third document in reverse, and one
    system in all of them, so that documents and systems both vary for themselves."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 1, DOCUMENTS * SYSTEMS)
    human = np.clip(np.round(quality + rng.normal(0, 0.3, len(quality))), 1, 5)
    first = np.where(OUTPUTS.document % 3 == 0, -1, 1) * quality
    first += rng.normal(0, 0.3, len(quality))
    human[OUTPUTS.system == 0], first[OUTPUTS.system == 0] = 5.0, -9.0
    second = quality + rng.normal(0, 1.5, len(quality))
    second[OUTPUTS.document < 2] = 3.0
    human[rng.random(len(quality)) < 0.1] = np.nan
    return human, first, second, np.repeat(rng.uniform(1, 4, DOCUMENTS), SYSTEMS)


def jackknife(left_out: FloatArray) -> float:
    """The variance by values with each unit left out."""
    return float((len(left_out) - 1) / len(left_out) * ((left_out - left_out.mean()) ** 2).sum())


def by_document(
    human: FloatArray, judges: list[FloatArray], coefficient: Coefficient, without: int | None
) -> FloatArray:
    """Each document's coefficient, or the difference of two judges', without a system."""
    found = []
    for document in range(DOCUMENTS):
        own = (OUTPUTS.document == document) & (OUTPUTS.system != without) & ~np.isnan(human)
        if np.ptp(human[own]) == 0:
            found.append(np.nan)
            continue
        values = [
            (0.0 if len(judges) > 1 else np.nan)
            if np.ptp(judge[own]) == 0
            else SCIPY[coefficient](human[own], judge[own])[0]
            for judge in judges
        ]
        found.append(values[0] - sum(values[1:]))
    return np.array(found)


def mean(values: FloatArray, weight: FloatArray) -> float:
    there = ~np.isnan(values)
    return float(np.average(values[there], weights=weight[there]))


@pytest.mark.parametrize("over", ["systems", "both"])
@pytest.mark.parametrize("judges", [1, 2])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("made", [corpus, contrary])
def test_over_systems_and_over_both_variances_are_those_of_leaving_out(
    over: Over, judges: int, is_weighted: bool, coefficient: Coefficient, made: Any
) -> None:
    human, first, second, weights = made(1)
    sides = [second if made == corpus else first] if judges == 1 else [first, second]
    weight = weights[::SYSTEMS] if is_weighted else np.ones(DOCUMENTS)
    known = ~np.isnan(human)
    outputs = OUTPUTS.weighted(weights if is_weighted else None).part(known)
    measured = coefficients_by_document if judges == 1 else ranked_by_document
    rated = [side[known] for side in sides]

    found = over_systems(
        outputs, human[known], rated,
        [measured(outputs, human[known], side, coefficient) for side in rated], coefficient, over,
    )  # fmt: skip

    values = by_document(human, sides, coefficient, None)
    without = np.array([by_document(human, sides, coefficient, at) for at in range(SYSTEMS)])
    estimate = mean(values, weight)
    left_out = np.array([mean(row, weight) for row in without])
    of_systems = jackknife(left_out)
    assert isinstance(found, Spread)
    assert found.estimate == pytest.approx(estimate)
    if over == "systems":
        assert (found.variance, found.freedom) == pytest.approx((of_systems, SYSTEMS - 1))
        return
    of_documents = jackknife(
        np.array([
            mean(np.where(np.arange(DOCUMENTS) == at, np.nan, values), weight)
            for at in range(DOCUMENTS)
        ])
    )  # fmt: skip
    used = ~np.isnan(values)
    counting = int(kish(weight[used]))
    share = weight / np.sqrt((weight[used] ** 2).mean())
    apart = (without - values - (left_out - estimate)[:, None]) * share
    shared = (SYSTEMS - 1) / SYSTEMS * np.nansum(apart[:, used] ** 2)
    shared /= used.sum() * (counting - 1)
    variance = max(of_documents + of_systems - shared, of_documents, of_systems)
    if made == contrary and coefficient != "pearson":
        assert variance > max(of_documents, of_systems)
    assert found.variance == pytest.approx(variance)
    freedom = variance**2 / (of_documents**2 / (counting - 1) + of_systems**2 / (SYSTEMS - 1))
    assert found.freedom == pytest.approx(freedom)
    t = abs(estimate) / np.sqrt(variance)
    assert found.p == pytest.approx(2 * stats.t.sf(t, freedom))


@pytest.mark.parametrize("over", ["systems", "both"])
def test_an_interval_over_systems_is_students(over: Over) -> None:
    human, first, _second, _weights = corpus(2)
    known = ~np.isnan(human)
    part = OUTPUTS.part(known)
    spread = over_systems(
        part, human[known], [first[known]],
        [coefficients_by_document(part, human[known], first[known], "spearman")], "spearman", over,
    )  # fmt: skip

    found = correlation_interval(OUTPUTS, human, first, "spearman", "summary", over)

    assert isinstance(spread, Spread)
    half = stats.t.ppf(0.975, spread.freedom) * np.sqrt(spread.variance)
    ends = spread.estimate - half, min(1.0, spread.estimate + half)
    assert found.ends == pytest.approx(ends)


@pytest.mark.parametrize("coefficient", ["spearman", "kendall", "pearson"])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("level", ["dataset", "session"])
def test_at_dataset_and_session_level_it_is_the_jackknife_on_fishers_z(
    coefficient: Coefficient, is_weighted: bool, level: Any
) -> None:
    rng = np.random.default_rng(3)
    outputs = Outputs(np.repeat(np.arange(60), 4), np.tile([0, 0, 1, 1], 60), 60, 2)
    of_documents = rng.integers(1, 4, 60)
    quality = rng.normal(size=240)
    human, judge = quality, quality + rng.normal(size=240)
    outputs = outputs.weighted(np.repeat(of_documents, 4).astype(float) if is_weighted else None)

    found = correlation_interval(outputs, human, judge, coefficient, level, "documents")

    units = np.repeat(np.arange(60), 4 if level == "dataset" else 2)
    sides = [side.reshape(60, 2, -1).mean(axis=2).ravel() for side in (human, judge)]
    x, y = (human, judge) if level == "dataset" else [np.round(side, 10) for side in sides]
    times = of_documents[units] if is_weighted else np.ones(len(units), dtype=int)

    def z(kept: np.ndarray) -> float:
        repeated = (np.repeat(side[kept], times[kept]) for side in (x, y))
        return float(np.arctanh(SCIPY[coefficient](*repeated)[0]))

    left_out = np.array([z(units != at) for at in range(60)])
    counting = kish(of_documents.astype(float)) if is_weighted else 60
    freedom = int(counting) - 1.0
    if coefficient == "pearson":
        squares = (left_out - left_out.mean()) ** 2
        rests_on = squares.sum() ** 2 / (squares**2).sum()
        assert rests_on < counting
        freedom = rests_on - 1
    half = stats.t.ppf(0.975, freedom) * np.sqrt(jackknife(left_out))
    whole = z(units >= 0)
    assert found.ends == pytest.approx((np.tanh(whole - half), np.tanh(whole + half)))


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_at_system_level_each_coefficient_has_its_own_interval(coefficient: Coefficient) -> None:
    rng = np.random.default_rng(4)
    outputs = Outputs.full(3, 12)
    human = rng.normal(size=36)
    judge = human + rng.normal(0, 0.8, 36)
    x, y = (np.round(side.reshape(3, 12).mean(axis=0), 10) for side in (human, judge))
    value = SCIPY[coefficient](x, y)[0]
    without = np.array(
        [SCIPY[coefficient](np.delete(x, at), np.delete(y, at))[0] for at in range(12)]
    )

    found = correlation_interval(outputs, human, judge, coefficient, "system", "systems")

    if coefficient == "kendall":
        half = stats.t.ppf(0.975, 11) * np.sqrt(jackknife(without))
        ends = value - half, min(1.0, value + half)
    else:
        error = np.sqrt(jackknife(np.arctanh(without)))
        half = stats.norm.ppf(0.975) * (1 / np.sqrt(9) if coefficient == "pearson" else error)
        ends = np.tanh(np.arctanh(value) - half), np.tanh(np.arctanh(value) + half)
    assert found.ends == pytest.approx(ends)
    assert found == correlation_interval(outputs, human, judge, coefficient, "system", "both")


def on_a_line(r: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Values whose Pearson correlation is exactly r."""
    x = np.arange(count) - (count - 1) / 2
    rest = np.cos(np.pi * np.arange(count))
    rest -= rest.mean() + x * (rest @ x) / (x @ x)
    return x, r * x / np.linalg.norm(x) + np.sqrt(1 - r**2) * rest / np.linalg.norm(rest)


@pytest.mark.parametrize(("r", "has_one"), [(0.9989, True), (0.9991, False), (-0.9991, False)])
def test_values_on_one_line_say_nothing_of_how_much_they_vary(r: float, has_one: bool) -> None:
    outputs, sides = Outputs.full(60, 1), on_a_line(r, 60)
    of_systems = Outputs.full(1, 60)

    dataset = correlation_interval(outputs, *sides, "pearson", "dataset", "documents")
    system = correlation_interval(of_systems, *sides, "pearson", "system", "systems")

    assert (dataset.ends is not None) is (system.ends is not None) is has_one
    if not has_one:
        assert dataset.reason.startswith("the values are on one line")
        assert system.reason.startswith("the order is the same")


# What is left out, and what counts


def test_more_than_a_hundred_units_are_left_out_in_a_hundred_groups() -> None:
    groups = [LeftOut.each(units).groups for units in (0, 1, 99, 100, 101, 250)]

    assert groups == [0, 1, 99, 100, 100, 100]
    assert LeftOut.each(250).group.tolist() == [*range(100), *range(100), *range(50)]


def test_degrees_of_freedom_are_of_what_counts() -> None:
    freedom = LeftOut.each(5).freedom

    assert [freedom(counting) for counting in (1, 2, 3, 5, 9)] == [1, 1, 2, 4, 4]
    assert LeftOut.each(150).freedom(150) == 99


def test_where_a_value_rests_on_one_document_there_is_no_interval() -> None:
    left_out = np.arange(12.0)
    left_out[3] = np.nan

    found = LeftOut.each(12).interval(0.5, left_out, counting=12)

    assert found == no_interval(found.reason)
    assert found.reason.startswith("without some documents")
    assert no_interval("why") == Interval(None, None, "why")


def test_the_interval_of_a_weighted_mean_over_outputs_leaves_whole_documents_out() -> None:
    rng = np.random.default_rng(6)
    values, weight = rng.normal(size=60), rng.uniform(1, 3, 60)
    outputs = Outputs.full(20, 3).weighted(weight)

    found = interval_of_mean(outputs, values, LeftOut.each(20))

    left_out = np.array([
        np.average(values[outputs.document != at], weights=weight[outputs.document != at])
        for at in range(20)
    ])  # fmt: skip
    counting = int(kish(weight.reshape(20, 3).mean(axis=1)))
    half = stats.t.ppf(0.975, counting - 1) * np.sqrt(jackknife(left_out))
    whole = np.average(values, weights=weight)
    assert found.ends == pytest.approx((whole - half, whole + half))


@pytest.mark.parametrize(("outputs", "has_one"), [(59, False), (60, True), (61, True)])
def test_a_difference_needs_60_outputs_in_documents_that_count(outputs: int, has_one: bool) -> None:
    rng = np.random.default_rng(7)
    document = np.sort(np.arange(outputs) % 12)
    # Two documents more, in which people rank nothing.
    document = np.append(document, np.repeat([12, 13], 5))
    sides = rng.normal(size=(3, len(document)))
    sides[0, document > 11] = 3.0
    place = np.arange(len(document)) - np.searchsorted(document, document)

    found = interval_of_difference(on_same_documents(Outputs(document, place, 14, 6), *sides))

    assert (found.ends is not None) is has_one
    assert has_one or found.reason == TOO_FEW.format(60, "outputs")
