"""What a judge may do by the pass/fail labels of three people: it is compared with each of them in
their place, by what it finds and what it keeps."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geval
from geval.command_line import main
from geval.measuring.inputs import InputError
from geval.measuring.measurement import Measurement

# The share of fails that it finds and of passes that it keeps.
Sides = tuple[float, float]


def rows_of(
    outputs: int,
    fails: float,
    judge: Sides,
    *,
    people: Sides = (0.92, 0.96),
    careless: int = 0,
    each: int = 1,
    missing: float = 0.0,
    cell: str | None = None,
) -> list[dict[str, Any]]:
    """Outputs with the labels of three people and a judge; the first `careless` people answer by
    chance in 6 of 10 cases."""
    rng = np.random.default_rng(outputs)
    is_fail = rng.random(outputs) < fails

    def label(sides: Sides, chance: float = 0.0) -> np.ndarray:
        right = rng.random(outputs) < np.where(is_fail, *sides)
        own = np.where(right, is_fail, ~is_fail)
        return np.where(rng.random(outputs) < chance, rng.random(outputs) < fails, own)

    columns = {f"rater_{at}": label(people, 0.6 if at < careless else 0.0) for at in range(3)}
    columns["judge"] = label(judge)
    gone = rng.random(outputs) < missing
    words = ("pass", "fail")
    return [
        {
            "doc": f"d{at // each}",
            "system": f"s{at % each}",
            "answer": "word " * int(rng.integers(20, 60)),
            **{
                name: cell if name == "judge" and gone[at] else words[int(own[at])]
                for name, own in columns.items()
            },
        }
        for at in range(outputs)
    ]


def measured(rows: list[dict[str, Any]]) -> Measurement:
    raters = [name for name in rows[0] if name.startswith("rater")]
    return geval.measure(rows, human=raters, judge="judge", document="doc", system="system")


@pytest.mark.parametrize(
    ("rows", "verdict", "reason"),
    [
        (rows_of(600, 0.3, (0.92, 0.96)), "stands", "less than 0.10 behind"),
        (rows_of(600, 0.3, (0.94, 0.96), each=4), "stands", "less than 0.10 behind"),
        (rows_of(1200, 0.08, (0.97, 0.97)), "stands", "less than 0.10 behind"),
        (rows_of(300, 0.3, (0.7, 0.97)), "spot", "Let people check what it passes"),
        (rows_of(300, 0.7, (0.97, 0.7)), "spot", "Let people check what it fails"),
        (rows_of(300, 0.3, (0.76, 0.76)), "keep", "Neither is shown to be less than 0.10"),
        (rows_of(300, 0.3, (0.5, 0.5)), "keep", "not shown to do better than chance"),
        (rows_of(300, 0.3, (0.0, 1.0)), "keep", "It gives every output the same score"),
        (rows_of(100, 0.5, (0.93, 0.96)), "early", "more passes are needed, about 123 labels"),
        (rows_of(40, 0.05, (0.9, 0.96)), "early", "more fails are needed"),
        (rows_of(600, 0.3, (0.96, 0.96), missing=0.4), "keep", "less is shown"),
        (rows_of(600, 0.3, (0.96, 0.96), missing=0.4, cell="n/a"), "keep", "less is shown"),
        (rows_of(300, 0.3, (0.9, 0.9), people=(0.6, 0.6)), "unreliable", "Raters do not agree"),
    ],
)
def test_a_judge_is_held_against_raters(
    rows: list[dict[str, Any]], verdict: str, reason: str
) -> None:
    result = measured(rows)

    (criterion,) = result.criteria
    assert criterion.verdict == verdict
    assert reason in str(result)
    assert "rho" not in str(result)


def test_judge_and_rater_are_printed_on_the_same_outputs() -> None:
    """With two ratings an output, those on which the others differ count for neither."""
    rows = rows_of(400, 0.4, (0.85, 0.9), people=(0.85, 0.9))
    for at, row in enumerate(rows):
        row[f"rater_{at % 3}"] = None

    result = measured(rows)

    (criterion,) = result.report.criteria
    evidence = criterion.by_labels(criterion.judges[0])
    assert evidence is not None
    shares = [(side.beside.judge, side.beside.rater) for side in evidence.sides if side.beside]
    pairs = [f"{judge:.2f} (the rater {rater:.2f})" for judge, rater in shares]
    assert f"finds {pairs[0]} and keeps {pairs[1]}" in str(result)
    # The dashed line is as far from the dot as the judge is from what it takes beside a rater.
    for side in evidence.sides:
        assert side.beside is not None
        assert side.figure.estimate.value is not None
        apart = side.figure.estimate.value - side.least_beside
        assert apart == pytest.approx((side.beside.estimate.value or 0.0) + 0.1)


def test_a_judge_that_knows_the_length_of_texts_without_blanks_does_not_stand_in() -> None:
    rng = np.random.default_rng(4)
    rows = rows_of(600, 0.4, (0.95, 0.95))
    for row in rows:
        row["answer"] = "書" * int(rng.integers(5, 40) + (40 if row["judge"] == "pass" else 0))

    result = measured(rows)

    assert result.verdict == "keep"
    assert "Length alone" in str(result)


def test_a_careless_rater_does_not_lower_the_bar() -> None:
    rows = rows_of(300, 0.3, (0.78, 0.96), careless=1)

    result = measured(rows)

    (criterion,) = result.report.criteria
    assert criterion.agreement.below_the_bar == ("rater_0",)
    assert result.verdict == "spot"


def test_the_same_numbers_are_in_the_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "labels.jsonl"
    rows = rows_of(600, 0.3, (0.92, 0.96))
    file.write_text("\n".join(map(json.dumps, rows)))

    # Numbered raters beside a judge need no names.
    assert main(["check", str(file), "--document", "doc", "--system", "system", "--json"]) == 0

    (content,) = json.loads(capsys.readouterr().out)["criteria"].values()
    side = content["verdict"]["by_labels"]["sensitivity"]
    (criterion,) = measured(rows).report.criteria
    evidence = criterion.by_labels(criterion.judges[0])
    assert evidence is not None
    beside = evidence.sides[0].beside
    assert beside is not None
    assert side["is_shown"] is True
    assert side["beside_a_rater"]["one_rater"] == pytest.approx(beside.rater)
    assert side["beside_a_rater"]["ci"] == pytest.approx(beside.interval.ends)
    assert side["required"] == pytest.approx(beside.rater - 0.1)


def test_votes_against_and_for_are_pass_or_fail() -> None:
    rows = rows_of(300, 0.3, (0.76, 0.9))
    votes = [
        {key: {"pass": 1, "fail": -1}.get(cell, cell) for key, cell in row.items()} for row in rows
    ]

    (plain,), (voted,) = measured(rows).criteria, measured(votes).criteria

    assert (voted.verdict, voted.sensitivity) == (plain.verdict, plain.sensitivity)


def test_outputs_of_one_system_are_told_apart_by_their_documents_as_groups() -> None:
    rows = [row | {"system": None} for row in rows_of(400, 0.3, (0.92, 0.96), each=4)]
    plain = [{key: cell for key, cell in row.items() if key != "system"} for row in rows]
    for at, row in enumerate(plain):
        row["answer"] += str(at)
    raters = [f"rater_{at}" for at in range(3)]

    with pytest.raises(InputError, match="name the column of documents by group=…"):
        geval.measure(plain, human=raters, judge="judge", document="doc")

    result = geval.measure(plain, human=raters, judge="judge", group="doc")
    assert result.criteria[0].outputs == 400


def test_without_a_rater_beside_the_judge_no_share_of_one_is_printed() -> None:
    """The judge scored what one person alone labelled."""
    rows = rows_of(240, 0.4, (0.9, 0.9))
    for row in rows[:120]:
        row["judge"] = None
    for at, row in enumerate(rows[120:]):
        row |= {f"rater_{other}": None for other in range(3) if other != at % 3}

    result = measured(rows)

    assert result.verdict == "early"
    assert "the rater 0.00" not in str(result)
    assert "the rater 0.00" not in result.criteria[0].reason
