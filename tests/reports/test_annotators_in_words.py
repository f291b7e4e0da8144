"""The page *Annotators* begins with severity and agreement, as far as intervals tell."""

from geval.reports.annotators import (
    AnnotatorNumbers,
    AnnotatorsFound,
    CriterionAnnotators,
    RaterAgreement,
)
from geval.reports.campaign_questions import Severity
from geval.statistics.agreement import LeaveOneOut
from geval.statistics.resampling import Interval
from geval.statistics.types import Estimate

NONE = Interval(None, None, "few")
Strict = tuple[float, tuple[float, float] | None]


def annotator(name: str, severity: Strict) -> AnnotatorNumbers:
    value, ends = severity
    points = Interval(*ends) if ends else NONE
    of_rater = Severity(90, Estimate(value), points)
    return AnnotatorNumbers(0, name, 90, 90, LeaveOneOut(Estimate(0.5), 90, NONE), of_rater)


def criterion(
    name: str, people: dict[str, Strict], alpha: float | None = None
) -> CriterionAnnotators:
    estimate = Estimate(alpha, "" if alpha is not None else "nobody")
    ends = NONE if alpha is None else Interval(alpha - 0.1, alpha + 0.1)
    agreement = RaterAgreement(90, 180, 90, estimate, ends)
    annotators = tuple(annotator(*person) for person in people.items())
    return CriterionAnnotators(0, name, 90, agreement, annotators, "", 0, ())


def lead(*criteria: CriterionAnnotators) -> str:
    return AnnotatorsFound(criteria, None).lead


def test_it_names_who_is_furthest_from_the_average_on_the_same_outputs() -> None:
    mild = criterion("fluency", {"ada": (-0.2, (-0.3, -0.1)), "ben": (0.9, (-0.1, 1.9))})
    strict = criterion("coherence", {"dan": (0.5, (0.3, 0.7)), "eve": (0.0, (-0.1, 0.1))})

    named = lead(mild, strict)
    assert named.startswith("dan is stricter")
    assert "on coherence, by 0.50 points" in named
    assert "ben" not in named


def test_nobody_is_named_where_intervals_hold_0_or_are_missing() -> None:
    even = criterion("fluency", {"ada": (-0.2, (-0.3, 0.1))})
    few = criterion("fluency", {"ada": (-0.2, None)})

    assert lead(even).startswith("No annotator is shown")
    assert lead(few).startswith("There are too few ratings")
