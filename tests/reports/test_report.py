"""The report: intervals beside values, the ceiling, the sentence that says it, and reasons where
there is no number."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluations.corpus.store import LoadResult, load_files
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.files.readers import InputFile
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_markdown, as_text
from geval.reports.words import in_a_sentence
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db
HEADER = "doc_id,system_id,criterion,judge,score\n"


def scores(judge: str, good: str, odd: str) -> str:
    return "".join(
        f"d{d},{s},coherence,{judge},{v}\n"
        for d in (1, 2, 3)
        for s, v in (("good", good), ("odd", odd))
    )


def test_summeval_reads_as_a_paper_would_say_it(project: Project, benchmarks: Path) -> None:
    folder = benchmarks / "summeval"
    load_files(project, [InputFile(path, path.name) for path in sorted(folder.iterdir())])

    report = build_report(project)
    found = json.loads(as_json(report))["criteria"]["coherence"]["judges"]["gpt-4o"]

    sentence = in_a_sentence(report.criteria[0])
    assert sentence.startswith("gpt-4o agrees with people")
    assert "(rho = 0.54 [0.48, 0.58])" in sentence
    assert "one rater 0.68 (" in sentence
    low, high = found["spearman"]["summary"]["ci"]
    assert low < found["spearman"]["summary"]["value"] < high
    assert found["alt_test"]["outputs"] == 1600


def test_few_outputs_give_no_verdict(project: Project, load: Callable[..., LoadResult]) -> None:
    load(project, {"o.jsonl": OUTPUTS, "r.csv": RATINGS, "s.csv": HEADER + scores("llm", "4", "2")})

    sentence = in_a_sentence(build_report(project).criteria[0])

    assert "cannot be said yet: 3 documents" in sentence
    assert "at least 10 are needed" in sentence


def test_a_metric_on_another_scale_gets_no_annotator_test(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    load(
        project,
        {"o.jsonl": OUTPUTS, "r.csv": RATINGS, "s.csv": HEADER + scores("rouge", "0.4", "0.2")},
    )

    test = build_report(project).criteria[0].judges[0].alt_test

    assert test.winning_rate.reason.endswith("not on the criterion's scale")


@pytest.mark.parametrize(
    "ratings",
    [
        "",  # nobody rated
        "\n".join(line for line in RATINGS.splitlines() if ",bob," not in line),  # one rater
    ],
    ids=["nobody", "one rater"],
)
def test_hard_data_give_reasons_and_no_errors(
    project: Project, load: Callable[..., LoadResult], ratings: str
) -> None:
    files = {"o.jsonl": OUTPUTS, "s.csv": HEADER + scores("llm", "4", "4")} | (
        {"r.csv": ratings} if ratings else {}
    )
    load(project, files)

    report = build_report(project)
    text = as_json(report)

    assert "NaN" not in text
    assert as_text(report)
    assert as_markdown(report)
    found = json.loads(text)["criteria"]["coherence"]["judges"]["llm"]["spearman"]["summary"]
    assert found["value"] is None
    assert found["reason"]
    assert found["ci"] is None


def test_an_empty_project_has_an_empty_report(project: Project) -> None:
    assert json.loads(as_json(build_report(project)))["criteria"] == {}
