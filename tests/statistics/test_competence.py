"""How competent annotators are by Dawid and Skene's model, equal to crowd-kit 1.4.2.

Its values were computed once (`DawidSkene(n_iter=3000, tol=1e-12)`) on the ratings of `guessed`,
and are kept here, because crowd-kit needs transformers.
"""

import numpy as np
import pytest

from geval.statistics import latent_classes as module
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.latent_classes import (
    FEW_OUTPUTS,
    FEW_RATERS,
    FEW_SHARED,
    MANY_VALUES,
    NEVER_WRONG,
    ONE_VALUE,
    SPLIT,
    Labels,
    dawid_skene,
    latent_classes,
)


def guessed(outputs: int = 60) -> Ratings:
    """Four people, of whom each knows with some probability which of three values is right."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, outputs)
    knows = np.array([0.9, 0.7, 0.5, 0.8])[:, None]
    values = rng.random((4, outputs)) < knows
    table = np.where(values, truth, rng.integers(0, 3, (4, outputs))).astype(float)
    table[rng.random((4, outputs)) < 0.15] = np.nan
    table[:, 0] = [0, 1, 2, 0]
    return Ratings.of_table(table)


@pytest.fixture
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """EM until nothing changes, as the kept values are."""
    monkeypatch.setattr(module, "MOST_ROUNDS", 3000)
    monkeypatch.setattr(module, "CHANGE", 1e-10)


@pytest.mark.usefixtures("to_the_end")
def test_dawid_and_skenes_posteriors_are_crowd_kits() -> None:
    labels = Labels.of(guessed())

    found = dawid_skene(labels, labels.majority(), smoothing=0.0)

    assert found.posterior[AT] == pytest.approx(np.array(DAWID_SKENE), abs=1e-6)


def test_the_likely_class_of_an_output_is_what_the_competent_say() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 200)
    slip = np.where(rng.random((2, 200)) < 0.1, rng.integers(1, 6, (2, 200)), truth)
    table = np.array([*slip, *rng.integers(1, 6, (3, 200))], dtype=float)
    outputs, ratings = Outputs.full(50, 4), Ratings.of_table(table)

    found = latent_classes(outputs, ratings)
    good, bad = found.raters[:2], found.raters[2:]

    assert (found.likeliest == truth).mean() > 0.85
    assert all((one.estimate.value or 0) > 0.75 for one in good)
    assert all((one.estimate.value or 0) < 0.35 for one in bad)
    assert np.abs(found.expected - truth).mean() < 0.3
    for one in found.raters:
        assert one.interval.ends is not None
        assert 0 <= one.interval.ends[0] < (one.estimate.value or 0) < one.interval.ends[1] <= 1


def test_outputs_whose_class_is_not_clear_are_split_the_least_clear_first() -> None:
    ratings, outputs = guessed(300), Outputs.full(300, 1)

    found = latent_classes(outputs, ratings, has_intervals=False)

    assert len(found.split) > 1
    assert (found.surest[found.split] < SPLIT).all()
    assert (np.diff(found.surest[found.split]) >= 0).all()
    assert np.nanmin(np.delete(found.surest, found.split)) >= SPLIT


def test_intervals_are_of_documents_and_need_ten_of_them() -> None:
    ratings = guessed()

    few = latent_classes(Outputs.full(6, 10), ratings)
    alike = latent_classes(Outputs.full(15, 4), ratings)

    assert "documents count" in few.raters[0].interval.reason
    assert alike.raters[0].interval.ends is not None


def test_one_document_or_ratings_of_few_have_competences_without_intervals() -> None:
    """Twenty documents or more are left out in twenty groups, of which one may have all ratings."""
    ratings = guessed()
    far_apart = Outputs(np.repeat([0, 20], 30), np.tile(np.arange(30), 2), 40, 30)

    for outputs in (Outputs.full(1, 60), far_apart):
        for one in latent_classes(outputs, ratings).raters:
            assert one.estimate.value is not None
            assert "documents count" in one.interval.reason


def test_documents_without_ratings_change_no_interval() -> None:
    ratings = guessed()
    alone = latent_classes(Outputs.full(30, 2), ratings)
    among = Outputs(np.repeat(np.arange(30) * 20, 2), np.tile([0, 1], 30), 600, 2)

    assert latent_classes(among, ratings).raters == alone.raters


def test_somebody_who_is_always_right_has_no_interval() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 240)
    wrong = np.where(rng.random(240) < 0.2, truth % 5 + 1, truth)
    table = np.stack([truth, truth, wrong, np.full(240, 3)]).astype(float)

    found = latent_classes(Outputs.full(60, 4), Ratings.of_table(table)).raters

    assert [one.interval.reason for one in found[:3]] == [NEVER_WRONG, NEVER_WRONG, ""]
    assert (found[0].estimate.value or 0) > 0.99


@pytest.mark.parametrize("mistakes", [1, 3, 40])
def test_intervals_hold_their_estimate_however_near_to_1_it_is(mistakes: int) -> None:
    truth = np.random.default_rng(1).integers(1, 4, 4000)
    wrong = truth.copy()
    wrong[:: 4000 // mistakes] = truth[:: 4000 // mistakes] % 3 + 1
    table = np.stack([truth, truth, truth, wrong]).astype(float)

    found = latent_classes(Outputs.full(1000, 4), Ratings.of_table(table)).raters[3]

    low, high = found.interval.ends or (1.0, 0.0)
    assert low < (found.estimate.value or 0) < high


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.ones((2, 60)), FEW_RATERS),
        (np.arange(40 * 3).reshape(3, 40) % 2, FEW_OUTPUTS),
        (np.ones((3, 60)), ONE_VALUE),
        (np.arange(180).reshape(3, 60) % 13, MANY_VALUES),
    ],
)
def test_too_little_to_go_by_is_said(table: np.ndarray, reason: str) -> None:
    ratings = Ratings.of_table(table.astype(float))

    found = latent_classes(Outputs.full(ratings.outputs, 1), ratings)

    assert found.reason == reason
    assert {one.estimate.reason for one in found.raters} == {reason}
    assert np.isnan(found.expected).all()


def test_somebody_with_few_shared_outputs_has_no_competence_and_counts_all_the_same() -> None:
    table = np.full((5, 60), np.nan)
    ratings = guessed()
    for rater in range(4):
        table[rater] = ratings.values_of(rater)
    table[4, :10] = 1

    found = latent_classes(Outputs.full(60, 1), Ratings.of_table(table))

    assert found.raters[4].estimate.reason == FEW_SHARED
    assert found.raters[0].estimate.value is not None


# Of the first five outputs, by crowd-kit.
AT = slice(0, 5)
DAWID_SKENE = [
    [1.0, 0.0, 0.0],
    [0.0, 0.00541581, 0.99458419],
    [1.0, 0.0, 0.0],
    [0.0, 0.0268864, 0.9731136],
    [0.0, 1.0, 0.0],
]
