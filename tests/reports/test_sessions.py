"""Turns of one session are not independent: intervals, tests and locked documents take whole
sessions."""

import itertools
import json
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from annotations.models import Rating
from evaluations.corpus.locks.locking import lock_documents
from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.lifecycle import lay_out_run
from evaluations.models import Document, EvaluationRun, Judge, Project, RunItem, RunState
from evaluations.reports.data import load_data
from evaluations.reports.report import build_report
from evaluations.reports.run_results import goal_progress, so_far
from geval.reports.options import ReportOptions
from geval.reports.so_far import KnownSoFar
from geval.statistics.arrays import Outputs
from geval.statistics.jackknife import correlation_interval

pytestmark = pytest.mark.django_db
SESSIONS, TURNS = 14, 6


def conversations(rng: np.random.Generator) -> dict[str, str]:
    """Files of sessions whose turns are alike, rated by one person and scored by one judge."""
    said = []
    ratings = ["doc_id,system_id,criterion,annotator,score"]
    scores = ["doc_id,system_id,criterion,judge,score"]
    for session in range(SESSIONS):
        turns = []
        for _ in range(TURNS):
            turns += [{"role": "user", "text": "Go on."}, {"role": "assistant", "text": "Yes."}]
        said.append(
            {"session_id": f"s{session}", "system_id": "bot", "turns": turns, "rate": "assistant"}
        )
        level = rng.normal(3, 1)
        for turn in range(TURNS):
            name = f"s{session}#{2 * turn + 2}"
            ratings.append(f"{name},bot,quality,ann,{np.clip(round(level), 1, 5)}")
            score = np.clip(level + rng.normal(0, 1), 1, 5)
            scores.append(f"{name},bot,quality,j,{score:.3f}")
    return {
        "said.jsonl": "\n".join(map(json.dumps, said)),
        "ratings.csv": "\n".join(ratings),
        "scores.csv": "\n".join(scores),
    }


@pytest.fixture
def sessions(project: Project, load: Callable[..., LoadResult]) -> Project:
    load(project, conversations(np.random.default_rng(1)))
    return project


def test_intervals_are_over_sessions_not_over_turns(sessions: Project) -> None:
    options = ReportOptions(level="dataset", coefficient="spearman")
    report = build_report(sessions, options=options)
    result = report.criteria[0].judges[0]
    data = load_data(sessions, list(sessions.judges.all()), list(sessions.criteria.all()))
    criterion = sessions.criteria.get().pk
    human, scores = data.humans[criterion].mean, data.judges[criterion, result.pk]

    order = [Document.objects.get(doc_id=name).session for name in data.doc_ids]
    number = np.unique(order, return_inverse=True)[1]
    by_session = Outputs(np.sort(number), np.zeros(len(number), int), SESSIONS, 1)
    expected = correlation_interval(
        by_session, human[np.argsort(number, kind="stable")],
        scores[np.argsort(number, kind="stable")], "spearman", "dataset", "documents",
    )  # fmt: skip
    as_if_independent = correlation_interval(
        data.outputs, human, scores, "spearman", "dataset", "documents"
    )
    assert result.analysis.shown.low == pytest.approx(expected.low)
    assert result.analysis.shown.high == pytest.approx(expected.high)
    assert result.analysis.shown.width > as_if_independent.width
    # The value itself is that of all turns at once.
    assert result.correlations.estimates["pearson"]["dataset"].value == pytest.approx(
        np.corrcoef(human, scores)[0, 1]
    )
    assert report.criteria[0].documents == SESSIONS


@pytest.fixture
def varied(sessions: Project) -> Project:
    """Turns of a session are rated differently, so that it has a rho."""
    for at, rating in enumerate(Rating.objects.order_by("pk")):
        Rating.objects.filter(pk=rating.pk).update(score=1 + at % 5)
    return sessions


def test_a_runs_page_and_the_report_have_the_same_rho_over_sessions(varied: Project) -> None:
    (result,) = build_report(varied).criteria[0].judges
    run = varied.runs.get()

    (found,) = so_far(run)

    assert found.spearman == result.correlations.estimates["spearman"]["summary"]
    assert found.spearman.value is not None
    known = KnownSoFar.of(found, found.by_document, found.weight)
    assert known is not None
    assert known.ends.count == result.correlations.documents_used <= SESSIONS


def test_a_session_counts_when_all_its_turns_are_judged(varied: Project) -> None:
    run = varied.runs.get()
    (found,) = so_far(run)
    used = int(np.isfinite(found.by_document).sum())
    all_of_it = goal_progress(run, found)
    # The last turn of a session that has a rho.
    place = int(np.flatnonzero(np.isfinite(found.by_document))[0])
    document = max(pk for pk, at in found.places.items() if at == place)
    output = Document.objects.get(pk=document).outputs.get()
    RunItem.objects.create(run=run, output=output, criterion=varied.criteria.get())

    without_one = goal_progress(run, found)

    assert all_of_it is not None
    assert without_one is not None
    assert (all_of_it.ends.count, without_one.ends.count) == (used, used - 1)


def _asked(project: Project, kind: str) -> list[str]:
    """The sessions of what a run asks about, in its order."""
    judge = Judge.objects.create(project=project, name="new", kind=kind)
    run = EvaluationRun.objects.create(project=project, judge=judge, state=RunState.PREPARING)
    lay_out_run(run.pk)
    items = run.items.order_by("pk")
    return list(items.values_list("output__document__session", flat=True))


def test_a_run_judges_the_turns_of_a_session_one_after_another(sessions: Project) -> None:
    asked = _asked(sessions, "chrf")

    changes = [b for a, b in itertools.pairwise(asked) if a != b]
    assert len(changes) == SESSIONS - 1


def test_session_level_is_over_the_means_of_sessions(sessions: Project) -> None:
    report = build_report(sessions, options=ReportOptions(level="session", coefficient="spearman"))
    result = report.criteria[0].judges[0]
    data = load_data(sessions, list(sessions.judges.all()), list(sessions.criteria.all()))
    criterion = sessions.criteria.get().pk
    sides = (data.humans[criterion].mean, data.judges[criterion, result.pk])
    means = [
        [np.mean(side[np.array(data.sessions) == name]) for name in dict.fromkeys(data.sessions)]
        for side in sides
    ]

    expected = stats.spearmanr(*means)[0]
    assert result.shown(report.options).value == pytest.approx(expected)
    assert result.analysis.shown.low < expected < result.analysis.shown.high


def test_sessions_are_locked_whole_and_keep_apart_in_filters(sessions: Project) -> None:
    locked = lock_documents(sessions, share=0.4, seed="fixed")
    held = set(locked.document_ids())
    by_session: dict[str, set[bool]] = {}
    for document in sessions.documents.all():
        by_session.setdefault(document.session, set()).add(document.pk in held)

    assert 0 < len(held) < SESSIONS * TURNS
    assert all(len(found) == 1 for found in by_session.values())


def test_turns_of_a_session_that_came_in_several_files_are_taken_together(
    sessions: Project, load: Callable[..., LoadResult]
) -> None:
    more = {"doc_id": "late", "session_id": "s0", "system_id": "bot", "source": "a", "output": "b"}
    load(sessions, {"more.jsonl": json.dumps(more)})
    data = load_data(sessions, [], [])

    assert data.units.documents == SESSIONS
    assert (np.diff(data.units.document) >= 0).all()
    assert data.doc_ids[TURNS] == "late"
