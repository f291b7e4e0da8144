"""Prediction-powered means where systems have several turns in a session: the error is that of
sessions, as turns of one are alike."""

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.ppi import ppi_table
from geval.statistics.types import FloatArray

SESSIONS, TURNS, SYSTEMS = 150, 4, 2


def sessions_of(
    rng: np.random.Generator, *, rated: int
) -> tuple[Outputs, FloatArray, FloatArray, FloatArray]:
    """Outputs, what people would say of all, what they say of the first sessions, and a judge's
    scores; a session's turns are alike, and the second system is better by 0.5."""
    document, system = np.indices((SESSIONS, SYSTEMS * TURNS)).reshape(2, -1)
    system = system // TURNS
    outputs = Outputs(document, system, SESSIONS, SYSTEMS)
    of_session = rng.normal(0, 1, SESSIONS)[document]
    of_both = rng.normal(0, 1, (SESSIONS, SYSTEMS))[document, system]
    truth = of_session + of_both + rng.normal(0, 0.3, len(document)) + 0.5 * system
    judge = truth + rng.normal(0, 0.7, (SESSIONS, SYSTEMS))[document, system]
    return outputs, truth, np.where(document < rated, truth, np.nan), judge


def test_fewer_than_thirty_rated_sessions_have_no_interval_however_many_turns() -> None:
    outputs, _, human, judge = sessions_of(np.random.default_rng(1), rated=29)

    mean = ppi_table(outputs, human, judge).systems[0].mean

    assert mean is not None
    assert (mean.low, mean.high) == (None, None)


def test_a_session_with_one_output_of_each_system_is_a_document() -> None:
    """The estimate of the general case is that of the table, up to how lambda is estimated."""
    rng = np.random.default_rng(2)
    plain = Outputs.full(400, 2)
    judge = rng.normal(3, 1, 800)
    human = np.where(plain.document < 120, judge + rng.normal(0, 0.5, 800), np.nan)
    doubled = Outputs(
        np.repeat(plain.document, 2), np.repeat(plain.system, 2), plain.documents, plain.systems
    )

    tables = ppi_table(plain, human, judge), ppi_table(doubled, human.repeat(2), judge.repeat(2))

    for one, two in zip(tables[0].systems, tables[1].systems, strict=True):
        assert one.mean is not None
        assert two.mean is not None
        assert two.mean.standard_error == pytest.approx(one.mean.standard_error, rel=0.1)
        assert abs(two.mean.estimate - one.mean.estimate) < 0.6 * one.mean.standard_error
