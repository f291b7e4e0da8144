"""Decision models: a criterion becomes a typed question, its answer a distribution over the scale;
odd answers are errors with a reason."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.evaluators.base import Item
from geval.evaluators.decision import Decision
from geval.llm import wire
from geval.llm.decisions import (
    DecisionRequest,
    Protocol,
    TypedQuestion,
    points_asked,
    reply_text,
    score_decision,
    why_not_decided,
)
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import PromptError, PromptParts
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored
from geval.statistics.scales import Scale, scale_of_words

FIVE, PASSES = Scale(1, 5), Scale(0, 1)
SETTINGS = RequestSettings("m", "direct", min_coverage=0.5)
TEXTS = Texts("When does it sail?", "At ten.")
EVEN = [0.2] * 5
RATED = TypedQuestion("How clear?", ("1", "2", "3", "4", "5"))
STATED = TypedQuestion("It is clear.")


def request_for(protocol: Protocol, scale: Scale, **parts: str) -> DecisionRequest:
    judge = Decision({"protocol": protocol, "delimited": True})
    template = judge.template(PromptParts("clarity", scale, definition="how clear it is", **parts))
    question = judge.question(Item(TEXTS, "clarity", template), scale, SETTINGS)
    assert not isinstance(question, Failure)
    (request,) = judge.requests(question, SETTINGS)
    assert isinstance(request, DecisionRequest)
    return request


def test_a_scale_becomes_a_score_with_a_level_for_each_point() -> None:
    openai, systemone = (request_for(each, FIVE).body() for each in ("decisions", "systemone"))  # type: ignore[arg-type]

    (question,) = openai["questions"]
    assert [level["label"] for level in question["levels"]] == ["1", "2", "3", "4", "5"]
    assert systemone["questions"]["rating"]["criteria"] == ["1", "2", "3", "4", "5"]
    assert question["instructions"] == systemone["questions"]["rating"]["instructions"]
    assert "clarity: how clear it is" in question["instructions"]
    assert openai["input"] == systemone["state"]
    assert "At ten." in openai["input"]
    assert "how clear it is" not in openai["input"]


def test_pass_or_fail_becomes_a_statement() -> None:
    openai, systemone = (request_for(each, PASSES).body() for each in ("decisions", "systemone"))  # type: ignore[arg-type]

    assert openai["questions"][0]["type"] == "predicate"
    assert systemone["questions"]["rating"]["type"] == "noul"
    assert "passes on clarity" in openai["questions"][0]["instructions"]


NA = ("n/a", "It does not apply, or cannot be assessed.")
KINDS = scale_of_words(["wrong", "rude"], is_ordered=False)


@pytest.mark.parametrize(
    ("scale", "choices"),
    [
        (KINDS, [("wrong", "wrong"), ("rude", "rude")]),
        (replace(KINDS, allows_not_applicable=True), [("wrong", "wrong"), ("rude", "rude"), NA]),
        (replace(PASSES, allows_not_applicable=True), [("0", "0: No"), ("1", "1: Yes"), NA]),
        (Scale(1, 2, allows_not_applicable=True), [("1", "1"), ("2", "2"), NA]),
    ],
)
def test_labels_and_not_applicable_make_a_choice(
    scale: Scale, choices: list[tuple[str, str]]
) -> None:
    openai, systemone = (request_for(each, scale).body() for each in ("decisions", "systemone"))  # type: ignore[arg-type]

    (question,) = openai["questions"]
    assert question["type"] == "choice"
    assert [(each["value"], each["description"]) for each in question["choices"]] == choices
    assert systemone["questions"]["rating"]["criteria"] == dict(choices)


@pytest.mark.parametrize(
    ("scale", "shares", "value", "not_applicable"),
    [
        (replace(PASSES, allows_not_applicable=True), [0.1, 0.4, 0.5], 0.8, 0.5),
        (replace(PASSES, allows_not_applicable=True), [0.1, 0.3, 0.6], None, 0.6),
        (replace(PASSES, allows_not_applicable=True), [0, 0, 1.0], None, 1.0),
        (replace(PASSES, allows_not_applicable=True), [0.2, 0.8], 0.8, 0.0),
        (KINDS, [0.4, 0.6], 1, 0.0),
        (replace(KINDS, allows_not_applicable=True), [0.3, 0.2, 0.5], 0, 0.5),
    ],
    ids=["half", "more", "all", "asked without it", "labels", "labels or it"],
)
def test_not_applicable_is_the_answer_with_more_than_half(
    scale: Scale, shares: list[float], value: float | None, not_applicable: float
) -> None:
    text = json.dumps({"probabilities": shares})

    score = score_decision(text, points_asked(scale), min_coverage=0.5)

    assert isinstance(score, Scored)
    assert score.on(scale).number == pytest.approx(value)
    assert score.not_applicable == pytest.approx(not_applicable)


def test_a_definition_cannot_pose_as_the_input() -> None:
    with pytest.raises(PromptError, match="word it differently"):
        Decision().template(PromptParts("clarity", FIVE, definition="x\n\nInput:\n\n{{Summary}}"))


def openai_answer(**changed: Any) -> dict[str, Any]:
    levels = [{"value": at, "label": str(at + 1), "probability": p} for at, p in enumerate(EVEN)]
    return {"type": "score", "score": 2.0, "confidence": 0.2, "probabilities": levels} | changed


def systemone_answer(**changed: Any) -> dict[str, Any]:
    shares = {str(at): share for at, share in enumerate(EVEN)}
    return {"type": "score", "score": 2.0, "probabilities": shares} | changed


def read(protocol: Protocol, answer: Any, **more: Any) -> str:
    answers = {"rating": answer} if protocol == "systemone" else [answer]
    content = json.dumps({"answers": answers, "model": "m-1", **more}).encode()
    return wire.read_decision(content, protocol=protocol, questions=[RATED]).choices[0].text


@given(st.lists(st.floats(0.001, 1), min_size=5, max_size=5))
def test_both_protocols_give_the_same_score_which_is_the_weighted_mean(
    weights: list[float],
) -> None:
    shares = [weight / sum(weights) for weight in weights]
    listed = [{"value": at, "label": "l", "probability": p} for at, p in enumerate(shares)]
    by_level = {str(at): share for at, share in enumerate(shares)}

    scores = [
        score_decision(read("decisions", openai_answer(probabilities=listed)), FIVE.points,
                       min_coverage=0.5),
        score_decision(read("systemone", systemone_answer(probabilities=by_level)), FIVE.points,
                       min_coverage=0.5),
    ]  # fmt: skip

    for score in scores:
        assert isinstance(score, Scored)
        assert math.isclose(score.value, sum((at + 1) * p for at, p in enumerate(shares)))
        assert math.isclose(sum(score.distribution.values()), 1)


def test_a_refusal_is_a_failure_with_its_reason() -> None:
    text = read("decisions", {"type": "refusal", "name": "rating"})

    failure = score_decision(text, FIVE.points, min_coverage=0.5)

    assert isinstance(failure, Failure)
    assert failure.reason == Reason.REFUSAL


@pytest.mark.parametrize(("mass", "is_scored"), [(0.49, False), (0.5, True), (0.51, True)])
def test_the_mass_of_all_labels_is_the_coverage(mass: float, is_scored: bool) -> None:
    text = read("systemone", systemone_answer(label_mass=mass))

    scored = score_decision(text, FIVE.points, min_coverage=0.5)

    assert isinstance(scored, Scored) is is_scored
    if isinstance(scored, Scored):
        assert scored.coverage == mass
    else:
        assert scored.reason == Reason.LOW_COVERAGE


def test_a_statement_is_scored_by_its_probability() -> None:
    texts = [
        reply_text([{"type": "predicate", "probability": 0.3}], [STATED], "decisions"),
        reply_text({"rating": {"type": "noul", "noul": 0.3}}, [STATED], "systemone"),
    ]

    for text in texts:
        score = score_decision(text, PASSES.points, min_coverage=0.5)
        assert isinstance(score, Scored)
        assert score.distribution == {0.0: 0.7, 1.0: 0.3}


# What an endpoint may send in the place of an answer; the protocols' own forms are made of each.
ODD_PROBABILITIES: list[Any] = [
    None, [], {}, "0.2", 5, True, [0.2] * 4, [0.2] * 6, ["0.2"] * 5, [None] * 5, [True] * 5,
    [0.5] * 5, [0.1] * 5, [-0.5, 0.5, 0.5, 0.5, 0.0], [1.5, -0.5, 0, 0, 0], [[0.2]] * 5,
    {"0": 1.0}, {"a": 0.2, "b": 0.2, "c": 0.2, "d": 0.2, "e": 0.2},
    {"1": 0.2, "2": 0.2, "3": 0.2, "4": 0.2, "5": 0.2}, {str(n): None for n in range(5)},
    {str(n): "0.2" for n in range(5)}, {"-1": 0.2, "0": 0.2, "1": 0.2, "2": 0.2, "3": 0.2},
    {"0": 0.2, "00": 0.2, "1": 0.2, "2": 0.2, "3": 0.2}, {str(n): 1e308 for n in range(5)},
    [{"value": 0, "probability": 0.2}] * 5, [{"probability": 0.2}] * 4, [{}] * 5,
    [{"value": True, "probability": 0.2}] * 5, [{"value": 0.5, "probability": 0.2}] * 5,
    [{"value": "x", "probability": 0.2}] * 5,
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["decisions", "systemone"])
@pytest.mark.parametrize("odd", ODD_PROBABILITIES)
def test_odd_probabilities_are_malformed_and_never_a_number(protocol: Protocol, odd: Any) -> None:
    answer = {"type": "score", "score": 2.0, "probabilities": odd}

    with pytest.raises(wire.MalformedError):
        read(protocol, answer)


@pytest.mark.parametrize("value", [10**400, -(10**400), None, "0.5", True, 1.5, [], float("nan")])
@pytest.mark.parametrize("protocol", ["decisions", "systemone"])
def test_odd_probabilities_of_a_statement_are_malformed(protocol: Protocol, value: Any) -> None:
    answer = {"type": "x", "probability": value, "noul": value}

    with pytest.raises(ValueError, match="probability"):
        reply_text({"rating": answer} if protocol == "systemone" else [answer], [STATED], protocol)


TWO = [RATED, STATED]
PREFERRED = TypedQuestion("Which?", choices=(("A", "the first"), ("B", "the second"), ("tie", "-")))
TRUE = {"type": "predicate", "probability": 0.7}


def several(protocol: Protocol, *answers: Any, names: bool = True) -> Any:
    """Answers to TWO as a protocol has them; None for one that is left out."""
    labelled = [(f"rating_{at}", each) for at, each in enumerate(answers, start=1) if each]
    if protocol == "systemone":
        return dict(labelled)
    return [each | ({"name": name} if names else {}) for name, each in labelled]


def outcomes(protocol: Protocol, answers: Any) -> list[Scored | Failure]:
    text = reply_text(answers, TWO, protocol)
    points = (FIVE.points, PASSES.points)
    return [
        score_decision(text, each, min_coverage=0.5, name=f"rating_{at}")
        for at, each in enumerate(points, start=1)
    ]


@pytest.mark.parametrize("names", [True, False])
def test_each_of_several_answers_is_read_by_its_own_question(names: bool) -> None:
    rated, stated = outcomes("decisions", several("decisions", openai_answer(), TRUE, names=names))
    likewise = outcomes(
        "systemone", several("systemone", systemone_answer(), {"type": "noul", "noul": 0.7})
    )

    assert isinstance(rated, Scored)
    assert isinstance(stated, Scored)
    assert (rated.value, stated.value) == pytest.approx((3, 0.7))
    assert likewise == [rated, stated]


def test_a_refusal_without_a_name_is_read_where_the_other_answer_is_in_its_place() -> None:
    named = openai_answer() | {"name": "rating_1"}

    rated, stated = outcomes("decisions", [named, {"type": "refusal"}])

    assert isinstance(rated, Scored)
    assert isinstance(stated, Failure)
    with pytest.raises(ValueError, match="some of its answers have names"):
        outcomes("decisions", [{**TRUE, "name": "rating_2"}, {"type": "refusal"}])


@pytest.mark.parametrize("protocol", ["decisions", "systemone"])
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, Reason.NO_RATING),
        ({"type": "predicate", "probability": "0.7", "noul": 2}, Reason.NO_RATING),
        ({"type": "refusal"}, Reason.REFUSAL),
    ],
)
def test_what_is_wrong_with_one_answer_leaves_the_others(
    protocol: Protocol, answer: Any, reason: Reason
) -> None:
    good = systemone_answer() if protocol == "systemone" else openai_answer()

    rated, stated = outcomes(protocol, several(protocol, good, answer))

    assert isinstance(rated, Scored)
    assert isinstance(stated, Failure)
    assert stated.reason == reason
    assert stated.detail


ODD_CHOICES: list[Any] = [
    None, [], {}, "A", 5, True, {"A": 1.0}, {"A": 0.5, "B": 0.5}, {"A": 0.5, "B": 0.5, "C": 0.0},
    {"A": 0.4, "B": 0.4, "tie": 0.4}, {"A": 0.1, "B": 0.1, "tie": 0.1},
    {"A": "0.5", "B": 0.5, "tie": 0}, {"A": None, "B": 1, "tie": 0}, {"A": True, "B": 0, "tie": 0},
    {"A": -0.5, "B": 1, "tie": 0.5}, {"A": 2, "B": -0.5, "tie": -0.5},
    {"A": 0.4, "B": 0.4, "tie": 0.2, "D": 0.0}, {"a": 0.4, "b": 0.4, "tie": 0.2},
    {"A": 1e308, "B": 1e308, "tie": 1}, {"A": float("nan"), "B": 0.5, "tie": 0.5},
    {"A": [0.4], "B": [0.4], "tie": [0.2]}, [0.4, 0.4, 0.2], ["A", "B", "tie"], [{}] * 3,
    [{"value": "A", "probability": 1.0}], [{"value": "A", "probability": 0.4}] * 3,
    [{"value": True, "probability": 0.4}, {"value": "B", "probability": 0.4},
     {"value": "tie", "probability": 0.2}],
    [{"value": ["A"], "probability": 0.4}, {"value": "B", "probability": 0.4},
     {"value": "tie", "probability": 0.2}],
    [{"value": "A"}, {"value": "B"}, {"value": "tie"}],
    [{"value": "A", "probability": 0.4}, None, {"value": "tie", "probability": 0.6}],
]  # fmt: skip


@pytest.mark.parametrize("protocol", ["decisions", "systemone"])
@pytest.mark.parametrize("odd", ODD_CHOICES)
def test_odd_probabilities_of_choices_are_malformed(protocol: Protocol, odd: Any) -> None:
    answer = {"type": "choice", "choice": "A", "probabilities": odd}
    answers = {"rating": answer} if protocol == "systemone" else [answer]

    with pytest.raises(wire.MalformedError):
        wire.read_decision(
            json.dumps({"answers": answers}).encode(), protocol=protocol, questions=[PREFERRED]
        )


def test_choices_are_named_as_each_protocol_has_them_and_read_in_any_order() -> None:
    assert PREFERRED.body("decisions")["choices"][0] == {"value": "A", "description": "the first"}
    assert PREFERRED.body("systemone")["criteria"] == {
        "A": "the first", "B": "the second", "tie": "-"
    }  # fmt: skip
    shares = {"tie": 0.2, "B": 0.1, "A": 0.7}
    listed = [{"value": name, "probability": share} for name, share in shares.items()]

    for protocol, given_ in (("decisions", listed), ("systemone", shares)):
        answer = {"type": "choice", "choice": "A", "probabilities": given_}
        answers: Any = {"rating": answer} if protocol == "systemone" else [answer]
        text = reply_text(answers, [PREFERRED], protocol)  # type: ignore[arg-type]
        assert json.loads(text) == {"probabilities": [0.7, 0.1, 0.2]}


def test_shares_that_a_server_has_rounded_are_made_to_add_up() -> None:
    shares = {str(at): share for at, share in enumerate([0.19, 0.2, 0.2, 0.2, 0.2])}

    score = score_decision(
        read("systemone", systemone_answer(probabilities=shares)), FIVE.points, min_coverage=0.5
    )

    assert isinstance(score, Scored)
    assert score.distribution[5] == pytest.approx(0.2 / 0.99)
    assert math.fsum(score.distribution.values()) == pytest.approx(1)


@pytest.mark.parametrize(("highest", "is_refused"), [(9, False), (10, False), (11, True)])
def test_a_scale_with_more_points_than_levels_is_refused(highest: int, is_refused: bool) -> None:
    assert (why_not_decided(Scale(1, highest)) != "") is is_refused
    assert bool(Decision.why_not_on(Scale(1, highest), "")) is is_refused
