"""`geval.measure` says what its numbers leave unsaid: cautions, and what large gaps share."""

from typing import Any

import numpy as np
import pytest

import geval
from geval.measuring.inputs import InputError

DOCUMENTS, SYSTEMS = 30, 5
PEOPLE = ("ann", "bob", "cyd")


def outputs(score: Any) -> list[dict[str, Any]]:
    """Ratings of three people who say 3 or 4, once 1 and 5, and a judge's `score(mean, system)`."""
    rows = []
    for document in range(DOCUMENTS):
        for system in range(SYSTEMS):
            truth = {(20, 0): 1, (20, 1): 5}.get((document, system), 3 + (system == document % 5))
            ratings = {name: float(truth) for name in PEOPLE}
            name = {"doc_id": f"d{document:02}", "system_id": f"s{system}"}
            rows.append(name | ratings | {"judge": score(truth, system)})
    return rows


def measured(score: Any) -> geval.Measurement:
    return geval.measure(outputs(score), human=[*PEOPLE], judge=["judge"], criterion="coherence")


def test_a_judge_that_gives_every_output_the_same_score_is_read_with_care() -> None:
    result = measured(lambda _truth, _system: 3.0)

    assert [caution.about for caution in result.cautions] == ["judge"]
    assert result.cautions[0].criterion == "coherence"
    assert f"Caution: {result.cautions[0].text}" in str(result)


def test_a_judge_that_orders_outputs_like_people_needs_no_caution() -> None:
    result = measured(lambda truth, _system: float(truth))

    assert result.cautions == ()
    assert "Caution" not in str(result)


def test_large_gaps_of_one_system_are_named() -> None:
    rng = np.random.default_rng(1)
    result = measured(
        lambda truth, system: np.clip(truth - 1.5 * (system == 4) + rng.uniform(0, 0.3), 1, 5)
    )

    patterns = result.patterns("Coherence")

    assert patterns.found[0].title == "15 of the 15 largest gaps are by s4"
    assert "The judge gives s4 1.34 less than people" in patterns.found[0].text


def test_patterns_of_a_criterion_that_is_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="no criterion 'fluency'"):
        measured(lambda truth, _system: float(truth)).patterns("fluency")
