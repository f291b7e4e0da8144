"""The small data sets of `../shared/cases/statistics`, each with what is right on it."""

import csv

import numpy as np
import pytest
from scipy import stats

import geval
from tests.conftest import CHECKOUT

CASES = CHECKOUT.parent / "shared/cases/statistics"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="../shared/cases is not here")
PEOPLE = ["r0", "r1", "r2"]


def rows_of(name: str) -> list[dict[str, str]]:
    with (CASES / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def measured(name: str, *judges: str) -> geval.Measurement:
    return geval.measure(
        str(CASES / f"{name}.csv"), human=PEOPLE, judge=judges, document="doc", system="sys"
    )


@pytest.mark.parametrize(
    ("name", "judges", "verdict", "says"),
    [
        ("who_wrote_it", ["who"], "keep", "Within a system"),
        ("one_rater_half_careless", ["judge"], "keep", "Ranks below one rater"),
        ("an_equal_called_below", ["judge"], "spot", "Not shown to rank like a rater"),
        ("two_documents_a_rater_named", ["judge"], "early", ""),
        ("missing_where_it_errs", ["partial", "whole"], "spot", "186 of 300 rated outputs"),
        ("topics_two_equal_judges", ["first", "second"], "keep", "Documents are in 8 groups"),
        ("thirty_equal_judges", ["j24"], "keep", ""),
    ],
)
def test_no_more_is_said_than_is_shown(
    name: str, judges: list[str], verdict: str, says: str
) -> None:
    found = measured(name, *judges)

    assert found.criteria[0].verdict == verdict
    assert says in str(found)


def test_nobody_is_named_from_two_documents() -> None:
    found = measured("two_documents_a_rater_named", "judge")

    assert not any("not shown to agree" in caution.text for caution in found.cautions)


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("missing_where_it_errs", "partial", "whole"), ("topics_two_equal_judges", "first", "second")],
)
def test_no_difference_is_shown(name: str, first: str, second: str) -> None:
    assert geval.compare(measured(name, first, second), first, second)[0].better == ""


def test_the_best_of_thirty_is_said_to_be_chosen_and_a_requirement_asks_for_a_name() -> None:
    judges = [f"j{number}" for number in range(30)]
    found = measured("thirty_equal_judges", *judges)

    assert "chosen of 30 judges" in found.criteria[0].reason
    with pytest.raises(geval.InputError, match="Name the judge"):
        geval.certify(found, ["spearman.summary.value>=0.6"])


def test_rho_is_scipys_over_fifteen_powers_of_ten() -> None:
    documents: dict[str, list[tuple[float, float]]] = {}
    for row in rows_of("scores_over_fifteen_decades"):
        people = float(np.mean([float(row[name]) for name in PEOPLE]))
        documents.setdefault(row["doc"], []).append((people, float(row["bleu_like"])))
    sides = [tuple(zip(*pairs, strict=True)) for pairs in documents.values()]
    varied = [pair for pair in sides if all(len({*side}) > 1 for side in pair)]
    each = [stats.spearmanr(*pair).statistic for pair in varied]

    found = measured("scores_over_fifteen_decades", "bleu_like")

    assert found.criteria[0].rho == pytest.approx(np.mean(each), abs=1e-12)


def test_a_judge_of_another_criterion_is_named_as_that() -> None:
    files = [str(CASES / f"another_criterion_{name}.csv") for name in ("ratings", "scores")]

    text = str(geval.measure(files))

    assert "follow people's ratings of relevance more closely (1.00)" in text or (
        "follow people's ratings of relevance as closely (1.00)" in text
    )
    assert "those of coherence (0.70)" in text
