"""Several criteria in one request to a decision model: one call for each output, whose cost the
criteria share; what is refused or missing fails alone."""

from typing import Any

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge, endpoint_at
from evaluations.judging.runs.estimate import estimate_run
from evaluations.judging.runs.lifecycle import resume_run
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Judge, ModelReply, Project, Transport
from tests.decision_server import decision_server

pytestmark = pytest.mark.django_db(transaction=True)
EVEN = [{"value": at, "label": "l", "probability": 0.2} for at in range(5)]
RATED = {"type": "score", "score": 2.0, "confidence": 0.2, "probabilities": EVEN}
REFUSED = {"type": "refusal"}


@pytest.fixture
def alike_project(small_project: Project) -> Project:
    """With two criteria that show the same texts; the usual fluency shows no source."""
    small_project.criteria.update(inputs="")
    return small_project


def decider(project: Project, base_url: str, name: str = "J", **settings: Any) -> Judge:
    draft = JudgeDraft(
        name=name, kind="decision", model="m", endpoint=endpoint_at(project, base_url),
        settings={"together": True} | settings, use_steps=False,
    )  # fmt: skip
    return create_judge(project, draft)[0]


def judged(judge: Judge, **request: Any) -> EvaluationRun:
    run = start_run(judge, list(judge.project.criteria.all()), RunRequest(**request))
    work_on_run(run.pk, "worker")
    run.refresh_from_db()
    return run


def values(run: EvaluationRun) -> dict[Any, float]:
    return {(score.output_id, score.criterion_id): score.value for score in run.scores.all()}


def rates_all(body: dict[str, Any]) -> Any:
    questions = body["questions"]
    if isinstance(questions, dict):
        shares = {str(at): 0.2 for at in range(5)}
        return {name: {"type": "score", "probabilities": shares} for name in questions}
    return [RATED | {"name": question["name"]} for question in questions]


@pytest.mark.parametrize("protocol", ["decisions", "systemone"])
def test_each_output_is_asked_about_once_and_every_item_has_its_score(
    alike_project: Project, protocol: str
) -> None:
    with decision_server(rates_all) as (base_url, asked):
        run = judged(decider(alike_project, base_url, protocol=protocol))

    outputs = run.items.values("output").distinct().count()
    assert (run.state, run.calls, len(asked)) == ("done", outputs, outputs)
    assert run.scores.count() == 2 * outputs
    assert run.prompt_tokens == 10 * outputs
    assert ModelReply.objects.count() == outputs
    assert all(len(body["questions"]) == 2 for body in asked)
    assert not run.items.filter(reply=None).exists()


def test_each_criterion_gets_the_score_that_it_gets_alone(
    alike_project: Project, start_standin: Any
) -> None:
    base_url = start_standin().base_url
    together = judged(decider(alike_project, base_url, "together"))
    alone = judged(decider(alike_project, base_url, "alone", together=False))

    assert values(together) == pytest.approx(values(alone))
    assert len(set(values(together).values())) > 2


@pytest.mark.parametrize("first", [True, False])
def test_a_refused_question_fails_alone_and_is_not_paid_for_twice(
    alike_project: Project, first: bool
) -> None:
    def refuse(body: dict[str, Any]) -> Any:
        answers = [REFUSED, RATED] if first else [RATED, REFUSED]
        return [
            each | {"name": question["name"]}
            for each, question in zip(answers, body["questions"], strict=True)
        ]

    with decision_server(refuse) as (base_url, asked):
        run = judged(decider(alike_project, base_url))

    outputs = run.items.values("output").distinct().count()
    assert len(asked) == run.calls == outputs
    failed = run.items.filter(state="failed")
    assert {*failed.values_list("reason", flat=True)} == {"refusal"}
    assert failed.count() == run.scores.count() == outputs


def test_an_answer_that_is_missing_fails_its_item_alone_and_says_so(
    alike_project: Project,
) -> None:
    def leave_out(body: dict[str, Any]) -> Any:
        return dict([*rates_all(body).items()][:1])

    with decision_server(leave_out) as (base_url, asked):
        run = judged(decider(alike_project, base_url, protocol="systemone"))

    outputs = run.items.values("output").distinct().count()
    assert len(asked) == outputs
    failed = run.items.filter(state="failed")
    assert failed.count() == run.scores.count() == outputs
    assert "other questions, but not this" in failed[0].detail


def test_who_retries_is_answered_anew(alike_project: Project) -> None:
    is_refusing = [True]

    def answer(body: dict[str, Any]) -> Any:
        second = REFUSED if is_refusing[0] else RATED
        names = [question["name"] for question in body["questions"]]
        return [RATED | {"name": names[0]}, second | {"name": names[1]}]

    with decision_server(answer) as (base_url, asked):
        run = judged(decider(alike_project, base_url))
        outputs = len(asked)
        is_refusing[0] = False
        assert resume_run(run, retry_failed=True)
        work_on_run(run.pk, "worker")

    assert len(asked) == 2 * outputs
    assert run.scores.count() == 2 * outputs


def test_what_another_run_was_answered_is_not_asked_again(alike_project: Project) -> None:
    with decision_server(rates_all) as (base_url, asked):
        judged(decider(alike_project, base_url))
        before = len(asked)
        again = judged(decider(alike_project, base_url, "another"))

    assert len(asked) == before
    assert again.scores.count() == 2 * before


def test_the_estimate_shares_the_calls(alike_project: Project) -> None:
    criteria = list(alike_project.criteria.all())
    judges = [
        decider(alike_project, "http://127.0.0.1:1/v1", f"{is_on}", together=is_on)
        for is_on in (True, False)
    ]

    together, alone = (
        estimate_run(judge, criteria, fresh=False, transport=Transport.LIVE) for judge in judges
    )

    assert together.items == alone.items == 2 * together.calls
    assert together.prompt_tokens < alone.prompt_tokens


def test_a_budget_sets_aside_the_call_about_all_criteria(alike_project: Project) -> None:
    with decision_server(rates_all) as (base_url, _asked):
        runs = []
        for is_on in (True, False):
            judge = decider(alike_project, base_url, f"{is_on}", together=is_on)
            Judge.objects.filter(pk=judge.pk).update(price_in=1, price_out=1)
            judge.refresh_from_db()
            runs.append(judged(judge, fresh=True))

    together, alone = (run.frozen.most_each for run in runs)
    assert together is not None
    assert alone is not None
    assert together > alone


def test_criteria_that_show_other_texts_are_asked_apart(small_project: Project) -> None:
    other = small_project.criteria.all()[1]
    other.inputs = "Summary:\n\n{{Summary}}"
    other.save()

    with decision_server(rates_all) as (base_url, asked):
        run = judged(decider(small_project, base_url))

    assert all(len(body["questions"]) == 1 for body in asked)
    assert run.scores.count() == len(asked) == run.items.count()
