"""A judge that ranks less is not proven to be better: neither where it ties what today's judge
ranks by chance, nor where real judges' scores are cut off."""

from pathlib import Path

import pytest

from benchmarks import improve
from benchmarks.tied import HARD, MOST_PROVEN, most_cut_off_proven, share_of_tied_proven


@pytest.mark.parametrize("hard", HARD)
def test_tying_what_is_ranked_by_chance_is_seldom_proven_better(hard: float) -> None:
    assert share_of_tied_proven(300, hard=hard) <= MOST_PROVEN


def test_a_recorded_judge_that_is_cut_off_is_never_proven_better(
    benchmarks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(improve, "SUMMEVAL", benchmarks / "summeval")

    assert most_cut_off_proven(improve.summeval(), 40) == 0
