"""Every worked example of a published method, by us and by its definition in plain Python."""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pytest

from geval.statistics.arrays import Outputs
from geval.statistics.bias import partial_correlation
from geval.statistics.calibration import isotonic
from geval.statistics.coefficients import concentration, concordance
from geval.statistics.correlation import COEFFICIENTS
from geval.statistics.ppi import ppi_mean
from geval.statistics.preferences import bradley_terry, davidson
from geval.statistics.resampling import Draws, bootstrap_samples
from geval.statistics.significance import benjamini_yekutieli, holm
from geval.statistics.weighted_kappa import weighted_kappa
from tests.statistics.plain_definitions import PATH, expected
from tests.statistics.tables import (
    alt_test,
    coefficients_by_document,
    correlations,
    human_ceiling,
    intraclass,
    judge_as_a_rater,
    krippendorff_alpha,
    mean_over_raters,
    permutation_test,
)

DATA = json.loads(PATH.read_text())
TOY = {name: np.array(table, dtype=float) for name, table in DATA["toy"].items()}
HUMAN = mean_over_raters(TOY["raters"])
RNG = np.random.default_rng(0)


def level(name: str) -> Callable[[dict[str, Any]], Any]:
    def of(given: dict[str, Any]) -> dict[str, float | None]:
        estimates: Any = correlations(HUMAN, TOY[given["judge"]]).estimates
        return {coefficient: estimates[coefficient][name].value for coefficient in COEFFICIENTS}

    return of


def with_zeros(given: dict[str, Any]) -> dict[str, float]:
    judge = TOY[given["judge"]]
    return {
        c: float(np.nan_to_num(coefficients_by_document(HUMAN, judge, c)).mean())
        for c in COEFFICIENTS
    }


def pairs(given: dict[str, Any]) -> dict[str, float]:
    counts = concordance(*(np.array(given[side], dtype=float) for side in ("human", "judge")))
    return {
        "C minus D": counts.surplus,
        "untied_human": counts.untied_x,
        "untied_metric": counts.untied_y,
    }


def permutation(given: dict[str, Any]) -> dict[str, Any]:
    test = permutation_test(HUMAN, TOY["A"], TOY["C"], given["coefficient"], rng=RNG)
    assert test.exact
    assert test.p is not None
    count = round(test.p * test.orderings)
    return {
        "observed": test.observed,
        "inputs": {"n": test.orderings, "count": count, "p_exact": test.p},
    }


def alphas(given: dict[str, Any]) -> dict[str, float | None]:
    ratings = np.array(given["ratings"], dtype=float)[:, None, :]
    return {m: krippendorff_alpha(ratings, m).value for m in ("nominal", "ordinal", "interval")}


def icc(given: dict[str, Any]) -> dict[str, float | None]:
    found = intraclass(np.array(given["targets"], dtype=float).T)
    return {"icc2_1": found.icc2_1.value}


def kappa(given: dict[str, Any]) -> dict[str, float | None]:
    first, second = (np.array(given[side], dtype=float) for side in ("first", "second"))
    return {"quadratic": weighted_kappa(Outputs.full(len(first), 1), first, second).estimate.value}


def alternative(given: dict[str, Any]) -> dict[str, Any]:
    raters, judge = (np.array(given[side], dtype=float) for side in ("raters", "judge"))
    test = alt_test(raters, judge, epsilon=given["epsilon"])
    return {
        "p": list(test.p),
        "rho_j": list(test.advantages),
        "rho": test.advantage.value,
        "omega": test.winning_rate.value,
    }


def ppi(given: dict[str, Any]) -> dict[str, float | None]:
    sides = (np.array(given[side], dtype=float) for side in ("human", "judge", "others"))
    found = ppi_mean(*sides, weight=given["lambda"])
    return {
        "lambda": found.weight,
        "estimate": found.estimate,
        "se": found.standard_error,
        "lo": found.low,
        "hi": found.high,
    }


def with_ties(given: dict[str, Any]) -> dict[str, Any]:
    found = davidson(*(np.array(given[side], dtype=float) for side in ("wins", "ties")))
    return {"theta": list(found.strengths), "tie": found.tie}


def rising(given: dict[str, Any]) -> dict[str, list[float]]:
    found = isotonic(*(np.array(given[side], dtype=float) for side in ("judge", "human")))
    return {"x": list(found.x), "fit": list(found.fit)}


def spread(given: dict[str, Any]) -> dict[str, float]:
    found = concentration(np.array(given["scores"], dtype=float))
    assert found
    names = ("entropy_bits", "modal_share", "tie_rate")
    return {name: getattr(found, name) for name in names}


def length(given: dict[str, Any]) -> dict[str, float | None]:
    sides = [np.array(given[side], dtype=float) for side in ("judge", "words", "human")]
    return {
        "pearson": partial_correlation(*sides).value,
        "spearman": partial_correlation(*sides, "spearman").value,
    }


def ceiling(given: dict[str, Any]) -> dict[str, Any]:
    by_rater = human_ceiling(TOY["raters"], given["coefficient"]).by_rater
    places = []
    for at in range(3):
        others = mean_over_raters(np.delete(TOY["raters"], at, axis=0))
        estimates: Any = correlations(others, TOY["A"]).estimates
        places.append(estimates[given["coefficient"]]["summary"].value)
    return {"human": [one.estimate.value for one in by_rater], "judge": places}


def bootstrap(given: dict[str, Any]) -> dict[str, list[float]]:
    draws = Draws(
        *(None if given[of] is None else np.array(given[of]) for of in ("documents", "systems"))
    )
    return {c: list(bootstrap_samples(HUMAN, TOY["A"], c, draws)) for c in COEFFICIENTS}


OURS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "summary_level": level("summary"),
    "summary_level_zero": with_zeros,
    "system_level": level("system"),
    "dataset_level": level("dataset"),
    "leave_one_out": ceiling,
    "bootstrap": bootstrap,
    "pair_orders": pairs,
    "permutation": permutation,
    "multiplicity": lambda given: {"holm": holm(given["p"]), "by": benjamini_yekutieli(given["p"])},
    "krippendorff": alphas,
    "icc": icc,
    "weighted_kappa": kappa,
    "alt_test": alternative,
    "ppi_mean": ppi,
    "bradley_terry": lambda given: {
        "theta": list(bradley_terry(np.array(given["wins"], dtype=float)).strengths)
    },
    "davidson": with_ties,
    "isotonic": rising,
    "score_concentration": spread,
    "length_bias": length,
}
EXAMPLES = pytest.mark.parametrize("example", DATA["examples"], ids=lambda one: one["id"])


@EXAMPLES
def test_we_compute_a_worked_example(example: dict[str, Any]) -> None:
    ours = OURS[example["method"]](example["input"])

    assert_close(ours, example["expected"], example["tolerance"])


@EXAMPLES
def test_a_worked_example_is_what_the_definition_gives(example: dict[str, Any]) -> None:
    assert_close(expected(example, DATA["toy"]), example["expected"], 1e-9)


@pytest.mark.parametrize(
    ("example", "published"),
    [
        ("krippendorff_canonical", {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}),
        ("icc_shrout_fleiss", {"icc2_1": 0.29}),
        ("bradley_terry_two", {"theta": [np.log(4) / 2, -np.log(4) / 2]}),
    ],
)
def test_published_figures_are_those_of_the_example(example: str, published: Any) -> None:
    (found,) = (one for one in DATA["examples"] if one["id"] == example)

    assert_close(found["expected"], published, 0.005 if example.startswith("icc") else 0.0005)


def assert_close(ours: Any, theirs: Any, tolerance: float) -> None:
    """Every expected number is there and right."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            assert_close(ours[key], value, tolerance)
    elif isinstance(theirs, list):
        for one, other in zip(ours, theirs, strict=True):
            assert_close(one, other, tolerance)
    elif theirs is None:
        assert ours is None or np.isnan(ours)
    else:
        assert ours == pytest.approx(theirs, abs=tolerance)


def test_the_judge_in_a_raters_place_is_averaged_over_raters() -> None:
    places = ceiling({"coefficient": "spearman"})["judge"]

    assert judge_as_a_rater(TOY["raters"], TOY["A"]).value == pytest.approx(np.mean(places))


def test_means_of_thirds_tie_where_sums_of_ratings_do() -> None:
    sums = [[13, 10, 11, 10], [13, 11, 10, 10]]

    exact = [sum(Fraction(value, 3) for value in side) / 4 for side in sums]
    # Since Python 3.12 `sum` compensates for rounding.
    naive = [reduce(add, (value / 3 for value in side)) / 4 for side in sums]
    ours = mean_over_raters(np.array(sums, dtype=float).T[:, None, :] / 3)[0]

    assert exact[0] == exact[1]
    assert naive[0] != naive[1]
    assert ours[0] == ours[1]
