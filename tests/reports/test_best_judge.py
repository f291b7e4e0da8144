"""Which judge a report calls the best, and when it calls none; letters stand only where judges were
compared."""

import json
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.downloads.latex import as_latex
from geval.reports.downloads.report_json import as_json
from geval.reports.options import ReportOptions
from geval.reports.words import in_a_sentence

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
DOCUMENTS, SYSTEMS = 40, ("a", "b", "c", "d")
RNG = np.random.default_rng(3)
QUALITY = RNG.normal(size=(DOCUMENTS, len(SYSTEMS)))


def rated(annotators: tuple[str, ...] = ("ann", "bob", "cas")) -> str:
    rows = ["doc_id,system_id,criterion,annotator,score"]
    for name in annotators:
        noisy = QUALITY + RNG.normal(0, 0.4, QUALITY.shape)
        points = np.clip(np.round(3 + noisy), 1, 5)
        rows += [
            f"d{d},{system},coherence,{name},{points[d, s]:g}"
            for d in range(DOCUMENTS)
            for s, system in enumerate(SYSTEMS)
        ]
    return "\n".join(rows)


def scored(judges: Mapping[str, np.ndarray], documents: int = DOCUMENTS) -> str:
    rows = ["doc_id,system_id,criterion,judge,score"]
    rows += [
        f"d{d},{system},coherence,{judge},{values[d, s]:g}"
        for judge, values in judges.items()
        for d in range(documents)
        for s, system in enumerate(SYSTEMS)
    ]
    return "\n".join(rows)


OUTPUTS = "\n".join(
    json.dumps({"doc_id": f"d{d}", "system_id": s, "source": f"Text {d}.", "output": f"{s} on {d}"})
    for d in range(DOCUMENTS)
    for s in SYSTEMS
)
FAIR = np.clip(np.round(3 + QUALITY + RNG.normal(0, 0.8, QUALITY.shape)), 1, 5)


def test_a_judge_that_scored_one_easy_document_is_not_the_best(
    project: Project, load: Load
) -> None:
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"fair": FAIR})})
    load(project, {"s1.csv": scored({"lucky": 3 + QUALITY}, documents=1)})

    report = build_report(project)
    criterion = report.criteria[0]

    assert criterion.best is not None
    assert criterion.best.judge == "fair"
    assert in_a_sentence(criterion).startswith("fair agrees with people")
    assert report.best("spearman") == (None,)  # one ranked judge: nothing is bold


def test_a_negative_correlation_never_ranks_as_people_do(project: Project, load: Load) -> None:
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"inverse": 6 - FAIR})})

    sentence = in_a_sentence(build_report(project).criteria[0])

    assert sentence.startswith("no judge ranks")
    assert "inverse's (rho = −0." in sentence


def test_letters_stand_at_summary_level_only(project: Project, load: Load) -> None:
    judges = {"fair": FAIR, "fairer": np.clip(np.round(3 + QUALITY), 1, 5)}
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored(judges)})

    summary = build_report(project)
    system = build_report(project, options=ReportOptions(level="system"))

    assert "are not shown to differ" in as_latex(summary)
    assert "^{a}" in as_latex(summary)
    assert "differ" not in as_latex(system)
    assert "^{" not in as_latex(system)
    found = json.loads(as_json(system))["criteria"]["coherence"]
    assert found["judges"]["fair"]["letters"] == ""
    assert found["significance"]["level"] == "summary"
    assert set(found["significance"]["letters"]) == {"fair", "fairer"}


def test_the_annotator_tests_p_values_have_names_and_its_epsilon_is_chosen(
    project: Project, load: Load
) -> None:
    load(project, {"o.jsonl": OUTPUTS, "r.csv": rated(), "s.csv": scored({"fair": FAIR})})

    usual, strict = (
        json.loads(as_json(build_report(project, options=ReportOptions(epsilon=epsilon))))[
            "criteria"
        ]["coherence"]["judges"]["fair"]["alt_test"]
        for epsilon in ("0.2", "0.1")
    )

    assert set(usual["p"]) == {"ann", "bob", "cas"}
    assert (usual["epsilon"], strict["epsilon"]) == (0.2, 0.1)
    assert all(strict["p"][name] > usual["p"][name] for name in usual["p"])
