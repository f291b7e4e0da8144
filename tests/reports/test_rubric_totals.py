"""Totals of decisions, of stated means, and of outputs that were drawn or taken from a top."""

from dataclasses import replace

import numpy as np
import pytest

import geval
from geval.reports.data import ReportData
from geval.reports.human_scores import human_scores_of
from geval.reports.rubric_totals import fill_totals_of_people
from geval.statistics.scales import NO_POINT

NAN = np.nan
# Of two people on two items, of which the first counts twice.
ANSWERS = {
    ("cites", "ann"): (1, 1, 0, 0), ("cites", "bob"): (0, 1, 0, 0),
    ("polite", "ann"): (1, 0, 0, 1), ("polite", "bob"): (1, 0, 0, 0),
}  # fmt: skip


@pytest.fixture
def data() -> ReportData:
    rows = [
        {"doc_id": f"d{n}", "system_id": "bot", "criterion": item, "annotator": who, "score": score}
        for (item, who), scores in ANSWERS.items()
        for n, score in enumerate(scores)
    ]
    return geval.measure(rows, rubric={"quality": {"cites": 2, "polite": 1}}).gathered.data


def with_items(data: ReportData, **fields: tuple[object, object]) -> ReportData:
    """Return the data with other fields of people's ratings on the two items, and new totals."""
    for name, values in fields.items():
        for pk, value in zip((1, 2), values, strict=True):
            data.humans[pk] = replace(data.humans[pk], **{name: value})  # type: ignore[arg-type]
    fill_totals_of_people(data, data.rubrics[0])
    return data


def test_each_rater_has_a_total(data: ReportData) -> None:
    third = 4 / 3
    means = [1 + 2 * third, 1 + 2 * third, 1, 1 + third / 2]
    np.testing.assert_allclose(data.humans[3].mean, means)
    assert data.humans[3].annotators == ("ann", "bob")


@pytest.mark.parametrize(
    ("decided", "total"),
    [
        ((NAN, NAN), NAN),
        ((1, 0), 1 + 8 / 3),
        ((1, NAN), 5),  # with the mean of "polite", 1
        ((NO_POINT, 1), 5),
        ((NO_POINT, NAN), 5),
        ((NO_POINT, NO_POINT), NO_POINT),
    ],
)
def test_decisions_on_items_decide_the_total(
    data: ReportData, decided: tuple[float, float], total: float
) -> None:
    arrays = tuple(np.array([value, NAN, NAN, NAN]) for value in decided)

    human = with_items(data, decided=arrays).humans[3]

    assert human.decided == pytest.approx(np.array([total, NAN, NAN, NAN]), nan_ok=True)


def test_stated_means_have_the_total_of_means(data: ReportData) -> None:
    none = np.zeros(0, dtype=np.int64)
    nobody = human_scores_of(none, none, np.zeros(0), outputs=4, raters=())
    for pk, mean in ((1, (0.5, 1, NAN, 0)), (2, (1, 0, 1, 0))):
        data.humans[pk] = replace(nobody, mean=np.array(mean, dtype=float))
    fill_totals_of_people(data, data.rubrics[0])

    expected = np.array([1 + 8 / 3, 1 + 8 / 3, NAN, 1])
    assert data.humans[3].mean == pytest.approx(expected, nan_ok=True)


def test_outputs_taken_from_a_top_are_left_out(data: ReportData) -> None:
    top = np.array([True, False, False, False])

    human = with_items(data, top=(top, None)).humans[3]

    assert np.isnan(human.mean).tolist() == top.tolist()


def test_the_rarer_item_weighs_an_output(data: ReportData) -> None:
    human = with_items(data, weight=(np.array([1.0, 2, 1, 1]), np.array([1.0, 4, 1, 1]))).humans[3]

    assert human.weight is not None
    assert human.weight.tolist() == [1, 4, 1, 1]
