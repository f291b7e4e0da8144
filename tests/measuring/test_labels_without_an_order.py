"""Labels without an order, such as intents: recognised, measured, required, and refused where an
order is needed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geval
from geval.command_line import main
from geval.measuring.inputs import InputError
from geval.reports.label_results import _misspelled
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.labels import (
    confused_by_people,
    label_figures,
    missing_as_wrong_labels,
    most_frequent_label,
    most_frequent_point,
    null_labels,
)
from geval.statistics.scales import Scale

INTENTS = ("billing", "shipping", "refund")


def intents(
    *, right: Sequence[float] = (0.95, 0.95, 0.95), each: int = 100
) -> list[dict[str, Any]]:
    """Questions with an expert's intent, of which a judge gets a share of each right; what it gets
    wrong it calls by the next name."""
    rows = []
    for place, intent in enumerate(INTENTS):
        for number in range(each):
            is_right = number < round(right[place] * each)
            rows.append(
                {
                    "id": f"{intent} {number}",
                    "question": f"Question {number} " + "word " * (number % 11),
                    "human": intent,
                    "judge": intent if is_right else INTENTS[(place + 1) % 3],
                }
            )
    order = np.random.default_rng(0).permutation(len(rows))
    return [rows[index] for index in order]


def test_labels_are_recognised_and_compared() -> None:
    measured = geval.measure(intents(right=(0.9, 0.8, 1.0)))

    (criterion,) = measured.criteria
    assert (criterion.outputs, criterion.accuracy) == (300, 0.9)
    assert criterion.kappa == pytest.approx(0.85)
    (result,) = measured.labels
    assert result.best is not None
    figures = result.best.figures
    by_name = dict(zip(result.labels, figures.recall, strict=True))
    assert {name: share.estimate.value for name, share in by_name.items()} == {
        "billing": 0.9,
        "shipping": 0.8,
        "refund": 1.0,
    }
    places = {name: at for at, name in enumerate(result.labels)}
    assert figures.counts[places["billing"]][places["shipping"]] == 10
    text = str(measured)
    assert "If they have one, name them, from the lowest to the highest: order=[…]" in text
    assert "kappa 0.85" in text


@pytest.mark.parametrize(
    ("rows", "verdict", "reason"),
    [
        (intents(), "agrees", "are at least 0.60."),
        (intents(right=(0.95, 0.6, 0.95)), "spot", "misses 40 of 100 shipping, most as refund"),
        (intents(right=(0.5, 0.5, 0.5)), "expert", "at least 0.60 is required"),
        (intents(right=(0.34, 0.33, 0.33)), "expert", "better than chance"),
        (intents(each=19), "early", "3 more labels"),
        (intents(right=(0.8, 0.8, 0.8), each=30), "early", "more labels"),
        (intents()[:290] + [{"id": "x", "question": "?", "human": "other", "judge": "other"}] * 1,
         "spot", "other: label"),
    ],
)  # fmt: skip
def test_the_verdict_takes_kappa_and_each_label(
    rows: list[dict[str, Any]], verdict: str, reason: str
) -> None:
    (criterion,) = geval.measure(rows, labels=["other", *INTENTS]).criteria

    assert (criterion.verdict, reason in criterion.reason) == (verdict, True), criterion.reason


def test_a_judge_that_knows_only_who_wrote_a_text_does_not_agree() -> None:
    rng = np.random.default_rng(2)
    rows = []
    for number in range(400):
        system = number % 4
        usual = INTENTS[system % 3]
        human = usual if rng.random() < 0.9 else INTENTS[int(rng.integers(3))]
        rows.append(
            {"id": number // 4, "bot": f"bot{system}", "human": human, "judge": usual,
             "answer": "word " * int(rng.integers(5, 60))}
        )  # fmt: skip

    (criterion,) = geval.measure(
        rows, human="human", judge="judge", document="id", system="bot"
    ).criteria

    assert (criterion.verdict, criterion.reason) == ("expert", "Who wrote it may do as well.")


def test_missing_labels_count_as_wrong() -> None:
    rows = intents()
    for row in rows[:100]:
        row["judge"] = ""

    (criterion,) = geval.measure(rows).criteria

    assert criterion.verdict == "expert"
    human, judge = np.array([0.0, 1, 2, np.nan]), np.array([0, np.nan, np.nan, np.nan])
    filled = missing_as_wrong_labels(human, judge, 3)
    assert filled is not None
    assert filled[:3].tolist() == [0, 2, 0]
    assert missing_as_wrong_labels(np.zeros(100), np.zeros(100), 3) is None


def test_figures_are_as_defined() -> None:
    human = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 0], dtype=float)
    judge = np.array([0, 0, 1, 1, 2, 2, 2, 0, 2, np.nan])
    outputs = Outputs(np.arange(10), np.zeros(10, dtype=int), 10, 1)

    figures = label_figures(outputs, human, judge, 3)

    assert figures.counts == ((2, 1, 0), (0, 1, 1), (1, 0, 3))
    agreed, chance = 6 / 9, (3 * 3 + 2 * 2 + 4 * 4) / 81
    assert figures.kappa.estimate.value == pytest.approx((agreed - chance) / (1 - chance))
    assert [share.estimate.value for share in figures.precision] == [2 / 3, 1 / 2, 3 / 4]
    assert figures.majority == pytest.approx(4 / 9)


def test_most_people_decide_and_a_tie_decides_nothing() -> None:
    output = np.array([0, 0, 0, 1, 1, 2])
    ratings = Ratings(output, np.array([0, 1, 2, 0, 1, 0]), np.array([2.0, 2, 0, 1, 0, 1]), 4, 3)

    assert most_frequent_label(ratings, 3).tolist()[:1] == [2]
    assert np.isnan(most_frequent_label(ratings, 3)[[1, 3]]).all()
    assert most_frequent_label(ratings, 3)[2] == 1
    on_1_to_3 = replace(ratings, value=ratings.value + 1)
    assert most_frequent_point(on_1_to_3, Scale(1, 3))[[0, 2]].tolist() == [3, 2]
    assert confused_by_people(ratings, 3).tolist() == [[0, 1, 2], [1, 0, 0], [2, 0, 1]]


def test_null_judges_know_writers_and_lengths_from_other_documents_alone() -> None:
    document = np.repeat(np.arange(60), 2)
    outputs = Outputs(document, np.tile([0, 1], 60), 60, 2)
    human = np.tile([0.0, 1.0], 60)
    human[0] = 2
    words = np.where(human == 0, 10.0, 50.0) + np.arange(120) / 100

    nulls = null_labels(outputs, human, words, 3)

    assert nulls["who wrote it"][:2].tolist() == [0, 1]
    assert nulls["texts of like length"][2:6].tolist() == [0, 1, 0, 1]
    assert "the group alone" not in nulls


@pytest.mark.parametrize(
    ("requirement", "outcome"),
    [
        ("label:refund.recall.low>=0.85", "met"),
        ("label:Shipping.recall.low>=0.85", "not met"),
        ("label:shipping.precision.low>=0.7", "met"),
        ("kappa.low>=0.7", "met"),
        ("accuracy.low>=0.8", "met"),
        ("verdict.agrees", "met"),
        ("sensitivity.low>=0.5", "cannot say"),
        ("documents>=300", "met"),
    ],
)
def test_requirements_of_labels(requirement: str, outcome: str) -> None:
    (certified,) = geval.certify(geval.measure(intents(right=(0.95, 0.8, 0.95))), [requirement])

    assert str(certified.outcome) == outcome


def test_words_with_an_order_are_a_scale() -> None:
    words = ("poor", "fair", "good")
    rows = [
        {"id": n, "human": words[n % 3], "judge": words[n % 3 if n % 9 else (n + 1) % 3]}
        for n in range(120)
    ]
    ordered = geval.measure(rows, order=words)

    assert ordered.labels == ()
    assert str(ordered.report.criteria[0].agreement.spread) != ""
    assert "weighted kappa" in str(ordered)
    assert geval.measure(rows, labels=words).labels


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["billing"]}, "2 to 20"),
        ({"labels": ["billing", "Billing"]}, "the same"),
        ({"labels": "billing"}, "list of words"),
        ({"labels": {"tone": ["a", "b"]}}, "no criterion 'tone'"),
        ({"labels": ["billing", "shipping"]}, "expected one of overall labels"),
    ],
)
def test_labels_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        geval.measure(intents(), **options)


def test_a_typing_error_among_passes_and_fails_is_no_third_label() -> None:
    rows = [
        {"id": n, "human": "pass" if n % 3 else "fail", "judge": "pass" if n % 3 else "fail"}
        for n in range(60)
    ]
    rows[7]["human"] = "passs"

    with pytest.raises(InputError, match="passs") as caught:
        geval.measure(rows, human="human", judge="judge")

    assert "labels=" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "order"),
    [(("T", "F"), ["F", "T"]), (("y", "n"), ["n", "y"]), ((1, 2), ["2", "1"])],
)
def test_two_values_are_asked_for_the_pass_and_are_pass_or_fail_once_it_is_named(
    words: tuple[Any, Any], order: list[str]
) -> None:
    rows = [{"human": words[n % 3 == 0], "judge": words[n % 4 == 0]} for n in range(90)]

    notes, ordered = geval.measure(rows).notes, geval.measure(rows, order=order)

    assert any("is a pass, name them, the pass last: order=[…]" in note for note in notes)
    (criterion,) = ordered.criteria
    assert criterion.pass_fail is not None
    assert criterion.pass_fail.fails == sum(row["human"] == words[1] for row in rows) == 30


@pytest.mark.parametrize("word", ["none", "Null", "n.a."])
def test_a_word_for_nothing_is_a_label_where_it_is_named(word: str) -> None:
    rows = [
        {
            "id": n,
            "human": ("refund", "billing", word)[n % 3],
            "judge": ("refund", "billing")[n % 3 > 0],
        }
        for n in range(90)
    ]

    unnamed, named = geval.measure(rows), geval.measure(rows, labels=["refund", "billing", word])

    assert (unnamed.criteria[0].outputs, named.criteria[0].outputs) == (60, 90)
    assert f"“{word}” in table (30 rows)" in [str(each) for each in unnamed.unused]
    assert named.criteria[0].accuracy == pytest.approx(2 / 3)


def test_what_needs_an_order_refuses_labels() -> None:
    measured = geval.measure(intents())
    for call in (
        lambda: geval.plan(measured),
        lambda: geval.compare(measured, "judge", "other"),
        measured.plot,
        lambda: geval.rate(intents(), human="human", judge="judge"),
    ):
        with pytest.raises(InputError):
            call()


def test_every_door_prints_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = intents(right=(0.9, 0.8, 1.0))
    path = tmp_path / "intents.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    code = main(["check", str(path), "--json", "--html", str(tmp_path / "page.html")])

    (of_labels,) = json.loads(capsys.readouterr().out)["labels"]
    assert code == 0
    assert of_labels["judges"][0]["kappa"]["value"] == pytest.approx(0.85)
    assert of_labels["judges"][0]["by_label"]["shipping"]["recall"]["value"] == 0.8
    page = (tmp_path / "page.html").read_text()
    assert "Agrees as required" in page
    assert "kappa 0.85" in page
    (record,) = geval.measure(path).to_records()
    assert (record["kappa"], record["accuracy"]) == (pytest.approx(0.85), 0.9)
    plain = geval.measure([row["human"] for row in rows], [row["judge"] for row in rows])
    assert plain.criteria[0].kappa == pytest.approx(0.85)


@pytest.mark.parametrize(("each", "verdict"), [(19, "early"), (20, "expert"), (21, "expert")])
def test_a_judge_that_always_gives_the_same_label_may_not_label(each: int, verdict: str) -> None:
    rows = [{**row, "judge": "refund"} for row in intents(each=each)]

    (criterion,) = geval.measure(rows, human="human", judge="judge", labels=INTENTS).criteria

    assert criterion.verdict == verdict
    assert (criterion.reason == "It labels every output refund.") == (verdict == "expert")


@pytest.mark.parametrize(
    ("label", "given", "usual", "is_named"),
    [("shiping", 1, 10, True), ("Shiping", 2, 100, True), ("shiping", 3, 100, False),
     ("shiping", 1, 9, False), ("shiping", 1, 11, True), ("other", 1, 100, False)],
)  # fmt: skip
def test_a_rare_label_that_is_nearly_a_common_one_is_named(
    label: str, given: int, usual: int, is_named: bool
) -> None:
    numbers = np.repeat([0.0, 1.0, np.nan], [usual, given, 5])

    assert bool([*_misspelled(("shipping", label), numbers)]) is is_named


def test_labels_that_equal_the_experts_are_named() -> None:
    same, other = intents(right=(1, 1, 1)), intents()

    notes = [geval.measure(rows).labels[0].note for rows in (same, same[:29], other)]

    assert ["copied" in note for note in notes] == [True, False, False]
