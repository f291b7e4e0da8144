"""What a search made is measured on documents that the search has not seen, or says in the same
line that it has."""

import json
import re
from collections.abc import Callable

import pytest
from django.test import Client

from assurance.certifying.certificates import certify, read_requirements, what_changed
from assurance.improving.adopting import adopt
from assurance.improving.looking import look
from assurance.improving.work import request_search, work_on_search
from evaluations.corpus.locks.locking import unlock_documents
from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Change, Criterion, Judge, LockedDocuments, Look, Project
from evaluations.reports.report import build_report
from geval.reports.downloads.formats import as_metrics
from geval.reports.downloads.latex import as_latex
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_csv, as_markdown, as_text
from geval.reports.report import JudgeResult

pytestmark = pytest.mark.django_db(transaction=True)
SEEN = "seen by its search"


@pytest.fixture
def adopted(judge: Judge, criterion: Criterion, locked: LockedDocuments) -> Judge:
    """A panel, looked at once and used."""
    search = request_search(judge, criterion, [Change.PANEL])
    work_on_search(search.pk)
    candidate = search.candidates.get()
    look(candidate)
    made, run = adopt(candidate)
    work_on_run(run.pk, "tester")
    return made


def result_of(project: Project, judge: Judge) -> JudgeResult:
    results = build_report(project).criteria[0].judges
    return next(result for result in results if result.pk == judge.pk)


def line_with(text: str, label: str) -> list[str]:
    return [line for line in text.splitlines() if line.lstrip("| ").startswith(label)]


def test_a_report_says_in_the_same_line_that_its_search_has_seen_the_documents(
    adopted: Judge, rated_project: Project, locked: LockedDocuments
) -> None:
    report = build_report(rated_project)
    value = Look.objects.get().value
    seen = result_of(rated_project, adopted).seen
    training = 60 - len(locked.document_ids())

    assert seen is not None
    assert (seen.documents, seen.of) == (training, training)
    assert f"its look at {60 - training} locked ones gave rho {value:.2f}" in str(seen)
    for text in (as_text(report), as_markdown(report), as_latex(report)):
        lines = line_with(text, adopted.label)
        assert lines
        assert all(SEEN in line for line in lines)
    row = next(row for row in as_csv(report).splitlines() if f",{adopted.label}," in row)
    assert row.endswith(f",{training}")
    content = json.loads(as_json(report))["criteria"]["quality"]
    assert content["judges"][adopted.label]["seen_by_search"]["documents"] == training
    assert "seen_by_search" not in content["judges"]["today"]
    metrics = json.loads(as_metrics(report))
    assert metrics[f"{adopted.label}/quality/documents seen by its search"] == training


def test_other_judges_are_measured_without_a_word(
    adopted: Judge, judge: Judge, rated_project: Project
) -> None:
    assert result_of(rated_project, judge).seen is None


def test_a_later_version_of_it_is_made_by_the_search_as_well(
    adopted: Judge, rated_project: Project
) -> None:
    later = Judge.objects.get(pk=adopted.pk)
    later.pk, later.version = None, adopted.version + 1
    later.save()
    run = adopted.runs.get()
    run.scores.all().update(run=run)
    run.judge = later
    run.save(update_fields=["judge"])

    assert result_of(rated_project, later).seen


def test_a_judge_that_combines_it_with_others_has_seen_what_it_has(
    adopted: Judge, rated_project: Project, criterion: Criterion
) -> None:
    settings = {"judges": f"{adopted.name}, second"}
    draft = JudgeDraft(name="both", kind="ensemble", settings=settings)
    both = create_judge(rated_project, draft)[0]
    work_on_run(start_run(both, [criterion]).pk, "tester")

    seen = result_of(rated_project, both).seen
    made = certify(both, criterion, read_requirements(["spearman.summary.value>=0.1"]))

    assert seen is not None
    assert (seen.documents, seen.look) == (seen.of, "")
    assert made.outcome == "cannot say"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("report/disagreements/?judge={judge}", "Where {named} and people disagree on quality"),
        ("report/cell/{criterion}/{judge}/", "{named} on quality"),
        ("report/drawings/", "{named} and people: rho"),
        ("runs/{run}/", "quality (seen by its search)"),
        ("report/", "{named}"),
    ],
)
def test_every_page_with_its_numbers_names_it_so(
    adopted: Judge, criterion: Criterion, as_role: Callable[[str], Client], page: str, words: str
) -> None:
    run, named = adopted.runs.get().pk, f"{adopted.label} ({SEEN})"
    address = page.format(judge=adopted.pk, criterion=criterion.pk, run=run)

    shown = as_role("viewer").get(f"/p/small/{address}").content.decode()

    text = " ".join(re.sub(r"<[^>]+>", "", shown).split())
    assert words.format(named=named) in text


def test_no_certificate_is_met_over_training_documents(
    adopted: Judge, criterion: Criterion
) -> None:
    made = certify(adopted, criterion, read_requirements(["spearman.summary.value>=0.1"]))

    assert made.outcome == "cannot say"
    assert "its search has seen" in made.requirements[0]["reason"]


def test_after_the_opening_a_certificate_is_of_unseen_documents_alone(
    adopted: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    as_role: Callable[[str], Client],
) -> None:
    unlock_documents(locked)

    made = certify(adopted, criterion, read_requirements(["spearman.summary.value>=0.5"]))

    assert made.outcome == "met"
    assert made.content["unseen_documents"] == len(locked.document_ids())
    assert made.requirements[0]["value"] == pytest.approx(Look.objects.get().value)
    assert what_changed(made) == []
    page = as_role("viewer").get(made.get_absolute_url()).content.decode()
    assert "this judge has not seen" in page


def test_after_the_opening_the_report_counts_what_is_seen(
    adopted: Judge, rated_project: Project, locked: LockedDocuments
) -> None:
    unlock_documents(locked)

    seen = result_of(rated_project, adopted).seen

    assert seen is not None
    assert (seen.documents, seen.of) == (60 - len(locked.document_ids()), 60)
