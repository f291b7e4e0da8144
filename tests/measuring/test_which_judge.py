"""The judge that was asked for is the one that is answered about, chosen from all in the files."""

import csv
from pathlib import Path

import numpy as np
import pytest

import geval
from geval.reports.at_a_glance import at_a_glance
from geval.reports.downloads.tables import as_csv
from geval.reports.paper_table import paper_table
from geval.reports.verdicts.analysis import at_worst, compare_pairs
from geval.reports.verdicts.verdict import Verdict
from geval.statistics.arrays import Outputs
from geval.statistics.correlation import correlations
from geval.statistics.thresholds import SIGNIFICANCE
from geval.texts.numbers import in_brackets


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Three raters and ten judges that are a little behind a rater, in one table."""
    rng = np.random.default_rng(4)
    path = tmp_path / "many.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        judges = [f"j{number}" for number in range(10)]
        writer.writerow(["doc", "sys", "ann", "bob", "cyd", *judges, "words"])
        for document in range(40):
            for system in range(5):
                quality = rng.normal(3, 1.2)
                seen = quality + rng.normal(0, [0.6] * 3 + [0.75] * 10)
                points = np.clip(np.round(seen), 1, 5).astype(int)
                writer.writerow([f"d{document}", f"s{system}", *points, rng.integers(20, 90)])
    return path


def measured(path: Path, judge: str | list[str]) -> geval.Measurement:
    return geval.measure(
        path, human=["ann", "bob", "cyd"], judge=judge, document="doc", system="sys"
    )


def test_judges_that_were_not_named_count_as_well(many: Path) -> None:
    one, everyone = measured(many, "j3"), measured(many, [f"j{number}" for number in range(10)])

    assert [judge.judge for judge in one.report.criteria[0].judges] == ["j3"]
    assert one.report.criteria[0].compared == everyone.report.criteria[0].compared == 10
    assert "chosen of 10 judges" in one.criteria[0].reason


def test_the_best_judge_has_the_strongest_verdict_of_all(many: Path) -> None:
    result = measured(many, [f"j{number}" for number in range(10)]).report.criteria[0]

    places = {judge.judge: result.verdict_on(judge).place for judge in result.judges}
    assert result.best is not None
    assert places[result.best.judge] == min(places.values()) == result.verdict.place


def test_a_judge_with_a_lower_correlation_and_a_stronger_verdict_is_best(tmp_path: Path) -> None:
    # The second follows people best on an own scale, so that it can be used with spot checks only.
    rng = np.random.default_rng(1)
    rows = []
    for document in range(100):
        for system in range(4):
            quality = rng.normal(3, 1.2)
            points = np.clip(np.round(quality + rng.normal(0, [0.5, 0.5, 0.5, 0.3])), 1, 5)
            names = ("ann", "bob", "cyd", "near")
            rows.append({"doc": document, "sys": system, **dict(zip(names, points, strict=True)),
                         "exact": 1000 * quality})  # fmt: skip

    result = geval.measure(
        rows, human=["ann", "bob", "cyd"], judge=["near", "exact"], document="doc", system="sys"
    )

    first = result.criteria[0]
    assert (first.judge, first.verdict) == ("near", Verdict.STANDS_IN)
    assert "exact agrees more (0.9" in first.reason
    rho = {record["judge"]: record["spearman"] for record in result.to_records()}
    assert rho["exact"] > rho["near"]
    assert {record["judge"]: record["verdict"] for record in result.to_records()} == {
        "near": Verdict.STANDS_IN.label,
        "exact": Verdict.SPOT_CHECKS.label,
    }


@pytest.mark.parametrize(("scored", "is_shown"), [(0.6, False), (0.94, True), (1, True)])
def test_a_judge_that_left_many_outputs_out_is_not_said_to_agree_better(
    scored: float, is_shown: bool
) -> None:
    rng = np.random.default_rng(2)
    rows = []
    for document in range(100):
        for system in range(4):
            quality = rng.normal(3, 1.2)
            seen = np.round(quality + rng.normal(0, [0.5, 0.5, 0.5, 0.4, 1.5]))
            names = ("ann", "bob", "cyd", "near", "far")
            row = dict(zip(names, np.clip(seen, 1, 5), strict=True))
            if document >= 100 * scored:
                row["near"] = None
            rows.append({"doc": document, "sys": system, **row})
    result = geval.measure(
        rows, human=["ann", "bob", "cyd"], judge=["near", "far"], document="doc", system="sys"
    )

    found = geval.compare(result, "near", "far")[0]

    assert (found.better == "near") is is_shown
    assert ("rated outputs have scores of near" in found.reason) is not is_shown


def test_each_table_has_the_best_judges_interval_of_the_report(many: Path) -> None:
    report = measured(many, [f"j{number}" for number in range(10)]).report
    (criterion,) = report.criteria
    best = criterion.best
    assert best is not None
    interval = criterion.interval_of(best)

    (row,) = [row for row in paper_table(report).rows if row.judge == best.judge]
    lines = [line.split(",") for line in as_csv(report).splitlines()]
    (line,) = [line for line in lines if line[1:4] == [best.judge, "summary", "spearman"]]

    assert interval != best.analysis.shown
    assert row.cells[0] is not None
    assert row.cells[0].interval == in_brackets(interval)
    assert (float(line[9]), float(line[10])) == pytest.approx(interval.ends)


@pytest.mark.parametrize(("documents", "missing"), [(10, 20), (14, 4), (15, 0)])
def test_too_few_outputs_for_an_interval_are_counted(
    many: Path, documents: int, missing: int
) -> None:
    lines = many.read_text().splitlines()[: 1 + 4 * documents + documents]
    lines = [line for at, line in enumerate(lines) if at == 0 or at % 5]
    many.write_text("\n".join(lines))

    (row,) = at_a_glance(measured(many, "j3").report).rows

    assert row.missing_outputs == missing


@pytest.mark.parametrize("kind", ["pass or fail", "labels", "one output a document"])
@pytest.mark.parametrize("scored", [100, 200])
def test_a_judge_that_left_half_out_is_not_better_on_the_other(kind: str, scored: int) -> None:
    rng = np.random.default_rng(1)
    answers = {"pass or fail": ["fail", "pass"], "labels": ["bug", "praise", "refund"]}
    points = answers.get(kind, [1, 2, 3, 4, 5])

    def given(truth: int, right: float) -> object:
        return points[truth if rng.random() < right else (truth + 1) % len(points)]

    rows = [
        {"id": n, "human": points[truth], "b": given(truth, 0.5)}
        | ({"a": given(truth, 0.99)} if n < scored else {"a": None})
        for n, truth in enumerate(rng.integers(0, len(points), 200).tolist())
    ]

    (compared,) = geval.compare(geval.measure(rows, human="human", judge=["a", "b"]), "a", "b")

    assert compared.better == ("a" if scored == 200 else "")
    assert ("100 of 200 rated outputs have scores of a" in str(compared)) == (scored == 100)


@pytest.mark.parametrize(
    ("naming", "criteria", "judges"),
    [
        ({"judge": "gpt"}, ["overall"], ["gpt"]),
        ({"human": "human"}, ["overall"], ["gpt", "claude"]),
        ({"judge": "gpt", "criterion": "tone"}, ["tone"], ["gpt"]),
        ({"judge": "gpt", "human": "human"}, ["quality"], ["gpt"]),
    ],
)
def test_the_columns_that_are_not_named_are_recognised(
    naming: dict[str, str], criteria: list[str], judges: list[str]
) -> None:
    table = [
        {"id": n, "human": n % 7 > 1, "gpt": n % 5 > 1, "claude": n % 3 > 0} for n in range(60)
    ]

    result = geval.measure(table, **naming)

    assert [each.criterion for each in result.criteria] == criteria
    assert sorted(each.judge for each in result.report.criteria[0].judges) == sorted(judges)
    assert result.criteria[0].raters == 1


def test_the_other_columns_of_a_named_criterion_are_recognised() -> None:
    table = [
        {"id": n, **{f"{of}_{by}": 1 + (n * by_number) % 5
                     for of in ("tone", "facts")
                     for by_number, by in enumerate(("human", "judge"), start=1)}}
        for n in range(60)
    ]  # fmt: skip

    result = geval.measure(table, judge="tone_judge")

    assert [(each.criterion, each.raters) for each in result.criteria] == [("tone", 1)]


@pytest.mark.parametrize(
    ("more", "compared"), [({"cost": 0.1, "mean": 3}, 1), ({"latency": 200}, 1), ({"other": 2}, 2)]
)
def test_columns_off_the_judges_scale_are_no_judges(more: dict[str, float], compared: int) -> None:
    rng = np.random.default_rng(2)
    rows = [
        {"id": number, "human": int(rng.integers(1, 6)), "judge": int(rng.integers(1, 6))}
        | {name: value * (1 + number % 2) for name, value in more.items()}
        for number in range(90)
    ]

    result = geval.measure(rows, human="human", judge="judge")

    assert result.report.criteria[0].compared == compared


def test_a_judge_that_left_out_what_it_gets_wrong_is_not_better_than_its_equal() -> None:
    """Of 24 data sets, 10 would call it better by the outputs that both scored."""
    alone = claims = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        quality = rng.normal(3, 1, 480)
        people, partial, whole = (
            np.clip(np.round(quality + rng.normal(0, noise, 480)), 1, 5)
            for noise in (0.4, 0.9, 0.9)
        )
        partial[np.argsort(-np.abs(partial - people))[:23]] = np.nan
        outputs = Outputs.full(60, 8)
        judges = [(scores, correlations(outputs, people, scores)) for scores in (partial, whole)]
        worst = at_worst(outputs, people, partial)
        plain, bounded = (
            each.test.p is not None and each.test.p <= SIGNIFICANCE and each.test.observed > 0
            for each in compare_pairs(
                outputs, people, [tuple(judges), (worst, judges[1])], "spearman", "documents"
            )
        )
        alone, claims = alone + plain, claims + (plain and bounded)

    assert claims == 0
    assert alone >= 5
