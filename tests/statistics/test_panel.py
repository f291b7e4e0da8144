"""Weights of a panel, what a choice is worth, and how many independent votes it has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.panel import Arms, choose, effective_votes


def made(seed, *, documents=40, systems=6, noise=(0.5, 0.7, 1.0)):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(documents, systems))
    human = np.round(3 + quality + rng.normal(0, 0.5, quality.shape))
    scores = np.stack([(quality + rng.normal(0, sd, quality.shape)).ravel() for sd in noise])
    return Arms(Outputs.full(documents, systems), human.ravel(), scores)


def by_hand(arms, documents, ridge):
    """Ridge regression by augmented least squares, on a table written out."""
    shape = arms.outputs.documents, arms.outputs.systems
    human = arms.human.reshape(shape)[documents]
    ranks = stats.rankdata(human, axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    spread = ranks.std(axis=1, keepdims=True)
    y = np.where(spread > 0, ranks / np.where(spread > 0, spread, 1), 0).ravel()
    tables = arms.scores.reshape(len(arms.scores), *shape)[:, documents]
    x = (tables - tables.mean(axis=2, keepdims=True)).reshape(len(tables), -1).T
    sd = np.sqrt((x**2).sum(axis=0))
    design = np.vstack([x / sd, np.sqrt(ridge) * np.eye(len(sd))])
    weights, *_ = np.linalg.lstsq(design, np.append(y, np.zeros(len(sd))), rcond=None)
    return weights / sd


@pytest.mark.parametrize("ridge", [0.3, 1.0, 3.0])
def test_weights_are_those_of_ridge_regression_within_documents(ridge):
    arms, documents = made(1), np.arange(5, 30)
    found = arms.fitted(documents, ridge).weights
    assert found == pytest.approx(by_hand(arms, documents, ridge))


def test_without_a_ridge_it_is_the_arm_with_the_highest_mean_rho():
    arms, documents = made(2), np.arange(20)
    rho = [
        np.mean(
            [
                stats.spearmanr(h, s).statistic
                for h, s in zip(
                    arms.human.reshape(40, 6)[:20], one.reshape(40, 6)[:20], strict=True
                )
            ]
        )
        for one in arms.scores
    ]
    assert arms.best(documents).members == [int(np.argmax(rho))]


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_documents_that_are_not_given_do_not_count(seed):
    arms, rng = made(seed, documents=16), np.random.default_rng(seed)
    training = np.arange(10)
    others = arms.outputs.document >= 10
    changed = Arms(
        arms.outputs,
        np.where(others, rng.integers(1, 6, len(others)), arms.human),
        np.where(others, rng.normal(size=arms.scores.shape), arms.scores),
    )
    first, second = (choose(one, training, seed=1) for one in (arms, changed))
    assert np.array_equal(first.formula.weights, second.formula.weights)
    assert np.array_equal(first.by_document, second.by_document, equal_nan=True)


def test_judges_that_err_alike_are_one_vote():
    rng = np.random.default_rng(5)
    outputs = Outputs.full(300, 8)
    human, noise = rng.normal(size=2400), rng.normal(size=2400)
    same = Arms(outputs, human, np.stack([human + noise] * 4))
    apart = Arms(outputs, human, np.stack([human + rng.normal(size=2400) for _ in range(4)]))
    assert effective_votes(same, range(4)) == pytest.approx(1.0)
    # Standardised scores all fall short of people's extremes, which makes their errors alike.
    assert 2.5 < effective_votes(apart, range(4)) <= 4.0
    assert effective_votes(apart, [2]) == 1.0
    assert effective_votes(Arms(outputs, human, np.stack([human, human])), [0, 1]) is None
