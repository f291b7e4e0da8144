"""A judge by a field of documents: verdicts and differences by value, requirements of a group, and
the same numbers at every door."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client

import geval
from evaluations.corpus.store import load_files
from evaluations.models import Project
from geval.command_line import main
from geval.files.readers import InputFile
from geval.measuring.inputs import InputError
from geval.reports.by_field import offered_fields
from geval.reports.requirements import RequirementError, parse_requirement


def support(*, found_in_spanish: float = 0.6, small: int = 0) -> list[dict[str, str]]:
    """Answers in English and Spanish, with an expert's label, a judge that finds 90 % of the fails
    and keeps 95 % of the passes, and in Spanish another share of the fails; `small` more in
    German."""
    rng = np.random.default_rng(5)
    rows = []
    for number in range(400 + small):
        language = "de" if number >= 400 else ("en", "es")[number % 2]
        fails = number % 5 < 2
        right = 0.95 if not fails else found_in_spanish if language == "es" else 0.9
        is_right = number // 10 % 20 < 20 * right
        verdicts = ("fail", "pass") if fails else ("pass", "fail")
        words = "word " * int(rng.integers(5, 60))
        rows.append(
            {
                "doc_id": f"q{number}",
                "system_id": "bot",
                "source": f"Question {number}?",
                "output": f"Answer {number}: {words}",
                "metadata.language": language,
                "human": verdicts[0],
                "judge": verdicts[0 if is_right else 1],
            }
        )
    return rows


def in_library(rows: list[dict[str, str]], **options: Any) -> geval.Measurement:
    renamed = [
        {name.removeprefix("metadata."): value for name, value in row.items()} for row in rows
    ]
    return geval.measure(renamed, human="human", judge="judge", **options)


def test_a_judge_that_does_worse_in_a_language_is_named() -> None:
    (result,) = in_library(support(), by="language").by_field

    assert [(row.value, row.outputs) for row in result.values] == [("en", 200), ("es", 200)]
    english, spanish = (row.figures[0] for row in result.values)
    assert english.estimate.value == pytest.approx(0.9, abs=0.02)
    assert spanish.estimate.value == pytest.approx(0.6, abs=0.02)
    assert spanish.difference == pytest.approx(-0.3, abs=0.02)
    low, high = spanish.apart.ends or (0.0, 0.0)
    assert low < -0.3 < high < 0
    assert english.p == spanish.p
    assert spanish.is_shown
    assert [text.split()[:3] for text in result.findings] == [["Worse", "on", "es"]]


@pytest.mark.parametrize(
    ("requirement", "outcome"),
    [
        ("group:language=en.sensitivity.low>=0.8", "met"),
        ("group:language=es.sensitivity.low>=0.8", "not met"),
        ("group:language=es.verdict.agrees", "not met"),
        ("group:language=en.verdict.agrees", "met"),
    ],
)
def test_requirements_of_a_group_are_about_its_outputs_alone(
    requirement: str, outcome: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (certified,) = geval.certify(in_library(support(), by="language"), [requirement])

    assert str(certified.outcome) == outcome
    path = written(tmp_path, support())
    assert main(["check", str(path), "--require", requirement]) == (0 if outcome == "met" else 1)
    assert f"{outcome}: {requirement}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "field", "value", "plain"),
    [
        ("group:language=es.kappa.low>=0.5", "language", "es", "kappa.low>=0.5"),
        ("group: model = v1.2 .kappa.low >= 0.5", "model", "v1.2", "kappa.low>=0.5"),
        ("group:a b=c=d.raters>=3", "a b", "c=d", "raters>=3"),
    ],
)
def test_a_requirement_of_a_group_names_field_and_value(
    text: str, field: str, value: str, plain: str
) -> None:
    required = parse_requirement(text, of_groups=True)

    assert (required.field, required.value) == (field, value)
    assert str(required) == f"group:{field}={value}.{plain}"


def test_a_site_certificate_takes_no_requirement_of_a_group() -> None:
    with pytest.raises(RequirementError, match="geval-site check"):
        parse_requirement("group:language=es.kappa.low>=0.5")


def test_unknown_fields_and_values_are_refused() -> None:
    measured = in_library(support(), by="language")
    with pytest.raises(InputError, match="no field 'langauge'"):
        in_library(support(), by="langauge")
    with pytest.raises(InputError, match="there are: en and es"):
        geval.certify(measured, ["group:language=fr.raters>=1"])
    with pytest.raises(InputError, match="by='topic'"):
        geval.certify(measured, ["group:topic=a.raters>=1"])


def test_ratings_on_a_scale_are_compared_by_the_correlation_of_the_view() -> None:
    rng = np.random.default_rng(3)
    rows = []
    for number in range(60):
        quality = rng.normal(3, 1, 4)
        noise = 0.2 if number % 2 else 2.5
        for system, good in enumerate(quality):
            people = {
                name: int(np.clip(round(good + rng.normal(0, 0.5)), 1, 5))
                for name in ("ann", "bob", "cyd")
            }
            score = float(np.clip(good + rng.normal(0, noise), 1, 5))
            topic = "sports" if number % 2 else "law"
            rows.append({"doc": number, "system": system, "topic": topic, "gpt": score, **people})

    result, by_system = geval.measure(
        rows,
        human=["ann", "bob", "cyd"],
        judge="gpt",
        document="doc",
        system="system",
        by=["topic", "system"],
    ).by_field

    figures = {row.value: row.figures[0] for row in result.values}
    assert figures["law"].name == "spearman at summary level"
    assert figures["law"].is_shown
    assert (figures["law"].difference or 0) < 0 < (figures["sports"].difference or 0)
    # A document has one output of a system, and so nothing to rank.
    alone = [row.figures[0] for row in by_system.values]
    assert {figure.name for figure in alone} == {"spearman at dataset level"}
    assert all((figure.estimate.value or 0) > 0.2 for figure in alone)


def test_more_values_than_a_table_holds_are_refused() -> None:
    rows = [row | {"metadata.language": f"l{number % 21}"} for number, row in enumerate(support())]
    with pytest.raises(InputError, match="21 values"):
        in_library(rows, by="language").by_field  # noqa: B018


def test_fields_that_name_people_are_not_offered() -> None:
    names = ["language", "customer_name", "Rater", "user-id", "renamed", "topic"]

    assert offered_fields(names, 1) == ("language", "renamed", "topic")
    assert offered_fields(["topic"], 2) == ("topic", "system")


def written(folder: Path, rows: list[dict[str, str]]) -> Path:
    path = folder / "support.csv"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [name.removeprefix("metadata.") for name in rows[0]])
        table.writeheader()
        table.writerows(
            {name.removeprefix("metadata."): value for name, value in row.items()} for row in rows
        )
    return path


@pytest.mark.django_db
def test_page_api_and_library_have_the_same_numbers(
    project: Project, as_role: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = support()
    outputs, ratings, scores = (tmp_path / f"{name}.jsonl" for name in ("a", "b", "c"))
    named = [{"doc_id": row["doc_id"], "system_id": "bot", "criterion": "overall"} for row in rows]
    outputs.write_text(
        "".join(
            json.dumps({k: v for k, v in row.items() if k not in ("human", "judge")}) + "\n"
            for row in rows
        )
    )
    ratings.write_text(
        "".join(
            json.dumps(name | {"annotator": "eve", "score": row["human"]}) + "\n"
            for name, row in zip(named, rows, strict=True)
        )
    )
    scores.write_text(
        "".join(
            json.dumps(name | {"judge": "gpt", "score": row["judge"]}) + "\n"
            for name, row in zip(named, rows, strict=True)
        )
    )
    files = [outputs, ratings, scores]
    load_files(project, [InputFile(path, path.name) for path in files])
    client: Client = as_role("viewer")

    got = client.get(f"/api/v1/projects/{project.slug}/report/groups?field=language")

    measured = geval.measure([str(path) for path in files], by="language")
    expected = json.loads(measured.to_whole_json())["by_field"]
    assert got.json() == expected
    main(["check", *map(str, files), "--by", "language", "--json"])
    assert json.loads(capsys.readouterr().out)["by_field"] == expected
    page = client.get(f"/p/{project.slug}/report/groups/").content.decode()
    for value in expected[0]["values"]:
        assert f"{value['figures']['sensitivity']['value']:.2f}" in page
    assert expected[0]["findings"][0] in page
    unknown = client.get(f"/p/{project.slug}/report/groups/?field=topic").content.decode()
    assert "no field" in unknown
    refused = client.get(f"/api/v1/projects/{project.slug}/report/groups?field=topic")
    assert refused.status_code == 422
