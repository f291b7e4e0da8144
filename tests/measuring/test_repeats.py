"""Several scores of a judge for one output: one judge by vote or mean, and how steady it is."""

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geval
from evaluations.corpus.store import load_files
from evaluations.models import Project, Score
from geval.files.readers import InputFile
from geval.files.rows import LoadError
from geval.measuring.inputs import InputError
from geval.statistics.arrays import Outputs
from geval.statistics.repeatability import scores_of_repeats, share_that_repeats
from geval.statistics.scales import Scale, scale_of_words
from tests.evaluating.conftest import DEFINITION, table
from tests.processes import StandInProcess


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([[1, 1, 0], [0, 0, 1], [1, 0]], [1, 0, 0]),  # a tie is a fail
        ([[1], [0]], [1, 0]),
        ([[5, 4, 4], [1]], [13 / 3, 1]),
        ([[2, 2]], [2]),
    ],
)
def test_a_vote_of_two_values_and_otherwise_the_mean(
    scores: list[list[float]], expected: list[float]
) -> None:
    output = np.repeat(np.arange(len(scores)), [len(each) for each in scores])

    combined, again = scores_of_repeats(output, np.concatenate(scores), len(scores) + 1)

    assert combined[:-1].tolist() == pytest.approx(expected)
    assert np.isnan(combined[-1])
    assert again.tolist() == [*(len(each) > 1 for each in scores), False]


def test_labels_without_an_order_are_voted_on_and_a_tie_gives_none() -> None:
    output, value = np.array([0, 0, 0, 1, 1, 2]), np.array([0.0, 2, 2, 0, 2, 1])

    combined, _again = scores_of_repeats(
        output, value, 3, scale_of_words(["a", "b", "c"], is_ordered=False)
    )

    assert combined == pytest.approx([2, np.nan, 1], nan_ok=True)


def test_a_judge_repeats_itself_where_all_scores_round_to_one_point() -> None:
    outputs = Outputs(np.arange(40), np.zeros(40, dtype=int), 40, 1)
    first = np.full(40, 3.0)
    second = np.where(np.arange(40) < 10, 3.6, 3.4)

    share = share_that_repeats(
        outputs, np.tile(np.arange(40), 2), np.concatenate([first, second]), Scale(1, 5)
    )

    assert share.estimate.value == 0.75
    low, high = share.interval.ends or (0.0, 0.0)
    assert 0.55 < low < 0.75 < high < 0.9


def answers(changed: int, *, count: int = 100) -> list[dict[str, Any]]:
    """Answers whose judge was asked three times, and gave another verdict once on some of them."""
    rows = []
    for number in range(count):
        human = "fail" if number % 4 == 0 else "pass"
        other = "pass" if human == "fail" else "fail"
        for repeat in range(3):
            judge = other if repeat == 1 and number < changed else human
            rows.append(
                {
                    "id": f"q{number}",
                    "answer": f"Answer {number}. " * (1 + number % 7),
                    "human": human,
                    "judge": judge,
                    "repeat": repeat + 1,
                }
            )
    return rows


def test_the_vote_is_measured_and_changes_stand_beside() -> None:
    measured = geval.measure(answers(20))

    (criterion,) = measured.criteria
    assert (criterion.outputs, criterion.accuracy) == (100, 1.0)
    text = re.sub(r"\s", " ", str(measured))
    assert "changes its answer on 20 % [13 %, 29 %] of 100 outputs" in text
    (of_criterion,) = measured.to_dict()["criteria"].values()
    same = of_criterion["judges"]["judge"]["same_score_again"]
    assert (same["outputs"], same["value"]) == (100, 0.8)


@pytest.mark.parametrize(("changed", "outcome"), [(0, "met"), (20, "cannot say"), (40, "not met")])
def test_a_gate_may_require_that_answers_repeat(changed: int, outcome: str) -> None:
    (certified,) = geval.certify(geval.measure(answers(changed)), ["repeat.agreement.low>=0.75"])

    assert str(certified.outcome) == outcome


@pytest.mark.parametrize("name", ["run", "seed"])
@pytest.mark.parametrize("texts", ["alike", "different"])
def test_runs_are_repeats_where_people_and_outputs_do_not_differ(name: str, texts: str) -> None:
    rows = answers(20)
    for row in rows:
        row[name] = row.pop("repeat")
        if texts == "different":
            row["answer"] += f" Written in {row[name]}."

    (criterion,) = geval.measure(rows).criteria

    assert criterion.outputs == (100 if texts == "alike" else 300)


@pytest.mark.parametrize("is_of_each_run", [False, True])
def test_runs_of_a_long_table_are_repeats_unless_people_rated_each(is_of_each_run: bool) -> None:
    rows = []
    for number, run in product(range(60), range(2)):
        rating = 1 + (number + is_of_each_run * run) % 5
        whose = {"id": number, "run": run}
        rows += [{**whose, "rater": rater, "score": rating} for rater in ("ann", "bob", "cy")]
        rows.append({**whose, "rater": "gpt-4o", "score": 1 + (number + run) % 5})

    (criterion,) = geval.measure(rows, judge="gpt-4o").criteria

    assert criterion.outputs == (120 if is_of_each_run else 60)


def test_a_repeat_that_contradicts_itself_is_an_error() -> None:
    rows = answers(0)
    with pytest.raises(InputError, match="contradicts"):
        geval.measure([*rows, rows[0] | {"judge": "pass"}])


def test_a_person_who_rates_twice_is_no_repeat() -> None:
    rows = answers(0)
    with pytest.raises(InputError, match="contradicts"):
        geval.measure([*rows, rows[0] | {"human": "pass", "repeat": 4}])


@pytest.mark.django_db
def test_a_site_keeps_the_vote_and_says_so(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    rows = [
        {"doc_id": row["id"], "system_id": "bot", "source": row["id"], "output": row["answer"],
         "ratings.resolved": row["judge"], "judge": "gpt", "repeat": row["repeat"]}
        for row in answers(20)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    result = load_files(project, [InputFile(path, path.name)])

    values = list(Score.objects.order_by("output_id").values_list("value", flat=True))
    assert values == [float(number % 4 != 0) for number in range(100)]
    assert any("several times" in note for note in result.notes)

    with path.open("a") as file:
        file.write(json.dumps(rows[0] | {"ratings.resolved": "pass"}) + "\n")
    with pytest.raises(LoadError):
        load_files(project, [InputFile(path, path.name)])


def test_a_model_is_asked_as_often_as_wanted(standin: StandInProcess, tmp_path: Path) -> None:
    about: dict[str, Any] = {
        "criterion": "coherence", "definition": DEFINITION, "model": "offline-stand-in",
        "base_url": standin.base_url, "kept_in": tmp_path / "kept.sqlite3", "progress": False,
        "human": ["ann", "bob", "cyd"], "steps": False,
    }  # fmt: skip
    once = geval.evaluate(table(12), **about)
    thrice = geval.evaluate(table(12), repeats=3, **about)

    assert (once.usage.calls, thrice.usage.calls, thrice.usage.reused) == (12, 24, 12)
    assert [score.repeat for score in thrice.scores[::12]] == ["1", "2", "3"]
    (criterion,) = thrice.measurement.criteria
    assert criterion.outputs == 12
    thrice.to_csv(tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_text().splitlines()[0].endswith("score,repeat")
    for wrong in (0, 21, True):
        with pytest.raises(InputError, match="repeats"):
            geval.evaluate(table(12), repeats=wrong, **about)


@pytest.fixture
def standin(start_standin: Any) -> StandInProcess:
    process: StandInProcess = start_standin()
    return process
