"""Likely classes of outputs by Dawid and Skene's model, equal to crowd-kit 1.4.2.

Its values were computed once (`DawidSkene(n_iter=3000, tol=1e-12)`) on the ratings of `guessed`,
and are kept here, because crowd-kit needs transformers.
"""

import numpy as np
import pytest

from geval.statistics import latent_classes as module
from geval.statistics.arrays import Ratings
from geval.statistics.latent_classes import (
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

    posterior = dawid_skene(labels, labels.majority(), smoothing=0.0)

    assert posterior[AT] == pytest.approx(np.array(DAWID_SKENE), abs=1e-6)


def test_outputs_whose_class_is_not_clear_are_split_the_least_clear_first() -> None:
    classes = latent_classes(guessed(300))

    assert len(classes.split) > 1
    assert (classes.surest[classes.split] < SPLIT).all()
    assert (np.diff(classes.surest[classes.split]) >= 0).all()
    assert np.nanmin(np.delete(classes.surest, classes.split)) >= SPLIT


# Of the first five outputs, by crowd-kit.
AT = slice(0, 5)
DAWID_SKENE = [
    [1.0, 0.0, 0.0],
    [0.0, 0.00541581, 0.99458419],
    [1.0, 0.0, 0.0],
    [0.0, 0.0268864, 0.9731136],
    [0.0, 1.0, 0.0],
]
