"""The page of annotators' severity and agreement, and the same by the API."""

import re
from collections.abc import Callable, Iterable
from html import unescape

import numpy as np
import pytest
from django.test import Client

from annotations.models import Annotator, Span
from evaluations.models import CandidateOutput, Project
from evaluations.reports.serving import live
from evaluations.reports.serving.worker import neglected_reports, work_on_report
from tests.made_up_files import files_of

pytestmark = pytest.mark.django_db
PAGE, API = "/p/small/report/annotators/", "/api/v1/projects/small/annotator-numbers"
Load = Callable[..., object]


@pytest.fixture
def rated(project: Project, load: Load) -> Project:
    """Twenty documents by three systems; ada is strict, ben mild, cleo knows, dan guesses."""
    live.forget()
    rng = np.random.default_rng(2)
    outputs, ratings = [], []
    for document in range(20):
        for system in range(3):
            key, good = f"d{document},s{system}", int(rng.integers(2, 5))
            outputs.append(f"{key},Source.,Text {document} {system}.\n")
            given = {
                "ada": good - (rng.random() < 0.6), "ben": good + (rng.random() < 0.6),
                "cleo": good, "dan": rng.integers(1, 6),
            }  # fmt: skip
            ratings += [f"{key},coherence,{name},{value}\n" for name, value in given.items()]
    load(project, files_of(outputs, ratings))
    return project


def compute() -> None:
    for pk in neglected_reports():
        work_on_report(pk)


def in_order(text: str, words: Iterable[str]) -> bool:
    places = [text.index(word) for word in words]
    return places == sorted(places)


def test_a_worker_computes_them_and_the_strictest_comes_first(
    rated: Project, as_role: Callable[[str], Client]
) -> None:
    reader = as_role("viewer")
    waiting = reader.get(PAGE)
    assert waiting.status_code == 202
    assert "worker needs a few seconds" in waiting.content.decode()
    assert 'href="/p/small/report/"' in waiting.content.decode()

    compute()

    text = unescape(reader.get(PAGE).content.decode())
    assert "ada is stricter" in text
    assert re.search(r"−0\.\d\d \[−0\.\d\d, −0\.\d\d\]", text)
    assert "Agreement of people on coherence: alpha" in text
    assert "60 outputs rated by two" in text
    assert re.search(r"0\.\d\d\s+<small class=\"quiet nowrap\">\[0\.\d\d, [01]\.\d\d\]", text)
    assert '<td class="number" data-label="Documents">20</td>' in text
    assert in_order(text.split("<tbody>")[1], (">ada<", ">cleo<", ">ben<"))


def test_the_api_has_the_same_numbers(rated: Project, as_role: Callable[[str], Client]) -> None:
    reader = as_role("viewer")
    assert reader.get(API).status_code == 202
    compute()

    found = reader.get(API).json()["criteria"]["coherence"]

    ada, dan = found["annotators"]["ada"], found["annotators"]["dan"]
    assert (found["outputs"], ada["ratings"], ada["shared_outputs"]) == (60, 60, 60)
    assert ada["severity"]["ci"][0] > 0
    assert found["agreement"]["pairs"] == 60 * 6
    assert found["agreement"]["ci"][0] < found["agreement"]["value"] < found["agreement"]["ci"][1]
    assert ada["rho_with_others"] > dan["rho_with_others"]
    low, high = ada["rho_with_others_ci"]
    assert low < ada["rho_with_others"] < high
    # In the others one side ties all outputs.
    assert ada["rho_with_others_documents"] == 17
    assert len(found["least_clear"]) == min(20, found["split_outputs"])


def mark(annotator: Annotator, output: CandidateOutput, start: int, category: str) -> Span:
    return Span.objects.create(
        annotator=annotator,
        output=output,
        start=start,
        end=start + 4,
        quote=output.text[start : start + 4],
        category=category,
    )


def test_marked_spans_have_an_f1(rated: Project, as_role: Callable[[str], Client]) -> None:
    ada, ben = rated.annotators.filter(name__in=("ada", "ben")).order_by("name")
    for at, output in enumerate(CandidateOutput.objects.filter(document__project=rated)[:36]):
        mark(ada, output, 0, "wrong")
        mark(ben, output, 0, "wrong" if at % 2 else "missing")
    reader = as_role("viewer")
    assert reader.get(PAGE).status_code == 202
    compute()

    text = unescape(reader.get(PAGE).content.decode())
    assert "an F1" in text
    assert "over 36" in text
    spans = reader.get(API).json()["spans"]
    assert (spans["value"], spans["outputs"], spans["pairs"]) == (1.0, 36, 36)


def test_annotators_do_not_see_it(rated: Project, as_role: Callable[[str], Client]) -> None:
    assert as_role("annotator").get(PAGE).status_code == 403
    assert as_role("stranger").get(PAGE).status_code == 404
