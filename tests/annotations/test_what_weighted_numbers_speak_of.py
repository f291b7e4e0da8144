"""Numbers of an unequal sample count by weights or say that they do not, in the same words
everywhere."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotations.models import StatedProbability
from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from evaluations.reports.report import build_report
from evaluations.reports.serving import live
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_markdown, as_text
from geval.reports.figures import FIGURES
from geval.standin.planted import as_csv
from geval.statistics import cache

pytestmark = pytest.mark.django_db
DOCUMENTS = 60
SYSTEMS = ("gpt-4", "claude-2", "human-written")
PLACES = [(d, s) for d in range(DOCUMENTS) for s in range(len(SYSTEMS))]
HEADER = "doc_id,system_id,criterion,annotator,score,probability"
# Half of the documents were drawn ten times as often as the others.
UNEQUAL = [1.0 if d % 2 else 0.1 for d, _s in PLACES]
UNIFORM = [0.5] * len(PLACES)


def ratings(probabilities: list[float | str]) -> str:
    rng = np.random.default_rng(3)
    rows = [
        (f"d{d}", SYSTEMS[s], "quality", rater, rng.integers(1, 6), probability)
        for rater in ("ann", "bob", "cat")
        for (d, s), probability in zip(PLACES, probabilities, strict=True)
    ]
    return as_csv(HEADER, rows)


@pytest.fixture
def sampled(project: Project, load: Callable[..., LoadResult]) -> Callable[..., Project]:
    """60 documents by three systems, rated by three people with some probabilities; two judges of
    which the first is right where documents have even numbers."""

    def loaded(probabilities: list[Any] = UNEQUAL) -> Project:
        live.forget()
        cache.forget()
        rng = np.random.default_rng(4)
        people = np.random.default_rng(3).integers(1, 6, (3, len(PLACES))).mean(axis=0)
        outputs = [
            (f"d{d}", SYSTEMS[s], f"Text {d}.", "word " * int(rng.integers(3, 40)))
            for d, s in PLACES
        ]
        scores = [
            (f"d{d}", SYSTEMS[s], "quality", judge,
             round(float(np.clip(people[at] + rng.normal(0.3, 0.4 if d % 2 else 1.4), 1, 5)), 1))
            for judge in ("gpt-judge", "other")
            for at, (d, s) in enumerate(PLACES)
        ]  # fmt: skip
        load(
            project,
            {
                "outputs.csv": as_csv("doc_id,system_id,source,output", outputs),
                "ratings.csv": ratings(probabilities),
                "scores.csv": as_csv("doc_id,system_id,criterion,judge,score", scores),
            },
        )
        project.systems.filter(name="human-written").update(kind="human")
        project.systems.exclude(name="human-written").update(kind="llm")
        return project

    return loaded


@pytest.fixture
def unequal(sampled: Callable[..., Project]) -> Project:
    return sampled()


def reported(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(as_json(build_report(project)))["criteria"]["quality"]
    return found


def numbers(found: Any) -> Iterator[float]:
    if isinstance(found, dict):
        for value in found.values():
            yield from numbers(value)
    elif isinstance(found, list):
        for value in found:
            yield from numbers(value)
    elif isinstance(found, float):
        yield found


OF_ALL = (
    "pearson", "spearman", "kendall", "pearson_disattenuated", "ppi", "calibration",
    "length_bias", "writer_bias", "own_family",
)  # fmt: skip
OF_RATED = ("alt_test", "spread")


def test_what_speaks_of_all_moves_with_the_weights_and_the_rest_does_not(
    sampled: Callable[..., Project],
) -> None:
    project = sampled()
    weighted = reported(project)
    StatedProbability.objects.update(probability=0.5)
    live.forget()
    cache.forget()
    uniform = reported(project)

    assert weighted["weights"]["effective"] < 180
    assert "weights" not in uniform
    for name in OF_ALL:
        sides = [list(numbers(one["judges"]["gpt-judge"][name])) for one in (weighted, uniform)]
        assert all(sides), name
        assert sides[0] != sides[1], name
    for name in OF_RATED:
        assert weighted["judges"]["gpt-judge"][name] == uniform["judges"]["gpt-judge"][name]
    for name in ("agreement", "ceiling"):
        assert weighted[name] == uniform[name]


def test_the_error_of_a_judge_is_the_weighted_mean(unequal: Project) -> None:
    """Loaded as files, the ratings and scores are at hand."""
    gaps = {
        (score.output.document.doc_id, score.output.system.name): abs(
            float(score.value)
            - float(np.mean(score.output.ratings.values_list("score", flat=True)))
        )
        for score in unequal.judges.get(name="other")
        .runs.get()
        .scores.select_related("output__document", "output__system")
    }
    weight = [1 / UNEQUAL[at] for at in range(len(PLACES))]
    values = [gaps[f"d{d}", SYSTEMS[s]] for d, s in PLACES]

    found = reported(unequal)["judges"]["other"]["calibration"]["error_before"]

    assert found == pytest.approx(np.average(values, weights=weight))


def test_a_uniform_sample_says_nothing_of_weights(sampled: Callable[..., Project]) -> None:
    report = build_report(sampled(UNIFORM))
    assert "what_numbers_speak_of" not in json.loads(as_json(report))
    assert "weights" not in as_markdown(report) + as_text(report)


def plain(response: Any) -> str:
    """The text of a page, without its tags and line breaks."""
    text = re.sub(r"<[^>]+>", "", response.content.decode())
    return " ".join(text.split())


ODD_WEIGHTS = pytest.mark.parametrize(
    "probabilities",
    [
        pytest.param([1e-9 if at == 7 else 1.0 for at in range(len(PLACES))], id="one enormous"),
        pytest.param([0.5 if at < 2 else "" for at in range(len(PLACES))], id="most not stated"),
        pytest.param([1 / (1 + at % 3) for at in range(len(PLACES))], id="within documents"),
        pytest.param([1 / (1 + d) for d, _s in PLACES], id="all different"),
        pytest.param([0.0 if d else 0.5 for d, _s in PLACES], id="one document, others picked"),
    ],
)


@ODD_WEIGHTS
def test_odd_weights_have_numbers_or_reasons_on_every_page(
    sampled: Callable[..., Project], as_role: Callable[[str], Client], probabilities: list[Any]
) -> None:
    project = sampled(probabilities)
    client, slug = as_role("owner"), project.slug
    run = project.runs.first()
    assert run

    text = as_json(build_report(project))
    assert "NaN" not in text
    for name, *rest in (
        ("report_detail",), ("report_numbers",), ("report_drawings",), ("run_detail", run.pk),
        *(("report_figure", kind, project.criteria.get().pk) for kind in FIGURES),
    ):  # fmt: skip
        response = client.get(reverse(f"evaluations:{name}", args=[slug, *rest]))
        assert response.status_code == 200, name
        assert not re.search(r"\b(nan|inf)\b", plain(response), re.IGNORECASE), name
