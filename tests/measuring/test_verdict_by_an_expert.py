"""What a judge may do by the pass/fail labels of one expert: verdicts, reasons, and what every
door prints of them."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import geval
from geval.command_line import main
from geval.measuring.inputs import InputError
from geval.measuring.measurement import Measurement
from geval.reports.expert_words import expert_reading
from geval.reports.options import ReportOptions
from geval.reports.report import Records, criterion_result
from geval.reports.required_figures import figures_in
from geval.reports.requirements import RequirementOutcome, check, parse_requirement
from geval.statistics.expert_bar import ExpertBar


def labels(fails: int, passes: int, found: float, kept: float) -> list[dict[str, object]]:
    """Answers of one system, each to a question of its own: of the fails the judge finds a share,
    of the passes it keeps one; lengths say nothing."""
    rng = np.random.default_rng(fails + passes)
    sides = [(0, 1 - found, fails), (1, kept, passes)]
    pairs = [
        (human, int(number < round(share * count)))
        for human, share, count in sides
        for number in range(count)
    ]
    order = rng.permutation(len(pairs))
    return [
        {
            "id": f"q{place}",
            "answer": "word " * int(rng.integers(5, 50)),
            "human": "pass" if pairs[index][0] else "fail",
            "judge": "pass" if pairs[index][1] else "fail",
        }
        for place, index in enumerate(order)
    ]


def measured(*sides: float) -> Measurement:
    fails, passes, found, kept = sides
    return geval.measure(labels(int(fails), int(passes), found, kept), human="human", judge="judge")


@pytest.mark.parametrize(
    ("sides", "verdict", "reason"),
    [
        ((100, 300, 0.91, 0.93), "agrees", ""),
        ((100, 300, 0.94, 0.79), "spot", "Let the expert check what it fails: 157 of 400."),
        ((100, 300, 0.7, 0.93), "spot", "Let the expert check what it passes: 309 of 400."),
        ((100, 300, 0.7, 0.7), "expert", "At least 0.80 of both is required."),
        ((100, 300, 0.5, 0.5), "expert", "It is not shown to do better than chance."),
        ((100, 300, 0.1, 1.0), "expert", "It is not shown to get half of the fails right."),
        ((100, 300, 0.58, 1.0), "expert", "It is not shown to get half of the fails right."),
        ((100, 300, 0.62, 1.0), "spot", "Let the expert check what it passes: 338 of 400."),
        ((13, 17, 1.0, 1.0), "spot", "what it passes: 17 of 30. Or label 3 more fails."),
        ((40, 50, 0.9, 0.5), "expert", "At least 0.80 of both is required."),
        ((60, 60, 0.867, 0.6), "early", "79 more fails and 37 more passes are needed, about 158"),
        ((83, 2917, 0.82, 0.8), "expert", "At least 0.80 of both is required."),
        ((300, 100, 1.0, 0.5), "expert", "It is not shown to get half of the passes right."),
        ((20, 30, 0.9, 0.9), "early", "42 more fails and 32 more passes are needed, about 105"),
        ((9, 391, 1.0, 1.0), "early", "1 more fail is needed, about 45 labels."),
        ((400, 4, 1.0, 1.0), "early", "6 more passes are needed, about 606 labels."),
        ((100, 300, 0.0, 1.0), "expert", "It gives every output the same score."),
    ],
)
def test_a_verdict_follows_from_what_is_found_and_kept(
    sides: Sequence[float], verdict: str, reason: str
) -> None:
    result = measured(*sides)

    (criterion,) = result.criteria
    assert criterion.verdict == verdict
    assert criterion.raters == 1
    assert reason in criterion.reason
    assert str(result).count("One expert's labels cannot show") == 1
    assert "rho" not in str(result)
    assert "3 people" not in str(result)


def test_the_figures_are_those_of_the_counts() -> None:
    (criterion,) = measured(100, 300, 0.9, 0.8).criteria

    assert (criterion.sensitivity, criterion.specificity) == (0.9, 0.8)
    assert criterion.accuracy == pytest.approx((90 + 240) / 400)
    # Both pass 240, both fail 90; by chance 0.625 * 0.75 + 0.375 * 0.25.
    chance = 0.625 * 0.75 + 0.375 * 0.25
    assert criterion.kappa == pytest.approx((0.825 - chance) / (1 - chance))
    (row,) = measured(100, 300, 0.9, 0.8).to_records()
    assert (row["sensitivity"], row["precision"]) == (0.9, pytest.approx(90 / 150))


def test_a_judge_that_knows_the_length_alone_may_not_label() -> None:
    """The expert fails long answers, and the judge whatever is long."""
    rng = np.random.default_rng(4)
    rows = []
    for number in range(400):
        words = int(rng.integers(5, 105))
        human = words < 55 if rng.random() < 0.95 else words >= 55
        rows.append(
            {
                "id": f"q{number}",
                "answer": "word " * words,
                "human": "pass" if human else "fail",
                "judge": "pass" if words < 55 else "fail",
            }
        )

    (criterion,) = geval.measure(rows, human="human", judge="judge").criteria

    assert criterion.verdict == "expert"
    assert (criterion.sensitivity or 0) > 0.9
    assert "Length alone" in criterion.reason
    assert "may do as well" in criterion.reason


def test_a_judge_that_knows_a_band_of_lengths_may_not_label() -> None:
    """Neither long nor short texts are good, so length alone in its order does not tell."""
    rng = np.random.default_rng(6)
    rows = []
    for number in range(400):
        words = int(rng.integers(5, 105))
        good = 35 < words < 75
        rows.append(
            {
                "id": f"q{number}",
                "answer": "word " * words,
                "human": "pass" if good == (rng.random() < 0.95) else "fail",
                "judge": "pass" if good else "fail",
            }
        )

    (criterion,) = geval.measure(rows, human="human", judge="judge").criteria

    assert criterion.verdict == "expert"
    assert "texts of like length may do as well" in criterion.reason.lower()


@pytest.mark.parametrize("unit", ["document", "group"])
def test_a_judge_that_knows_the_document_or_group_alone_may_not_label(unit: str) -> None:
    verdicts = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = []
        for number in range(200):
            if number % 2 == 0:
                good = rng.random() < 0.5
            row = {
                "human": "pass" if good == (rng.random() < 0.95) else "fail",
                "judge": "pass" if good else "fail",
                "answer": "word " * int(rng.integers(5, 90)),
            }
            shared = {"document": f"d{number // 2}", "system": f"s{number % 2}"}
            own = {"document": f"d{number}", "group": f"g{number // 2}"}
            rows.append(row | (shared if unit == "document" else own))
        names = {"system": "system"} if unit == "document" else {"group": "group"}
        result = geval.measure(rows, human="human", judge="judge", document="document", **names)  # type: ignore[arg-type]
        verdicts.append(result.verdict)

    assert "agrees" not in verdicts


def test_a_judge_that_knows_who_wrote_may_not_label() -> None:
    rng = np.random.default_rng(5)
    rows = []
    for number in range(400):
        good = number % 2 == 0
        human = good if rng.random() < 0.95 else not good
        rows.append(
            {
                "id": f"q{number // 2}",
                "system": "good" if good else "poor",
                "answer": "word " * int(rng.integers(5, 50)),
                "human": "pass" if human else "fail",
                "judge": "pass" if good else "fail",
            }
        )

    (criterion,) = geval.measure(
        rows, human="human", judge="judge", document="id", system="system"
    ).criteria

    assert criterion.verdict == "expert"
    assert "who wrote a text" in criterion.reason


def test_scores_that_are_missing_where_the_judge_errs_are_counted() -> None:
    rows = labels(100, 300, 0.7, 0.93)
    for row in rows:
        if row["human"] == "fail" and row["judge"] == "pass":
            row["judge"] = ""

    (criterion,) = geval.measure(rows, human="human", judge="judge").criteria

    assert criterion.sensitivity == 1
    assert criterion.verdict == "spot"
    assert "30 rated outputs that it left out: counted as wrong" in criterion.reason


@pytest.mark.parametrize(("scored", "verdict"), [(279, "spot"), (285, "agrees"), (300, "agrees")])
def test_a_judge_agrees_on_several_points_only_with_nearly_all_scores(
    scored: int, verdict: str
) -> None:
    """The outputs that it leaves out have the middle rating, which a constant has as well."""
    human = [*[1, 2, 4, 5] * 60, *[3] * 60]
    rows = [
        {"id": f"q{number}", "human": rating, "judge": rating if number < scored else None}
        for number, rating in enumerate(human)
    ]

    (criterion,) = geval.measure(rows, human="human", judge="judge").criteria

    assert criterion.verdict == verdict


def test_missing_scores_are_wrong_although_most_labels_are_fails() -> None:
    rows = labels(180, 120, 1.0, 1.0)
    for number, row in enumerate(rows):
        if row["human"] == "fail" and number % 5 == 0:
            row["judge"] = ""

    (criterion,) = geval.measure(rows, human="human", judge="judge").criteria

    assert criterion.verdict == "spot"


@pytest.mark.parametrize(("fails", "passes", "missing", "verdict"), [
    (100, 700, 4, "agrees"), (100, 700, 30, "spot"),
])  # fmt: skip
def test_each_kind_needs_its_scores(fails: int, passes: int, missing: int, verdict: str) -> None:
    """Of all outputs 96 % have scores; of the fails only 70 %."""
    rows = labels(fails, passes, 1.0, 1.0)
    for row in [row for row in rows if row["human"] == "fail"][:missing]:
        row["judge"] = ""

    (criterion,) = geval.measure(rows, human="human", judge="judge").criteria

    assert criterion.verdict == verdict


def test_a_score_on_another_scale_has_a_threshold() -> None:
    rng = np.random.default_rng(9)
    rows = [
        row | {"judge": (4 if row["judge"] == "pass" else 1) + int(rng.integers(0, 2))}
        for row in labels(100, 300, 0.95, 0.95)
    ]

    (criterion,) = geval.measure(rows, human="human", judge="judge").criteria

    assert criterion.verdict == "agrees"
    assert "with scores from 3 as passes" in criterion.reason


def test_one_output_that_two_rated_is_no_bar() -> None:
    rows = [
        {"id": row["id"], "annotator": f"rater {number % 3}", "score": int(row["human"] == "pass"),
         "judge": int(row["judge"] == "pass")}
        for number, row in enumerate(labels(100, 300, 0.95, 0.95))
    ]  # fmt: skip
    wide = [
        {"id": row["id"], "judge": row["judge"],
         **{f"rater {rater}": row["score"] if row["annotator"] == f"rater {rater}" else None
            for rater in range(3)}}
        for row in rows
    ]  # fmt: skip
    names = [f"rater {rater}" for rater in range(3)]
    wide[0]["rater 1"] = wide[0]["rater 0"]

    (criterion,) = geval.measure(wide, human=names, judge="judge", document="id").criteria

    assert (criterion.raters, criterion.verdict) == (3, "agrees")


@pytest.mark.parametrize(
    ("written", "outcome"),
    [
        ("sensitivity.low>=0.8", "met"),
        ("tpr.low>=0.8", "met"),
        ("specificity.low>=0.9", "cannot say"),
        ("tnr.low>=0.95", "not met"),
        ("kappa.low>=0.6", "met"),
        ("accuracy.low>=0.7", "cannot say"),  # people pass three of four
        ("accuracy.low>=0.85", "met"),
        ("balanced_accuracy.low>=0.8", "met"),
        ("precision.low>=0.9", "not met"),
        ("rate.error.high<=0.1", "met"),  # 0.72 pass, people 0.75
        ("rate.error.high<=0.04", "cannot say"),
        ("rate.error.high<=0.01", "not met"),
        ("verdict.agrees", "met"),
        ("verdict.spot_checks", "met"),
        ("verdict.stands_in", "not met"),
    ],
)
def test_a_requirement_names_them(written: str, outcome: str) -> None:
    (result,) = measured(100, 300, 0.91, 0.93).report.criteria
    requirement = parse_requirement(written)
    figures = figures_in([requirement.figure], lambda *_view: (result, result.judges[0]))

    assert check(requirement, figures[requirement.figure]).outcome == outcome


def test_always_the_same_verdict_meets_no_requirement() -> None:
    (result,) = measured(300, 100, 1.0, 0.0).report.criteria
    for written in ("sensitivity.low>=0.8", "accuracy.low>=0.7"):
        requirement = parse_requirement(written)
        figures = figures_in([requirement.figure], lambda *_view: (result, result.judges[0]))

        checked = check(requirement, figures[requirement.figure])

        assert checked.outcome == RequirementOutcome.CANNOT_SAY, checked


def ratings(count: int, noise: float) -> list[dict[str, object]]:
    """Ratings of one expert from 1 to 5, and those of a judge that sees the same with noise."""
    rng = np.random.default_rng(count)
    quality = rng.normal(3, 1.2, count)
    sides = (np.clip(np.round(quality + rng.normal(0, own, count)), 1, 5) for own in (0.3, noise))
    people, judge = sides
    return [
        {"id": f"q{n}", "answer": "word " * int(rng.integers(5, 50)), "human": h, "judge": j}
        for n, (h, j) in enumerate(zip(people.tolist(), judge.tolist(), strict=True))
    ]


@pytest.mark.parametrize(
    ("count", "noise", "verdict", "reason"),
    [
        (200, 0.6, "agrees", "At least 0.60 is shown."),
        (200, 2.5, "expert", "At least 0.60 is required."),
        (59, 0.6, "early", "1 more label is needed."),
        (60, 0.6, "agrees", "weighted kappa"),
        (80, 0.9, "early", "more labels are needed."),
        (200, 60.0, "expert", "It is not shown to do better than chance."),
    ],
)
def test_on_a_scale_one_expert_asks_for_weighted_kappa(
    count: int, noise: float, verdict: str, reason: str
) -> None:
    result = geval.measure(ratings(count, noise), human="human", judge="judge")

    (criterion,) = result.criteria
    assert (criterion.verdict, reason in criterion.reason) == (verdict, True), criterion.reason


@pytest.mark.parametrize("lazy", [4, 1])
def test_a_judge_that_always_says_the_same_is_not_the_best(lazy: int) -> None:
    rows = [{**row, "lazy": lazy} for row in ratings(80, 0.9)]

    result = geval.measure(rows, human="human", judge=["judge", "lazy"])

    (criterion,) = result.criteria
    assert (criterion.judge, criterion.verdict) == ("judge", "early")
    assert "lazy: Keep the expert labelling, weighted kappa 0.00" in str(result)
    alone = geval.measure(rows, human="human", judge="lazy").criteria[0]
    assert (alone.verdict, alone.reason) == ("expert", "It gives every output the same score.")


def test_judges_beside_the_best_have_what_their_verdict_is_by() -> None:
    rows = [{**row, "lazy": "pass"} for row in labels(100, 300, 0.91, 0.93)]

    text = str(geval.measure(rows, human="human", judge=["judge", "lazy"]))

    assert "lazy: Keep the expert labelling, finds 0.00" in text
    assert "rho" not in text
    assert "people pass, judge fail: q" in text


@pytest.mark.parametrize("wrong", [0, 1, 2])
@pytest.mark.parametrize("count", [60, 300])
def test_hardly_an_error_is_no_reason_against_a_judge(count: int, wrong: int) -> None:
    rng = np.random.default_rng(10)
    rows = [
        {"id": f"q{n}", "answer": "word " * int(rng.integers(5, 90)),
         "human": 1 + n % 5, "judge": 1 + n % 5 - (0 < n <= wrong)}
        for n in range(count)
    ]  # fmt: skip

    (criterion,) = geval.measure(rows, human="human", judge="judge", document="id").criteria

    assert criterion.verdict == "agrees", criterion.reason


def test_two_experts_who_do_not_agree_are_no_measure() -> None:
    rng = np.random.default_rng(8)
    rows = [row | {"other": int(rng.integers(1, 6))} for row in ratings(200, 0.6)]

    result = geval.measure(rows, human=["human", "other"], judge="judge")

    (criterion,) = result.criteria
    assert criterion.verdict == "unreliable"
    assert "The experts do not agree enough" in criterion.reason
    assert "One expert" not in str(result)


def test_a_metric_on_another_scale_may_not_rate_for_an_expert() -> None:
    rows = [row | {"judge": float(str(row["judge"])) / 100} for row in ratings(200, 0.6)]

    (criterion,) = geval.measure(rows, human="human", judge="judge", scale=(1, 5)).criteria

    assert criterion.verdict == "expert"
    assert "another scale" in criterion.reason


def test_a_requirement_on_another_scale_cannot_be_decided() -> None:
    rows = [
        {"id": f"q{number}", "human": 1 + number % 5, "judge": 1 + number % 5}
        for number in range(60)
    ]
    (result,) = geval.measure(rows, human="human", judge="judge", document="id").report.criteria
    requirement = parse_requirement("sensitivity.low>=0.6")
    figures = figures_in([requirement.figure], lambda *_view: (result, result.judges[0]))

    assert check(requirement, figures["sensitivity.low"]).outcome == "cannot say"


def test_the_terminal_prints_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in labels(100, 300, 0.91, 0.93)))

    code, printed = main(["check", str(path)]), capsys.readouterr().out

    assert code == 0
    assert "judge agrees with your expert as required" in printed
    assert "fails found 0.91 [0.84, 0.95]; passes kept 0.93 [0.90, 0.95]" in printed


TURNED = {
    "sensitivity": "specificity", "specificity": "sensitivity", "accuracy": "accuracy",
    "kappa": "kappa",
}  # fmt: skip


@pytest.mark.parametrize("find", ["pass", "Pass", "1", "yes"])
def test_the_class_to_find_can_be_turned(find: str) -> None:
    rows = labels(100, 300, 0.7, 0.93)
    usual, turned = (geval.measure(rows, find=answer).criteria[0] for answer in ("fail", find))

    for name, other in TURNED.items():
        assert getattr(usual, name) == getattr(turned, other), name
    assert usual.pass_fail
    assert turned.pass_fail
    assert turned.pass_fail.precision.estimate.value == 279 / 309
    assert usual.pass_fail.missed == 30
    assert turned.verdict == usual.verdict == "spot"
    assert "Let the expert check what it passes: 309 of 400." in turned.reason
    assert "passes found 0.93" in str(geval.measure(rows, find=find))


@pytest.mark.parametrize("find", ["maybe", "2", ""])
def test_an_answer_that_no_criterion_has_is_an_error(find: str) -> None:
    rows = labels(20, 20, 0.7, 0.9)
    if not find:
        assert geval.measure(rows, find=find).criteria[0].sensitivity == 0.7
        return
    with pytest.raises(InputError, match="0, 1, Yes and No"):
        geval.measure(rows, find=find)


def test_no_answer_is_to_be_found_on_a_scale() -> None:
    rows = [{"id": f"q{n}", "human": 1 + n % 5, "judge": 1 + n % 4} for n in range(40)]

    with pytest.raises(InputError, match="no criterion is pass or fail"):
        geval.measure(rows, find="1")


def test_check_takes_the_answer_to_find(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in labels(100, 300, 0.7, 0.95)))

    code = main(["check", str(path), "--find", "pass", "--require", "sensitivity.low>=0.9"])

    assert code == 0
    assert "passes found 0.95" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("bar", "verdict", "reason"),
    [
        (ExpertBar(), "spot", "Let the expert check"),
        (ExpertBar(sensitivity=0.6), "agrees", "At least 0.60 of the fails and 0.80 of the passes"),
        (ExpertBar(specificity=0.95), "expert", "0.80 of the fails and 0.95 of the passes is"),
        (ExpertBar(0.6, 0.6), "agrees", "At least 0.60 of both is shown."),
    ],
)
def test_a_criterion_states_what_is_required(bar: ExpertBar, verdict: str, reason: str) -> None:
    parts = geval.measure(labels(100, 300, 0.7, 0.93)).gathered
    (about,) = parts.criteria

    result = criterion_result(
        replace(about, bar=bar),
        list(parts.judges),
        parts.data.selected(ReportOptions(level="dataset")),
        ReportOptions(level="dataset"),
        Records(),
    )

    evidence = result.by_labels(result.judges[0])
    assert evidence is not None
    assert evidence.verdict.value == verdict
    assert reason in expert_reading(evidence, "judge")


def test_the_best_of_several_judges_has_an_interval_by_its_documents() -> None:
    rng = np.random.default_rng(4)
    quality = rng.normal(size=200)
    names = ["near", "far", "other"]
    table = [
        {"id": n, "human": 1 + round(of)} | {name: float(of + rng.normal()) for name in names}
        for n, of in enumerate(np.clip(quality + 2, 0, 4))
    ]

    (alone,) = geval.measure(
        [{name: row[name] for name in ("id", "human", "near")} for row in table],
        human="human", judge="near", document="id",
    ).criteria  # fmt: skip
    (best,) = geval.measure(table, human="human", judge=names, document="id").criteria

    below = [each.rho - each.interval[0] for each in (alone, best) if each.rho and each.interval]
    # Bonferroni's share of three judges is 1.25 times as far away.
    assert 0.8 < below[1] / below[0] < 1.5


@pytest.mark.parametrize("raters", [1, 3])
def test_no_correlation_is_printed_of_pass_or_fail(raters: int) -> None:
    rng = np.random.default_rng(2)
    people = [f"rater{n}" for n in range(raters)]
    table = [
        {"id": n, "near": int(of > -0.8), "far": int(of + rng.normal() > -0.8)}
        | {name: int(of + rng.normal() / 2 > -0.8) for name in people}
        for n, of in enumerate(rng.normal(size=200))
    ]

    printed = str(geval.measure(table, human=people, judge=["near", "far"], document="id"))

    assert printed.count(" of the fails and keeps ") == (1 if raters == 1 else 2)
    assert "rho" not in printed


@pytest.mark.parametrize(("noise", "outcome"), [(0.3, "met"), (1.0, "not met")])
def test_weighted_kappa_can_be_required_of_a_scale(noise: float, outcome: str) -> None:
    rng = np.random.default_rng(6)
    table = [
        {"id": n, "human": int(np.clip(round(3 + of), 1, 5)),
         "judge": int(np.clip(round(3 + of + rng.normal() * noise), 1, 5))}
        for n, of in enumerate(rng.normal(size=200))
    ]  # fmt: skip
    measured = geval.measure(table, human="human", judge="judge", document="id")

    (certified,) = geval.certify(measured, ["kappa.low>=0.7"])

    assert str(certified.outcome) == outcome
    assert certified.checked[0].value == measured.report.criteria[0].judges[0].analysis.kappa.low(
        0.025
    )
