"""`geval.evaluate` asks decision models, and for replies in JSON, by the evaluators of a site."""

from collections.abc import Callable
from typing import Any

import pytest

import geval
from tests.decision_server import decision_server
from tests.evaluating.conftest import Evaluate, table
from tests.processes import StandInProcess

PROTOCOLS = ["decisions", "systemone"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_decision_model_gives_the_probabilities_of_points(
    evaluate: Evaluate, protocol: str
) -> None:
    result = evaluate(table(), kind="decision", protocol=protocol)

    assert (result.kind, result.mode, result.steps) == ("decision", "", "")
    assert "12 of 12 outputs on coherence (1-5, decision" in str(result)
    score = result.scores[0]
    assert set(score.distribution) == {1, 2, 3, 4, 5}
    weighted = sum(point * share for point, share in score.distribution.items())
    assert score.score == pytest.approx(weighted)
    assert (score.coverage is None) == (protocol != "systemone")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_a_decision_model_answered_is_kept(
    evaluate: Evaluate, standin: StandInProcess, protocol: str
) -> None:
    first = evaluate(table(), kind="decision", protocol=protocol)
    calls = standin.stats["calls"]

    second = evaluate(table(), kind="decision", protocol=protocol)

    assert standin.stats["calls"] == calls
    assert second.scores == first.scores
    assert (second.usage.calls, second.usage.reused) == (0, 12)


def test_a_conversation_reaches_a_decision_model_as_messages(evaluate: Evaluate) -> None:
    def answer(body: dict[str, object]) -> list[dict[str, object]]:
        shares = [{"value": at, "probability": 0.2} for at in range(5)]
        return [{"type": "score", "probabilities": shares} for _ in body["questions"]]  # type: ignore[attr-defined]

    turns = [
        {"role": "user", "content": "When does it sail?"},
        {"role": "assistant", "content": "At nine."},
    ]
    with decision_server(answer) as (base_url, asked):
        result = evaluate(
            [{"messages": turns}], kind="decision", base_url=base_url,
        )  # fmt: skip

    assert result.scores[0].score == pytest.approx(3)
    assert asked[0]["input"] == turns


def test_a_decision_that_is_declined_is_a_failure_and_asked_again(evaluate: Evaluate) -> None:
    declined = [{"type": "refusal", "refusal": "no"}]
    with decision_server(lambda _body: declined) as (base_url, asked):
        first = evaluate(table(2), kind="decision", base_url=base_url)
        evaluate(table(2), kind="decision", base_url=base_url)

    assert {each.reason for each in first.failures} == {"refusal"}
    assert (len(first.failures), len(asked)) == (2, 4)


def test_a_scale_of_more_points_than_levels_is_refused_with_the_reason(evaluate: Evaluate) -> None:
    with pytest.raises(geval.EvaluationError, match="at most 10 levels"):
        evaluate(table(2), kind="decision", scale=(0, 100))


@pytest.mark.parametrize("form", ["rating", "reason"])
@pytest.mark.parametrize("mode", ["logprobs", "samples"])
def test_replies_can_be_json_by_a_schema_of_the_scale(
    evaluate: Evaluate, form: str, mode: str
) -> None:
    result = evaluate(table(4), reply_form=form, mode=mode, samples=4, max_tokens=200)

    assert [each.reason for each in result.failures] == []
    again = evaluate(table(4), reply_form=form, mode=mode, samples=4, max_tokens=200)
    assert (again.usage.calls, again.scores) == (0, result.scores)


def test_a_schema_that_an_endpoint_does_not_follow_is_refused(
    evaluate: Evaluate, start_standin: Callable[..., StandInProcess]
) -> None:
    careless = start_standin("--ignores-schema").base_url

    with pytest.raises(geval.EvaluationError, match="not found to follow a JSON schema"):
        evaluate(table(2), reply_form="rating", base_url=careless)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_decision_model_can_answer_not_applicable(evaluate: Evaluate, protocol: str) -> None:
    def answer(body: dict[str, Any]) -> Any:
        shares = {"0": 0.1, "1": 0.2, "n/a": 0.7}
        if protocol == "systemone":
            return {"rating": {"type": "choice", "probabilities": shares}}
        listed = [{"value": name, "probability": share} for name, share in shares.items()]
        return [{"type": "choice", "probabilities": listed} for _ in body["questions"]]

    with decision_server(answer) as (base_url, _asked):
        result = evaluate(
            table(2), kind="decision", protocol=protocol, base_url=base_url, scale=(0, 1),
            allows_not_applicable=True,
        )  # fmt: skip

    assert not result.failures
    assert [each.score for each in result.scores] == [None, None]
    assert [each.not_applicable for each in result.scores] == pytest.approx([0.7, 0.7])
