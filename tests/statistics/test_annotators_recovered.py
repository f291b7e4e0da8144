"""Intervals hold the severity and competence of simulated annotators."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.statistics.simulated_annotators import Corpus, Held, giving, held, severities

Campaign = Callable[[Corpus, int, np.random.Generator], Held]


def corpus() -> Corpus:
    """Fifty documents of six outputs, which are alike within a document."""
    rng = np.random.default_rng(0)
    document = np.repeat(np.arange(50), 6)
    human = 3.4 + rng.normal(0, 0.5, 50)[document] + rng.normal(0, 0.7, 300)
    return Corpus(document, np.clip(human, 1, 5))


def share_held(campaigns: int, of_campaign: Campaign) -> float:
    found = held(campaigns, of_campaign, corpus(), 40, np.random.default_rng(1))
    return float(np.mean(found))


def test_severity() -> None:
    assert 0.88 <= share_held(10, severities) <= 1


@pytest.mark.slow
def test_competence() -> None:
    assert 0.92 <= share_held(50, giving) <= 0.985
