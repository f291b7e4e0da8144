"""ROUGE, BLEU, chrF and METEOR as runs: on processes of their own, with what cannot be scored
failed by name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.lifecycle import RunError, pause_run, resume_run
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, ItemState, Judge, Project, RunState, Score

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


@pytest.mark.slow
def test_the_mean_over_references_is_a_setting(referenced: Project) -> None:
    best = by_system(computed(referenced, "rouge", variant="rouge1"))["same"]
    mean = by_system(computed(referenced, "rouge", variant="rouge1", references="mean"))["same"]

    # The second reference shares "ferry", "at" and the number: 3 of 5 words on either side.
    assert best == [1.0] * 3
    assert mean == [0.8] * 3


@pytest.mark.slow
def test_a_second_run_has_nothing_to_do_unless_it_is_to_be_fresh(referenced: Project) -> None:
    first = computed(referenced, "chrf")

    assert worked_on(start_run(first.judge, [])).items.count() == 0
    assert worked_on(start_run(first.judge, [], RunRequest(fresh=True))).items.count() == 6


@pytest.mark.slow
def test_a_missing_reference_fails_by_name_and_costs_the_others_nothing(
    project: Project, load: Load
) -> None:
    rows = [
        '{"doc_id": "d2", "system_id": "s", "source": "x", "output": "text"}',
        (
            '{"doc_id": "d3", "system_id": "s", "source": "x", "output": "text", "references":'
            ' ["text"]}'
        ),
    ]
    load(project, {"outputs.jsonl": "\n".join(rows)})

    run = computed(project, "rouge")

    failed = dict(
        run.items.filter(state=ItemState.FAILED).values_list("output__document__doc_id", "reason")
    )
    assert failed == {"d2": "no_text"}
    assert "ROUGE needs the references" in run.items.get(reason="no_text").detail
    assert [score.value for score in run.scores.all()] == [1.0]


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


@pytest.mark.slow
@pytest.mark.processes
def test_a_celery_worker_computes_in_processes_of_its_own(
    referenced: Project, start_worker: Callable[[], object]
) -> None:
    from tests.conftest import wait_until

    start_worker()
    judge, _ = create_judge(referenced, JudgeDraft(name="chrF", kind="chrf"))
    run = start_run(judge, [])

    wait_until(lambda: EvaluationRun.objects.get(pk=run.pk).state == RunState.DONE)
    assert Score.objects.filter(run=run).count() == 6


def test_settings_that_an_evaluator_does_not_take_are_refused_with_what_it_takes(
    project: Project,
) -> None:
    from django.core.exceptions import ValidationError

    with pytest.raises(ValidationError) as refused:
        create_judge(
            project,
            JudgeDraft(name="R", kind="rouge", settings={"variant": "rouge9", "colour": "red"}),
        )

    messages = refused.value.message_dict
    assert "rougeL" in messages["variant"][0]
    assert messages["colour"] == [
        "ROUGE has no such setting (there are: references, variant, measure, stem)."
    ]


@pytest.mark.slow
def test_changing_a_used_judge_makes_a_version_and_its_scores_stay_apart(
    referenced: Project,
) -> None:
    from evaluations.judging.judges.judges import change_judge

    run = computed(referenced, "rouge", variant="rouge1")

    changed = change_judge(
        run.judge, JudgeDraft(name=run.judge.name, kind="rouge", settings={"variant": "rouge2"})
    )

    assert changed.version == 2
    assert Judge.objects.get(pk=run.judge_id).retired_at is not None
    assert worked_on(start_run(changed, [])).items.count() == 6


def test_meteor_without_wordnet_pauses_and_says_what_to_run(
    referenced: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NLTK_DATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))

    run = computed(referenced, "meteor")

    assert run.state == RunState.PAUSED
    assert "python -m nltk.downloader wordnet" in run.message
    assert run.items.filter(state=ItemState.PENDING).count() == 6
