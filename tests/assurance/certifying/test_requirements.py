"""Requirements are read as people write them, and figures are held to them."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from geval.reports.requirements import (
    NUMBERS,
    Checked,
    RequiredFigure,
    Requirement,
    RequirementError,
    RequirementOutcome,
    check,
    overall,
    parse_requirement,
)
from geval.statistics.thresholds import AFFORDABLE_DOCUMENTS


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("spearman.summary.low>=0.45", Requirement("spearman.summary.low", ">=", 0.45)),
        (" kendall.system.value > .3 ", Requirement("kendall.system.value", ">", 0.3)),
        ("documents>=100", Requirement("documents", ">=", 100.0)),
        ("alt_test.passed", Requirement("alt_test.passed")),
    ],
)
def test_what_people_write_is_read(text: str, read: Requirement) -> None:
    assert parse_requirement(text) == read


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("spearman.summary.low", "needs a bound"),
        ("sensitivity.low>=80", "is at most 1: write 80 % as 0.8"),
        ("kappa.low>=1.01", "is at most 1"),
        ("spearman.summary.low<=0.5", "it can be required to be high"),
        ("spearman.summary.low==0.5", "is not a requirement"),
        ("spearman.summary.low>=0.4.5", "is not a requirement"),
        ("alt_test.passed>=1", "is met or not"),
        ("rho>=0.5", r"Figures: pearson\|spearman\|kendall\.summary"),
        ("", "is not a requirement"),
        ("documents>=" + "9" * 400, "needs a bound"),
    ],
)
def test_what_is_no_requirement_is_refused_with_what_is(text: str, said: str) -> None:
    with pytest.raises(RequirementError, match=said):
        parse_requirement(text)


@given(st.text(max_size=60))
def test_any_text_is_a_requirement_or_an_error(text: str) -> None:
    with contextlib.suppress(RequirementError):
        assert parse_requirement(text).figure


@given(
    st.sampled_from([name for name in NUMBERS if not name.endswith((".low", ".most", ".high"))]),
    st.sampled_from([">=", "<=", ">", "<"]),
    st.integers(-1000, 1000).map(lambda number: number / 1000),
)
def test_a_requirement_reads_as_it_prints(figure: str, relation: str, bound: float) -> None:
    requirement = Requirement(figure, relation, bound)

    assert parse_requirement(str(requirement)) == requirement


LOW = Requirement("spearman.summary.low", ">=", 0.45)


def low(value: float | None, estimate: float, documents: int = 100) -> Checked:
    return check(LOW, RequiredFigure(value, estimate=estimate, units=documents))


def test_a_low_end_above_the_bound_is_met() -> None:
    assert low(0.46, 0.55).outcome == RequirementOutcome.MET


def test_an_estimate_below_the_bound_is_not_met() -> None:
    found = low(0.30, 0.40)

    assert (found.outcome, found.more_documents) == (RequirementOutcome.NOT_MET, None)


def test_between_them_nothing_can_be_said_and_as_many_documents_as_it_takes_are_named() -> None:
    found = low(0.35, 0.55)

    # The half width has to go from 0.2 to 0.1, for which it takes four times as many, less what
    # Student's t with more of them brings.
    assert (found.outcome, found.more_documents) == (RequirementOutcome.CANNOT_SAY, 293)
    assert "too wide to say" in found.reason


def test_no_number_of_documents_narrows_an_estimate_on_the_bound_itself() -> None:
    found = low(0.40, 0.4501)

    assert (found.outcome, found.more_documents) == (RequirementOutcome.CANNOT_SAY, None)
    assert "no affordable number of documents" in found.reason


def with_nulls(name: str, value: float, **nulls: list[float | None]) -> Checked:
    return check(parse_requirement(name), RequiredFigure(value, "why", nulls=nulls))


@pytest.mark.parametrize(
    ("draws", "outcome"),
    [
        ([0.0], RequirementOutcome.MET),
        ([1.0], RequirementOutcome.CANNOT_SAY),
        ([None], RequirementOutcome.MET),
        ([1.0] + [0.0] * 19, RequirementOutcome.MET),  # a twentieth is what chance may do
        ([1.0] * 2 + [0.0] * 18, RequirementOutcome.CANNOT_SAY),
    ],
)
def test_a_claim_that_a_judge_that_reads_nothing_meets_too_is_not_made(
    draws: list[float | None], outcome: RequirementOutcome
) -> None:
    found = with_nulls("alt_test.passed", 1.0, shuffled=draws)

    assert found.outcome == outcome
    assert ("meets it too (shuffled)" in found.reason) == (outcome == RequirementOutcome.CANNOT_SAY)


def test_a_bound_that_length_alone_reaches_says_nothing_about_a_judge() -> None:
    assert (
        with_nulls("spearman.summary.low>=0.1", 0.3, length=[0.1]).outcome
        == RequirementOutcome.CANNOT_SAY
    )
    assert (
        with_nulls("spearman.summary.low>=0.1", 0.3, length=[0.099]).outcome
        == RequirementOutcome.MET
    )


def test_a_requirement_that_is_not_met_stays_so_whatever_null_judges_do() -> None:
    assert with_nulls("alt_test.passed", 0.0, constant=[1.0]).outcome == RequirementOutcome.NOT_MET


@given(
    low_end=st.floats(-1, 0.4499),
    estimate=st.floats(0.46, 1),
    documents=st.integers(10, 10_000),
)
def test_with_the_documents_named_the_low_end_reaches_the_bound(
    low_end: float, estimate: float, documents: int
) -> None:
    more = low(low_end, estimate, documents).more_documents

    if more is None:  # more than anybody collects
        needed = documents * ((estimate - low_end) / (estimate - 0.45)) ** 2
        assert needed - documents > 0.98 * AFFORDABLE_DOCUMENTS
        return
    assert more >= 1
    t = stats.t.ppf(0.975, [documents + more - 1, documents - 1])
    half = (estimate - low_end) * math.sqrt(documents / (documents + more)) * t[0] / t[1]
    assert estimate - half >= 0.45 - 1e-9


def test_a_figure_that_is_not_known_says_why() -> None:
    found = check(LOW, RequiredFigure(None, "there are 6 documents", more=4))

    assert (found.outcome, found.reason) == (RequirementOutcome.CANNOT_SAY, "there are 6 documents")
    assert found.more_documents == 4


@pytest.mark.parametrize(
    ("outcomes", "together"),
    [
        ("met met", RequirementOutcome.MET),
        ("met cannot-say", RequirementOutcome.CANNOT_SAY),
        ("cannot-say not-met met", RequirementOutcome.NOT_MET),
    ],
)
def test_the_worst_outcome_counts(outcomes: str, together: RequirementOutcome) -> None:
    each = [RequirementOutcome(word.replace("-", " ")) for word in outcomes.split()]

    assert overall([Checked(LOW, one, None, "") for one in each]) == together
