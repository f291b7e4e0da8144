"""† and ‡ in the LaTeX table: what is better than a baseline, by the paired bootstrap."""

import json
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from evaluations.reports.report import selected_data
from geval.reports.marks import Marks, marks_against
from geval.reports.options import ReportOptions

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
