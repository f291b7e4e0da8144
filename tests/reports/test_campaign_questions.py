"""A campaign's agreement and severities are by question, with intervals, never across scales."""

import numpy as np
import pytest

from geval.files.answers.pairs import Answer, answer_values, shown_pattern
from geval.reports.campaign_questions import (
    COMPARED,
    FEW,
    FEW_DOCUMENTS,
    GivenAnswer,
    campaign_questions,
)
from geval.statistics.thresholds import SEVERITY_SHARED
from tests.thresholds.three_points import pins

NAMES = {"7": "fluency", "8": "grade"}


def answers(documents: int, *, shift: float = 0.0, seed: int = 0) -> list[GivenAnswer]:
    """Three people; `shift` is how much milder person 1 is, on 1 to 5 and, times 20, on 0 to 100"""
    rng = np.random.default_rng(seed)
    given = []
    for document in range(documents):
        good = rng.normal()
        for person in (1, 2, 3):
            seen = good + rng.normal(scale=0.5) + shift * (person == 1)
            values = {"7": 3 + seen, "8": 50 + 20 * seen}
            given.append(GivenAnswer(document, document, person, values))
    return given


def test_each_question_has_its_own_severity_and_agreement() -> None:
    agreement, people = campaign_questions(answers(60, shift=0.5), NAMES)

    assert [(row.question, row.items) for row in agreement] == [("fluency", 60), ("grade", 60)]
    for row in agreement:
        low, high = row.interval.ends or (1, 0)
        assert low < (row.alpha.value or 0) < high
    fluency, grade = (of.severity for of in people[1])
    assert (fluency.points.value or 0) == pytest.approx(-0.5, abs=0.2)
    assert (grade.points.value or 0) == pytest.approx(20 * (fluency.points.value or 0))
    assert fluency.interval.leaves_out_zero
    assert str(fluency).startswith("−0.")


@pins("SEVERITY_SHARED", {19: False, 20: True, 21: True})
def test_answers_that_a_severity_takes(value: int, expected: bool) -> None:
    _, people = campaign_questions(answers(value), NAMES)

    person = people[1][0]
    of = person.severity
    assert (of.points.value is not None, of.items) == (expected, value)
    assert (person.rho.value is not None, person.documents) == (expected, value)
    if not expected:
        assert (of.points.reason, str(of)) == (FEW, "–")
    assert SEVERITY_SHARED == 20


@pytest.mark.parametrize(("documents", "reason"), [(9, FEW_DOCUMENTS), (10, ""), (11, "")])
def test_documents_that_a_rho_with_the_others_takes(documents: int, reason: str) -> None:
    """Thirty items a person, in few documents."""
    given = [
        GivenAnswer(of.item, of.item % documents, of.annotator, of.values) for of in answers(30)
    ]

    _, people = campaign_questions(given, NAMES)

    of = people[2][0]
    assert (of.items, of.documents, of.rho.reason) == (30, documents, reason)
    low, high = of.rho_interval.ends or (None, None)
    if reason:
        assert (of.rho.value, low) == (None, None)
    else:
        assert low < of.rho.value < high


@pytest.mark.parametrize(
    ("items", "parts"), [(39, 1), (40, 1), (59, 1), (60, 2), (79, 2), (100, 3)]
)
def test_severity_over_time_is_in_parts_of_forty_answers(items: int, parts: int) -> None:
    """The newest answer is the first; a rest of fewer than twenty is left out."""
    given = answers(items)[::-1]
    for of in given:
        if of.annotator == 1 and of.item >= 40:
            of.values["7"] -= 2

    _, people = campaign_questions(given, NAMES)

    values = [part.points.value or 0 for part in people[1][0].over_time]
    assert len(values) == parts
    assert [value > 1 for value in values] == [False, True, True][:parts]


def test_comparisons_have_agreement_without_severity() -> None:
    _, people = campaign_questions(answers(30), NAMES, is_rating=False)

    of = people[1][0]
    assert (of.rho.value or 0) > 0.5
    assert (of.severity.points.reason, of.over_time) == (COMPARED, ())


def ranking(first: int, second: int) -> Answer:
    return {"ranks": {"0": {"5": first, "6": second}}}


def test_rankings_agree_on_which_output_is_better() -> None:
    given = [
        GivenAnswer(at, at, person, answer_values(ranking(*ranks), [5, 6]))
        for at, ranks in enumerate([(1, 2), (2, 1)] * 10)
        for person in (1, 2)
    ]

    (agreement,), _ = campaign_questions(given, {"0": "overall"})

    assert (agreement.question, agreement.items, agreement.alpha.value) == ("overall", 20, 1.0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (({"choices": {"0": 2}}, [5, 6]), ({"choices": {"0": 1}}, [6, 5]), True),
        (({"choices": {"0": 1}}, [5, 6]), ({"choices": {"0": -1}}, [6, 5]), False),
        (({"scores": {"7": 3}}, [5]), ({"scores": {"7": 3}}, [6]), True),
        (({"scores": {"7": 3}}, [5]), ({"scores": {"7": 4}}, [6]), False),
        (
            ({"best": {"0": 5}, "worst": {"0": 6}}, [5, 6, 7]),
            ({"best": {"0": 7}, "worst": {"0": 5}}, [7, 5, 6]),
            True,
        ),
        ((ranking(1, 2), [5, 6]), (ranking(2, 1), [6, 5]), True),
        ((ranking(1, 2), [5, 6]), (ranking(1, 2), [6, 5]), False),
    ],
)
def test_clicks_at_the_same_place_are_the_same_pattern(
    first: tuple[Answer, list[int]], second: tuple[Answer, list[int]], expected: bool
) -> None:
    assert (shown_pattern(*first) == shown_pattern(*second)) is expected
