"""`geval.policy`: which outputs a judge may decide, and what is promised of them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

import geval
from geval.improving.confidence import (
    ConfidenceRule,
    JudgeScores,
    ScoredOutputs,
    choose_confidence,
)
from geval.improving.ground import ImproveError
from geval.improving.policy_command import run
from geval.improving.promises import PromiseKind, parse_promise
from geval.measuring.inputs import InputError

COLUMNS: dict[str, Any] = {"human": "human", "judge": "judge", "document": "doc", "system": "sys"}


def labels(documents: int = 300, *, systems: int = 3, errs: float = 0.4) -> list[dict[str, Any]]:
    """An expert's labels, and a judge that errs less the farther its score is from the middle."""
    rng = np.random.default_rng(1)
    rows = []
    for document in range(documents):
        for system in range(systems):
            passes, sure = rng.random() < 0.7, rng.random()
            judged = passes != (rng.random() < errs * (1 - sure) ** 2)
            score = 0.5 + sure / 2 if judged else 0.5 - sure / 2
            rows.append({"doc": f"d{document}", "sys": f"s{system}", "human": int(passes),
                         "judge": round(score, 4)})  # fmt: skip
    return rows


def ratings(documents: int = 150) -> list[dict[str, Any]]:
    """Ratings from 1 to 5 by three people, and a judge that is as close to the truth as two."""
    rng = np.random.default_rng(2)
    rows = []
    for document in range(documents):
        for system in range(3):
            quality = rng.normal(3, 1.2)
            seen = quality + rng.normal(size=5) * [0.8, 0.8, 0.8, 0.2, 0.3]
            names = ("ann", "bob", "cyd", "judge", "other")
            scores = np.clip(np.round(seen), 1, 5).tolist()
            rows.append({"doc": f"d{document}", "sys": f"s{system}"}
                        | dict(zip(names, scores, strict=True)))  # fmt: skip
    return rows


KINDS = [
    {"doc": f"d{number}", "sys": "s", "human": kind, "judge": kind}
    for number, kind in enumerate(["joy", "anger", "fear"] * 20)
]


@pytest.mark.parametrize(
    ("text", "kind", "distance", "bound"),
    [
        ("as one person", PromiseKind.ONE_PERSON, 0, None),
        ("within 0.5", PromiseKind.WITHIN, 0.5, 0.05),
        ("within 2", PromiseKind.WITHIN, 2, 0.05),
        ("few false passes", PromiseKind.FALSE_PASSES, 0, 0.05),
    ],
)
def test_promises_are_read(text: str, kind: str, distance: float, bound: float | None) -> None:
    promise = parse_promise(text)

    assert (promise.kind, promise.distance, promise.bound) == (kind, distance, bound)
    assert str(promise) == text


def test_few_false_passes_are_promised_of_what_is_kept() -> None:
    rows = labels()

    result = geval.policy(rows, promise="few false passes", seconds=30, price=0.5, **COLUMNS)

    assert result.kept is not None
    assert 0.4 < result.kept.coverage < 0.9
    assert result.kept.error_high is not None
    assert result.kept.error_high <= 0.05
    assert result.kept.coverage_low < result.kept.coverage < result.kept.coverage_high
    people = 1000 * (1 - result.kept.coverage)
    assert result.per_1000 == pytest.approx(
        {"calls": 1000, "second_calls": 0, "outputs": people, "ratings": people,
         "minutes": people / 2, "money": people / 2}
    )  # fmt: skip
    assert (result.training + result.locked, len(result.outputs)) == (300, 900)
    kept = [each for each in result.outputs if each.is_kept]
    assert {each.confidence for each in kept if each.confidence is not None}
    assert 0.3 < len(kept) / 900 < 0.95
    shown = str(result)
    assert shown.startswith("judge on quality: keep ")
    assert len(shown.splitlines()) <= 12
    assert "1,000 outputs take 1\u202f000 calls of judge, and " in shown


def test_the_curve_is_beside_random_checks_and_who_wrote_it() -> None:
    result = geval.policy(labels(), promise="few false passes", **COLUMNS)

    names = {point.confidence for point in result.curve}
    own = [point for point in result.curve if point.confidence == "policy"]
    random = [point for point in result.curve if point.confidence == "random"]
    assert names == {"policy", "random", "who wrote it"}
    assert result.remaining is not None
    left, with_random, without = result.remaining
    assert left < with_random < without == own[-1].remaining
    assert f"without a policy {100 * without:.1f} %" in str(result)
    assert own[-1].coverage == 1
    assert {point.error for point in random} == {own[-1].error}
    half = min(own, key=lambda point: abs(point.coverage - 0.5))
    assert half.error is not None
    assert own[-1].error is not None
    assert half.error < own[-1].error / 2
    assert json.loads(result.to_json())["curve"][0]["confidence"] == "policy"


def test_the_promise_is_shown_by_a_field() -> None:
    rows = [row | {"language": ("en", "de", "fr", "")[min(int(row["doc"][1:]) // 130, 3)]}
            for row in labels(420)]  # fmt: skip
    rows += [row | {"doc": f"es{row['doc']}", "language": "es"} for row in labels(12)]

    result = geval.policy(rows, promise="few false passes", by="language", **COLUMNS)

    assert result.kept is not None
    assert set(result.by_value) == {"en", "de", "fr"}
    assert result.small == 1
    low, high = (end(each.coverage for each in result.by_value.values()) for end in (min, max))
    assert low <= result.kept.coverage <= high
    shown = str(result)
    assert "language en: keeps" in shown
    assert "1 value of language" in shown
    # About 40 % are locked.
    assert 0.2 < result.valueless / sum(not row["language"] for row in rows) < 0.6
    assert f"{result.valueless} outputs without a value" in shown
    assert json.loads(result.to_json())["by_value"]["de"]["outputs"]


def test_a_second_judge_decides_where_the_first_is_not_sure() -> None:
    rng = np.random.default_rng(7)
    rows = []
    for row in labels(500):
        sure = rng.random()
        right = row["human"] == (rng.random() >= 0.02 * (1 - sure))
        rows.append(row | {"other": round(0.5 + (sure if right else -sure) / 2, 4)})

    alone = geval.policy(rows, promise="few false passes", **COLUMNS)
    both = geval.policy(rows, promise="few false passes", second="other", **COLUMNS)

    assert alone.kept is not None
    assert both.kept is not None
    assert 0.2 < both.kept.by_first < both.kept.coverage
    assert alone.kept.coverage + 0.1 < both.kept.coverage
    assert both.kept.error_high is not None
    assert both.kept.error_high <= 0.05
    assert both.per_1000["second_calls"] == pytest.approx(1000 * (1 - both.kept.by_first))
    own = [each for each in both.curve if each.confidence == "policy"]
    assert all(each.by_first <= each.coverage for each in own)
    assert len({each.by_first for each in own}) > 10
    assert {each.by_first == each.coverage for each in alone.curve} == {True}
    assert "235 of other, and " in str(both)
    decided = [each.judge for each in both.outputs if each.is_kept]
    assert decided.count("judge") / len(both.outputs) == pytest.approx(both.kept.by_first, abs=0.1)
    assert set(decided) == {"judge", "other"}
    assert "Ask other about the others" in str(both)
    assert type(both).from_dict(json.loads(both.to_json())).headline == both.headline


def test_fails_are_outside_a_promise_of_few_false_passes() -> None:
    rng = np.random.default_rng(6)
    rows = [
        row | {"judge": int(row["human"] and rng.random() < 0.8)} for row in labels()
    ]  # a judge that passes nothing wrongly, and fails a fifth of what people pass

    result = geval.policy(rows, promise="few false passes", **COLUMNS)

    assert result.kept is not None
    assert result.fails is not None
    decided = {(each.document, each.system) for each in result.outputs if each.is_kept}
    assert len(decided) == len(rows)
    failed = [row for row in rows if not row["judge"]]
    assert result.fails.coverage == pytest.approx(len(failed) / len(rows), abs=0.05)
    wrong = np.mean([row["human"] for row in failed])
    assert result.fails.error_low is not None
    assert result.fails.error_high is not None
    assert result.fails.error_low < wrong < result.fails.error_high
    assert "outside the promise" in str(result)
    assert "False passes left in all outputs" in str(result)
    others = geval.policy(rows, promise="within 0.5", **COLUMNS)
    assert others.fails is None


def test_it_says_first_how_many_more_documents_it_takes() -> None:
    few = geval.policy(labels(20), promise="few false passes", **COLUMNS)
    some = geval.policy(labels(120), promise="few false passes", **COLUMNS)

    for result in (few, some):
        assert result.kept is None
        assert result.more_documents is not None
        first = str(result).splitlines()[0]
        assert f" {result.more_documents} more rated documents" in first
        assert ("at least" if result.curve == () else "about") in first
        assert not any(each.is_kept for each in result.outputs)
    assert few.curve == ()
    assert some.curve


def test_the_score_from_which_a_judge_passes_is_stated() -> None:
    rows = [row | {"judge": round(60 + 40 * row["judge"], 2)} for row in labels()]

    result = geval.policy(rows, promise="few false passes", **COLUMNS)

    assert result.mark is not None
    assert 70 < result.mark < 90
    assert f"judge passes from {result.mark:g} on" in str(result)
    answers = [each for each in result.outputs if each.answer is not None]
    assert {(each.answer or 0) >= result.mark for each in answers if each.passes} == {True}
    assert {(each.answer or 0) >= result.mark for each in answers if not each.passes} == {False}
    people = {"human": ["ann", "bob", "cyd"]}
    within = geval.policy(ratings(), promise="within 1", **COLUMNS | people)
    assert within.mark is None
    assert {each.passes for each in within.outputs} == {None}


def test_who_wrote_it_alone_promises_nothing() -> None:
    rows = [
        row | {"human": int(row["sys"] != "s2"), "judge": 0.9 if row["sys"] != "s2" else 0.1}
        for row in labels()
    ]

    result = geval.policy(rows, promise="few false passes", **COLUMNS)

    assert (result.kept, result.more_documents) == (None, None)
    assert "who wrote" in result.reason


@pytest.mark.parametrize(
    ("rows", "promise", "more", "message"),
    [
        (ratings(40), "few false passes", {"human": "ann"}, "pass or fail.*points.$"),
        (ratings(40), "few false passes", {"human": ["ann", "bob"]}, "as one person"),
        (labels(40), "as one person", {}, "two people"),
        (labels(40), "few false passes", {"seconds": -1}, "seconds"),
        (labels(40), "few false passes", {"second": "nobody"}, "nobody"),
        (labels(40), "few false passes", {"second": "judge"}, "its own second"),
        (labels(40), "few false passes", {"second": "judge", "judge": None}, "first judge"),
        (labels(40), "few false passes", {"second": ["judge"]}, "one judge"),
        (labels(40), "few false passes", {"price": "x"}, "price"),
        (KINDS, "few false passes", {}, "labels of quality have no order"),
        (KINDS, "within 0.5", {}, "labels of quality have no order"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    rows: list[dict[str, Any]], promise: str, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        geval.policy(rows, promise=promise, **COLUMNS | more)


def test_questions_about_locked_documents_are_counted(tmp_path: Path) -> None:
    asked = [
        geval.policy(labels(errs=0.1), promise=promise, locked=tmp_path, **COLUMNS)
        for promise in ("few false passes", "few false passes", "within 0.4")
    ]

    lines = (tmp_path / "locked.jsonl").read_text().splitlines()
    assert asked[0].kept == asked[1].kept
    assert len([line for line in lines if '"result"' in line]) == 2
    for number in range(3):
        geval.policy(labels(), promise=f"within 0.{number + 1}", locked=tmp_path, **COLUMNS)
    with pytest.raises(ImproveError, match="looks"):
        geval.policy(labels(), promise="within 0.9", locked=tmp_path, **COLUMNS)


def test_distributions_of_replies_are_a_confidence(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = ["doc_id,system_id,criterion,annotator,score"]
    replies = []
    for document in range(80):
        quality, is_clear = int(rng.integers(1, 6)), document % 2 == 0
        near = [str(np.clip(quality + (0 if is_clear else rng.integers(-2, 3)), 1, 5))
                for _ in range(8)]  # fmt: skip
        rows += [f"d{document},s,clear,{name},{quality}" for name in ("ann", "bob")]
        replies.append({"doc_id": f"d{document}", "system_id": "s", "criterion": "clear",
                        "judge": "gpt", "all_responses": near})  # fmt: skip
    (tmp_path / "people.csv").write_text("\n".join(rows))
    (tmp_path / "replies.json").write_text(json.dumps(replies))

    result = geval.policy(
        [tmp_path / "people.csv", tmp_path / "replies.json"], promise="within 1", scale=(1, 5)
    )

    sure = {each.document: each.confidence for each in result.outputs}
    clear, unclear = ([sure[f"d{n}"] or 0.0 for n in range(at, 80, 2)] for at in (0, 1))
    assert np.mean(clear) > np.mean(unclear)


@pytest.mark.parametrize(
    ("rows", "promise", "code"),
    [
        (labels(), "few false passes", 0),
        ([row | {"judge": 1} for row in labels(60)], "few false passes", 1),
        (labels(20), "few false passes", 2),
        (labels(20), "few", 3),
    ],
)
def test_the_command_ends_with_a_code(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    rows: list[dict[str, Any]],
    promise: str,
    code: int,
) -> None:
    path = tmp_path / "labels.csv"
    lines = [",".join(map(str, row.values())) for row in rows]
    path.write_text("\n".join([",".join(rows[0]), *lines]))
    columns = ["--human", "human", "--judge", "judge", "--document", "doc", "--system", "sys"]

    assert run([str(path), "--promise", promise, *columns, "--json"]) == code

    shown = capsys.readouterr().out
    assert bool(shown) is (code != 3)
    if shown:
        assert json.loads(shown)["is_promised"] is (code == 0)


def test_outputs_that_come_later_get_the_same_confidence() -> None:
    rng = np.random.default_rng(5)
    quality = rng.normal(3, 1, 200)
    scores, other = (np.round(quality + rng.normal(0, 0.5, 200), 1) for _ in range(2))
    shares = [{float(point): 0.25 for point in rng.integers(1, 6, 4)} for _ in range(200)]
    judged = JudgeScores(
        scores=scores, distributions=shares, others={"other": other * 20}, ends=(1, 5), reach=0.5,
        mark=None, doubt=np.abs(scores - quality), cluster=np.arange(200),
        training=np.arange(200) < 120,
    )  # fmt: skip

    rule = choose_confidence(judged)

    stored = TypeAdapter(ConfidenceRule).validate_python(json.loads(json.dumps(asdict(rule))))
    later = ScoredOutputs(scores[150:], shares[150:], {"other": other[150:] * 20})
    assert len(set(stored.values_of(later))) > 1
    np.testing.assert_allclose(stored.values_of(later), rule.values_of(judged)[150:])
