"""ROUGE, BLEU, chrF and METEOR as runs: on processes of their own, with what cannot be scored
failed by name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.lifecycle import RunError, pause_run, resume_run
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ItemState, Project, RunState

pytestmark = pytest.mark.django_db(transaction=True)
Load = Callable[..., object]
REFERENCED = "\n".join(
    f'{{"doc_id": "d{d}", "system_id": "{system}", "source": "source {d}", "output": "{output}", '
    f'"references": ["the ferry sails at {d}", "a ferry leaves at {d}"]}}'
    for d in (1, 2, 3)
    for system, output in (("same", f"the ferry sails at {d}"), ("other", "cats sleep all day"))
)


def computed(project: Project, kind: str, **settings: object) -> EvaluationRun:
    judge, _ = create_judge(
        project, JudgeDraft(name=f"{kind} {settings}", kind=kind, settings=settings)
    )
    return worked_on(start_run(judge, list(project.criteria.all())))


def worked_on(run: EvaluationRun) -> EvaluationRun:
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run


def by_system(run: EvaluationRun) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for score in run.scores.select_related("output__system").order_by("output"):
        found.setdefault(score.output.system.name, []).append(round(score.value, 4))
    return found


@pytest.fixture
def referenced(project: Project, load: Load) -> Project:
    load(project, {"outputs.jsonl": REFERENCED})
    return project


@pytest.mark.parametrize(
    ("kind", "settings", "same"),
    [
        ("rouge", {"variant": "rouge1"}, 1.0),
        ("rouge", {"variant": "rougeL", "measure": "recall"}, 1.0),
        ("bleu", {}, 100.0),
        ("chrf", {}, 100.0),
        # 5 matches in one chunk: 1 - 0.5 * (1 / 5) ** 3 = 0.996
        ("meteor", {"synonyms": False}, 0.996),
    ],
)
def test_an_output_equal_to_a_reference_gets_the_best_score_and_another_a_low_one(
    referenced: Project, kind: str, settings: dict[str, object], same: float
) -> None:
    run = computed(referenced, kind, **settings)

    scores = by_system(run)
    assert run.state == RunState.DONE
    assert scores["same"] == [same] * 3
    assert all(score < 0.2 * same for score in scores["other"])
    assert set(run.scores.values_list("criterion", "coverage", "entropy", "distribution")) == {
        (None, None, None, None)
    }


def test_a_corpus_without_references_is_refused_before_it_starts(small_project: Project) -> None:
    judge, _ = create_judge(small_project, JudgeDraft(name="BLEU", kind="bleu"))

    with pytest.raises(
        RunError, match="BLEU needs the references of a document, and no document of this project"
    ):
        start_run(judge, [])


@pytest.mark.slow
def test_a_paused_run_stores_what_was_done_and_resumes_from_there(
    project: Project, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        f'{{"doc_id": "d{d}", "system_id": "s", "source": "x", "output": "ferry {d}", "references":'
        f' ["ferry {d}"]}}'
        for d in range(60)
    )
    load(project, {"outputs.jsonl": "\n".join(rows)})
    monkeypatch.setattr("geval.evaluators.chrf.Chrf.chunk", 2)
    monkeypatch.setattr("evaluations.judging.runs.local.LOOK_SECONDS", 0.001)
    judge, _ = create_judge(project, JudgeDraft(name="chrF", kind="chrf"))
    run = start_run(judge, [])

    def paused_after_a_while() -> bool:
        if run.scores.count() >= 10:
            pause_run(run.pk, "Paused by somebody.")
        return False

    work_on_run(run.pk, "tester", shift=Shift(stop_requested=paused_after_a_while))
    run.refresh_from_db()
    done = run.scores.count()
    assert run.state == RunState.PAUSED
    assert 10 <= done < 60
    assert run.items.filter(state=ItemState.LEASED).count() == 0

    resume_run(run)
    work_on_run(run.pk, "tester")
    assert run.scores.count() == 60
    assert EvaluationRun.objects.get(pk=run.pk).state == RunState.DONE


def test_meteor_without_wordnet_pauses_and_says_what_to_run(
    referenced: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))

    run = computed(referenced, "meteor")

    assert run.state == RunState.PAUSED
    assert "python -m nltk.downloader wordnet" in run.message
    assert run.items.filter(state=ItemState.PENDING).count() == 6
