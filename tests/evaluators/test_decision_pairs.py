"""Two outputs compared by a decision model: a choice of A, B or a tie, in both orders, whose
probabilities are averaged."""

from collections.abc import Callable
from typing import Any

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, PairScore, Project, RunState
from geval.evaluators.base import Item
from geval.evaluators.decision_pairs import DecisionPairs
from geval.evaluators.pairwise import JudgedPair
from geval.llm.calls import Answer
from geval.llm.decisions import DecisionRequest, TypedQuestion, reply_text
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import PromptParts
from geval.llm.replies import ReplyChoice
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Preferred
from geval.statistics.scales import Scale

PARTS = PromptParts("clarity", Scale(1, 5), definition="how clear it is")
SETTINGS = RequestSettings("m", "direct", min_coverage=0.5)
PROTOCOLS = ["decisions", "systemone"]


def asked(**settings: Any) -> tuple[DecisionPairs, JudgedPair, tuple[DecisionRequest, ...]]:
    judge = DecisionPairs(settings)
    item = Item(Texts("src", "one", rival="two"), "clarity", judge.template(PARTS))
    question = judge.question(item, PARTS.scale, SETTINGS)
    assert isinstance(question, JudgedPair)
    return judge, question, judge.requests(question, SETTINGS)  # type: ignore[return-value]


def answered(question: TypedQuestion, *shares: float, **more: Any) -> Answer:
    names = [name for name, _words in question.choices]
    answer = {"type": "choice", "probabilities": dict(zip(names, shares, strict=True))} | more
    choice = ReplyChoice(reply_text({"rating": answer}, [question], "systemone"))
    return Answer((choice,), "m", "", 0, 0, calls=1, seconds=0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_both_orders_are_asked_with_a_choice_of_a_b_and_a_tie(protocol: str) -> None:
    _judge, _question, (first, second) = asked(protocol=protocol)

    assert "Text A:\n\none\n\n\nText B:\n\ntwo" in first.text
    assert "Text A:\n\ntwo\n\n\nText B:\n\none" in second.text
    (question,) = first.questions
    assert [name for name, _words in question.choices] == ["A", "B", "tie"]
    assert "how clear it is" in question.instructions
    assert "src" not in question.instructions
    assert second.questions == first.questions


def test_the_distribution_is_averaged_over_both_orders() -> None:
    judge, question, (request, _) = asked(protocol="systemone")
    answers = [
        answered(request.questions[0], 0.7, 0.1, 0.2, label_mass=0.8),
        answered(request.questions[0], 0.5, 0.1, 0.4, label_mass=0.6),
    ]

    outcome = judge.score_again(answers, question, SETTINGS)

    # 0.7 + 0.2 / 2 = 0.8 for the first in its order, 0.1 + 0.4 / 2 = 0.3 in the other.
    assert isinstance(outcome, Preferred)
    assert outcome.value == pytest.approx((0.8 + 0.3) / 2)
    assert outcome.distribution == pytest.approx({1.0: 0.4, 0.5: 0.3, 0.0: 0.3})
    assert outcome.left == pytest.approx((0.8 + 0.7) / 2)
    assert outcome.coverage == pytest.approx(0.7)


def test_a_server_that_states_no_mass_leaves_the_coverage_unknown() -> None:
    judge, question, (request,) = asked(both_orders=False, ties=False)

    outcome = judge.score_again([answered(request.questions[0], 0.9, 0.1)], question, SETTINGS)

    assert isinstance(outcome, Preferred)
    assert outcome.value == pytest.approx(0.9)
    assert (outcome.coverage, outcome.left) == (None, None)


def test_low_mass_of_one_order_is_a_failure() -> None:
    judge, question, (request, _) = asked()
    good, low = (answered(request.questions[0], 1, 0, 0, label_mass=mass) for mass in (0.9, 0.4))

    outcome = judge.score_again([good, low], question, SETTINGS)

    assert isinstance(outcome, Failure)
    assert outcome.reason == Reason.LOW_COVERAGE


def compared(project: Project, base_url: str, **settings: Any) -> EvaluationRun:
    endpoint, _ = project.endpoints.get_or_create(name=base_url, base_url=base_url)
    draft = JudgeDraft(
        f"pairs {settings}", endpoint=endpoint, model="m", kind="decision_pairs",
        settings={"pairs": "all"} | settings,
    )  # fmt: skip
    run = start_run(create_judge(project, draft)[0], list(project.criteria.all()))
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run


@pytest.mark.django_db(transaction=True)
def test_a_run_on_either_protocol_gives_the_same_preferences(
    small_project: Project, start_standin: Callable[..., Any]
) -> None:
    base_url = start_standin().base_url
    runs = [compared(small_project, base_url, protocol=each) for each in PROTOCOLS]

    values = []
    for run in runs:
        pairs = list(PairScore.objects.filter(run=run).order_by("output", "criterion"))
        assert (run.state, len(pairs), run.calls) == (RunState.DONE, 6, 12)
        # The stand-in leans to the text shown first, and states a mass on one protocol alone.
        assert all((pair.left or 0) > 0.5 for pair in pairs)
        values.append([pair.value for pair in pairs])
    assert values[0] == pytest.approx(values[1])
    assert len({round(value, 6) for value in values[0]}) > 2
