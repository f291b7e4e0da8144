"""`geval.evaluate`: a model rates the outputs of a table, and what that is worth beside people."""

import asyncio
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import geval
from tests.evaluating.conftest import Evaluate, table
from tests.processes import StandInProcess


def test_ratings_beside_the_outputs_are_measured_at_once(evaluate: Evaluate) -> None:
    result = evaluate(table(40), human=["ann", "bob", "cyd"])

    (measured,) = result.measurement.criteria
    assert (measured.criterion, measured.outputs, measured.raters) == ("coherence", 40, 3)
    assert measured.judge == "offline-stand-in"
    assert "coherence: " in str(result)


def test_a_score_has_its_distribution(evaluate: Evaluate) -> None:
    score = evaluate(table(1), scale=(1, 4)).scores[0]

    assert set(score.distribution) == {1, 2, 3, 4}
    assert sum(score.distribution.values()) == pytest.approx(1)
    weighted = sum(point * share for point, share in score.distribution.items())
    assert score.score == pytest.approx(weighted)


def test_scores_are_written_as_a_file_that_measure_reads(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    result = evaluate(table())
    result.to_csv(tmp_path / "scores.csv")

    written = list(csv.DictReader((tmp_path / "scores.csv").open(encoding="utf-8")))
    assert [float(row["score"]) for row in written] == [each.score for each in result.scores]
    assert len(json.loads(result.to_json())["scores"]) == len(result.to_records()) == 12


def test_names_in_the_file_of_scores_are_no_formulas(evaluate: Evaluate, tmp_path: Path) -> None:
    result = evaluate([{"system": "=1+1", "question": "Why?", "answer": "So."}], system="system")
    result.to_csv(tmp_path / "scores.csv")

    (row,) = csv.DictReader((tmp_path / "scores.csv").open(encoding="utf-8"))
    assert row["system_id"] == "'=1+1"


def test_it_works_where_a_loop_runs_already_as_in_a_notebook(evaluate: Evaluate) -> None:
    async def cell() -> geval.Evaluation:
        return evaluate(table(3))  # type: ignore[no-any-return]

    assert len(asyncio.run(cell()).scores) == 3


def test_a_conversation_is_judged_by_its_turns(evaluate: Evaluate, tmp_path: Path) -> None:
    path = tmp_path / "sessions.jsonl"
    sessions = [
        {"messages": [{"role": "user", "content": f"Ferry {n}?"},
                      {"role": "assistant", "content": f"At {n}."}]}
        for n in range(3)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, sessions)))

    scores = evaluate(path).scores

    assert len(scores) == 3
    assert all(each.score is not None for each in scores)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"output": "nothing"}, "There is no column 'nothing'"),
        ({"moode": "direct"}, "There is no setting 'moode' of G-Eval. There are: mode"),
        ({"reply_form": "poem"}, "reply_form: Input should be 'text', 'rating' or 'reason'"),
        ({"kind": "bleu"}, "There is no kind 'bleu' here. There are: geval, decision."),
        ({"kind": "decision", "mode": "direct"}, "no setting 'mode' of Decision model"),
        ({"scale": (5, 1)}, "A scale needs lowest < highest"),
        ({"base_url": "ftp://somewhere"}, "ftp"),
        ({"base_url": "https://api.openai.com/v1"}, "set OPENAI_API_KEY, or pass api_key"),
    ],
)
def test_what_cannot_be_taken_is_an_error_that_says_what_to_do(
    evaluate: Evaluate,
    changed: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    with pytest.raises(geval.InputError, match=message):
        evaluate(table(2), **changed)


def test_two_outputs_of_one_name_are_an_error(evaluate: Evaluate) -> None:
    rows = [{"question": "Why?", "answer": answer} for answer in ("So.", "Because.")]

    with pytest.raises(geval.InputError, match="pass document='answer'"):
        evaluate(rows)


def test_it_stops_where_the_first_outputs_all_fail_alike(
    evaluate: Evaluate, start_standin: Callable[..., StandInProcess]
) -> None:
    mute = start_standin("--unparseable-rate", "1").base_url

    with pytest.raises(geval.EvaluationError, match="Fix the cause and run it again"):
        evaluate(table(60), base_url=mute, mode="direct", steps=False)


def test_outputs_without_a_score_say_why(
    evaluate: Evaluate, start_standin: Callable[..., StandInProcess]
) -> None:
    result = evaluate(
        table(20), base_url=start_standin("--refusal-rate", "0.5").base_url, mode="direct",
        steps=False,
    )  # fmt: skip

    assert 0 < len(result.failures) < 20
    assert {each.reason for each in result.failures} == {"refusal"}
    assert f"{len(result.failures)} without a score: " in str(result)
    assert len(result.scores) == 20


def test_an_evaluation_answers_about_its_own_judge_and_counts_the_others(
    evaluate: Evaluate, tmp_path: Path
) -> None:
    lines: dict[str, list[str]] = {
        "outputs": ["doc_id,system_id,source,output"],
        "ratings": ["doc_id,system_id,criterion,annotator,score"],
        "scores": ["doc_id,system_id,criterion,judge,score"],
    }
    for number in range(40):
        key = f"d{number},s"
        lines["outputs"].append(f"{key},Ferry {number}?,It sails {'daily ' * (number % 5)}.")
        for person in ("ann", "bob", "cyd"):
            lines["ratings"].append(f"{key},coherence,{person},{1 + number % 5}")
        lines["scores"].append(f"{key},coherence,better,{1 + number % 5}")
    files = [tmp_path / f"{name}.csv" for name in lines]
    for path, text in zip(files, lines.values(), strict=True):
        path.write_text("\n".join(text))

    result = evaluate(files)

    measured = result.measurement.report.criteria[0]
    assert [judge.judge for judge in measured.judges] == [result.judge]
    assert measured.compared == 2
    everybody = {judge.name for judge in result.with_others.gathered.judges}
    assert everybody == {result.judge, "better"}
