"""When judges are ranked, lettered and shown to differ, and what agreement on choices takes."""

from types import SimpleNamespace

import numpy as np
import pytest

from geval.reports.report import CriterionResult
from geval.reports.verdicts.analysis import (
    Significance,
    adjusted_together,
)
from geval.statistics.comparisons import share_interval
from geval.statistics.significance import PairTest
from tests.thresholds.three_points import pins

RNG = np.random.default_rng(6)


def significance(p: float, judges: int = 2) -> Significance:
    names = [f"j{at}" for at in range(judges)]
    pairs = [(a, b) for at, a in enumerate(names) for b in names[at + 1 :]]
    tests = {pair: PairTest(0.1, p, 1000, False) for pair in pairs}
    means = {name: 0.5 - at / 100 for at, name in enumerate(names)}
    return Significance("spearman", "documents", means, tests, {})


@pins("SIGNIFICANCE", {0.0499: True, 0.05: True, 0.0501: False})
def test_judges_that_differ_share_no_letter(value: float, expected: bool) -> None:
    (found,) = adjusted_together([significance(value)])

    assert (set(found.letters["j0"]).isdisjoint(found.letters["j1"])) is expected


@pins("LETTERED_JUDGES", {11: True, 12: True, 13: False})
def test_so_many_judges_have_letters(value: int, expected: bool) -> None:
    (found,) = adjusted_together([significance(0.5, judges=value)])

    assert bool(found.letters) is expected


@pins("RANKED_SHARE", {0.49: False, 0.5: True, 0.51: True})
def test_a_judge_of_half_of_the_outputs_is_ranked(value: float, expected: bool) -> None:
    judges = [
        SimpleNamespace(correlations=SimpleNamespace(pairs=pairs, documents=20))
        for pairs in (round(100 * value), 100)
    ]
    criterion = SimpleNamespace(judges=judges, _most_outputs=100)

    assert CriterionResult.ranks(criterion, judges[0]) is expected  # type: ignore[arg-type]


@pins("CHOICES_OF_EACH", {4: False, 5: True, 6: True})
@pytest.mark.parametrize("rare", ["agree", "differ"])
def test_documents_with_choices_of_each_kind(value: int, expected: bool, rare: str) -> None:
    few, of = np.where(np.arange(20) < value, 1.0, 0.0), np.full(20, 2.0)

    interval = share_interval(few if rare == "agree" else of - few, of)

    assert (interval.ends is not None) is expected
