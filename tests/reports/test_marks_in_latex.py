"""† and ‡ in the LaTeX table: what is better than a baseline, by the paired bootstrap."""

import json
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from evaluations.reports.report import selected_data
from geval.reports.marks import Marks, marks_against
from geval.reports.options import ReportOptions
from geval.statistics.significance import paired_bootstrap_p

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
DOCUMENTS, SYSTEMS = 60, ("a", "b", "c", "d", "e")
NOISE = {"plain": 1.2, "same": 1.2, "good": 0.5}


def load_judges(project: Project, load: Load, documents: int = DOCUMENTS) -> None:
    rng = np.random.default_rng(5)
    quality = rng.normal(size=(documents, len(SYSTEMS)))
    outputs = [
        json.dumps(
            {"doc_id": f"d{d}", "system_id": s, "source": f"Text {d}.", "output": f"{s} {d}"}
        )
        for d in range(documents)
        for s in SYSTEMS
    ]

    def table(side: str, names: dict[str, float]) -> str:
        rows = [f"doc_id,system_id,criterion,{side},score"]
        for name, noise in names.items():
            points = np.clip(np.round(3 + quality + rng.normal(0, noise, quality.shape)), 1, 5)
            rows += [
                f"d{d},{system},coherence,{name},{points[d, s]:g}"
                for d in range(documents)
                for s, system in enumerate(SYSTEMS)
            ]
        return "\n".join(rows)

    load(
        project,
        {
            "o.jsonl": "\n".join(outputs),
            "r.csv": table("annotator", {"ann": 0.3, "bob": 0.3}),
            "s.csv": table("judge", NOISE),
        },
    )


def latex(project: Project, *arguments: str) -> str:
    out = StringIO()
    call_command("report", project.slug, "--format", "latex", *arguments, stdout=out)
    return out.getvalue()


def row(text: str, judge: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(f"{judge} &"))


def marks_of(project: Project, baseline: str, **view: str) -> Marks:
    options = ReportOptions(**view)  # type: ignore[arg-type]
    judges, criteria = list(project.judges.all()), list(project.criteria.all())
    data = selected_data(project, judges, criteria, options)
    by_name = {judge.name: judge for judge in judges}
    return marks_against(by_name[baseline], judges, criteria, data, options)


def test_p_is_the_share_of_resamples_without_an_advantage() -> None:
    first = np.array([0.5, 0.4, 0.3, 0.2, np.nan, 0.6])
    second = np.array([0.1, 0.4, 0.4, 0.1, 0.1, 0.1])

    # Of five with both values, two are no gain; the observed one counts: (1 + 2) / (1 + 5).
    assert paired_bootstrap_p(first, second) == pytest.approx(0.5)
    assert paired_bootstrap_p(second * np.nan, first) is None


def test_a_better_judge_is_marked_and_an_equal_one_and_the_baseline_are_not(
    project: Project, load: Load
) -> None:
    load_judges(project, load)

    text = latex(project, "--marks", "plain")

    assert row(text, "good").count(r"\ddagger") == 2  # by both coefficients, not of the average
    assert "dagger" not in row(text, "plain") + row(text, "same")
    assert r"$\dagger$ (p $\le$ 0.05) and $\ddagger$ (p $\le$ 0.01): agrees better" in text
    assert "over documents with 1,000 resamples" in text
    assert "dagger" not in latex(project)


@pytest.mark.parametrize("level", ["summary", "system", "dataset"])
def test_marks_are_of_the_level_that_the_table_shows(
    project: Project, load: Load, level: str
) -> None:
    load_judges(project, load)

    marks = marks_of(project, "plain", level=level, coefficient="pearson")

    assert {key[2] for key in marks.by_cell} == {"pearson", "kendall"}
    assert marks.by_cell["coherence", "same", "pearson"] == ""
    if level != "system":  # five systems are ordered alike by all
        assert marks.by_cell["coherence", "good", "pearson"] == "‡"


def test_a_worse_judge_has_no_mark(project: Project, load: Load) -> None:
    load_judges(project, load)

    assert set(marks_of(project, "good").by_cell.values()) == {""}


def test_the_baseline_need_not_be_in_the_table(project: Project, load: Load) -> None:
    load_judges(project, load)

    text = latex(project, "--marks", "plain", "--judge", "good")

    assert "plain &" not in text
    assert r"\ddagger" in row(text, "good")


def test_too_few_documents_give_no_marks_and_the_caption_says_so(
    project: Project, load: Load
) -> None:
    load_judges(project, load, documents=20)

    text = latex(project, "--marks", "plain")

    assert "dagger" not in row(text, "good")
    assert "Without marks: coherence: the bootstrap needs" in text
    assert "needs 50 documents" in text


@pytest.mark.parametrize(
    "arguments", [("--format", "text"), ("--format", "latex", "--over", "both")]
)
def test_marks_that_would_not_be_shown_are_refused(
    project: Project, arguments: tuple[str, ...]
) -> None:
    with pytest.raises(CommandError, match="--marks is for --format latex"):
        call_command("report", project.slug, *arguments, "--marks", "x")
