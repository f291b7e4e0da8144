"""The page *Annotators* begins with what intervals say, and with no more."""

import pytest

from evaluations.reports.annotators import (
    AnnotatorNumbers,
    AnnotatorsFound,
    CriterionAnnotators,
)
from geval.statistics.latent_classes import RaterCompetence
from geval.statistics.resampling import Interval
from geval.statistics.results import Estimate
from geval.statistics.severity import RaterSeverity

NONE = Interval(None, None, "few")
Known = tuple[float, tuple[float, float] | None]


def annotator(name: str, known: Known) -> AnnotatorNumbers:
    value, ends = known
    severity = RaterSeverity(Estimate(None, "few"), NONE, Estimate(None, "few"), NONE)
    competence = RaterCompetence(Estimate(value), Interval(*ends) if ends else NONE)
    return AnnotatorNumbers(0, name, 90, 90, severity, competence, competence)


def lead(*criteria: dict[str, Known]) -> str:
    """What the page says of competence, by criterion and annotator."""
    found = tuple(
        CriterionAnnotators(
            at, f"criterion {at}", 90, tuple(annotator(*one) for one in people.items()),
            "", "", 0, (),
        )
        for at, people in enumerate(criteria)
    )  # fmt: skip
    return AnnotatorsFound(found, None, None).lead.split("milder. ")[1]


def test_an_annotator_is_named_whose_interval_ends_below_all_others() -> None:
    apart = {"ada": (0.9, (0.8, 1.0)), "dan": (0.3, (0.2, 0.4)), "eve": (0.6, (0.5, 0.7))}
    overlapping = {"ada": (0.2, (0.1, 0.9)), "dan": (0.3, (0.2, 0.9))}

    assert lead(overlapping, apart) == (  # type: ignore[arg-type]
        "dan has the lowest competence on criterion 1: 0.30 [0.20, 0.40] on a scale from 0"
        " (guessing) to 1."
    )


def test_nobody_is_named_where_intervals_overlap() -> None:
    people: dict[str, Known] = {"ada": (0.9, (0.5, 1.0)), "dan": (0.3, (0.1, 0.6))}

    assert lead(people) == "Intervals overlap, so nobody's competence is shown to be the lowest."


def test_people_without_an_interval_are_not_compared() -> None:
    people: dict[str, Known] = {
        "ada": (0.9, (0.8, 1.0)), "dan": (0.3, (0.2, 0.4)), "eve": (0.1, None),
    }  # fmt: skip

    assert lead(people).startswith(
        "dan has the lowest competence on criterion 0, of those with an interval: 0.30"
    )


@pytest.mark.parametrize("people", [{"ada": (0.9, None), "dan": (0.3, None)}])
def test_competence_without_intervals_is_not_compared(people: dict[str, Known]) -> None:
    assert lead(people) == "There are too few ratings to say whose competence is lowest."
