"""What a model answered is kept in a file and not asked for again, also after a stop."""

import sqlite3
import stat
from pathlib import Path

import pytest

import geval
from geval.evaluating.kept_answers import KeptAnswers
from tests.evaluating.conftest import Evaluate, table
from tests.processes import StandInProcess


def test_a_second_time_nothing_is_asked(evaluate: Evaluate, standin: StandInProcess) -> None:
    first = evaluate(table())
    calls = standin.stats["calls"]

    second = evaluate(table())

    assert standin.stats["calls"] == calls
    assert second.scores == first.scores
    assert (second.usage.calls, second.usage.reused) == (0, 13)  # 12 prompts and the steps


@pytest.mark.parametrize(
    "changed",
    [{"mode": "samples"}, {"definition": "something else"}, {"scale": (1, 7)}],
)
def test_another_question_is_asked_anew(evaluate: Evaluate, changed: dict[str, object]) -> None:
    evaluate(table(3))

    assert evaluate(table(3), **changed).usage.calls >= 3


def test_outputs_with_the_same_prompt_are_asked_about_once(evaluate: Evaluate) -> None:
    rows = [{"system": name, "question": "Why?", "answer": "So."} for name in ("a", "b", "c")]

    result = evaluate(rows, system="system", steps=False)

    assert (result.usage.calls, len(result.scores)) == (1, 3)
    assert len({score.score for score in result.scores}) == 1


def test_a_judge_that_was_stopped_goes_on_where_it_was(
    evaluate: Evaluate, standin: StandInProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, kept = KeptAnswers.keep, []

    def keep_five(self: KeptAnswers, key: str, choices: object, model: str) -> None:
        if len(kept) == 5:
            raise KeyboardInterrupt
        keep(self, key, choices, model)
        kept.append(key)

    monkeypatch.setattr(KeptAnswers, "keep", keep_five)
    with pytest.raises(geval.EvaluationError, match="run it again to go on"):
        evaluate(table(), concurrency=1)
    monkeypatch.undo()

    result = evaluate(table(), concurrency=1)

    assert result.usage.reused == 5
    assert all(score.score is not None for score in result.scores)


def test_the_file_holds_no_key_and_only_its_owner_reads_it(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    evaluate(table(3), api_key="sk-very-secret-1234567890")

    path = tmp_path / "answers.sqlite3"
    sqlite3.connect(path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"very-secret" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", ["", "null", '[{"text": 4}]'])
def test_a_damaged_answer_is_asked_for_again(
    evaluate: Evaluate, tmp_path: Path, damage: str
) -> None:
    first = evaluate(table(3), steps=False)
    with sqlite3.connect(tmp_path / "answers.sqlite3") as file:
        file.execute("UPDATE answers SET choices = ?", (damage,))

    again = evaluate(table(3), steps=False)

    assert again.usage.calls == 3
    assert [each.score for each in again.scores] == [each.score for each in first.scores]
