"""Every worked example, computed by an independent path, to its tolerance."""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from evaluations.llm.parsing import Rating, parse_rating
from evaluations.llm.replies import ReplyChoice
from evaluations.scales import Scale
from evaluations.statistics.bias import partial_correlation, self_preference
from evaluations.statistics.calibration import isotonic
from evaluations.statistics.concentration import concentration
from evaluations.statistics.correlation import COEFFICIENTS
from evaluations.statistics.layout import Outputs
from evaluations.statistics.pairwise import count_pairs, tau_c
from evaluations.statistics.ppi import ppi_mean
from evaluations.statistics.preferences import bradley_terry, next_pair_gains
from evaluations.statistics.reliability import cohen_kappa
from evaluations.statistics.resampling import Draws, bootstrap_samples, percentile_interval
from evaluations.statistics.significance import benjamini_yekutieli, holm, williams_test
from tests.conftest import BENCHMARKS
from tests.statistics.tables import (
    alt_test,
    coefficients_by_document,
    correlations,
    human_ceiling,
    intraclass,
    krippendorff_alpha,
    mean_over_raters,
    permutation_test,
    soft_pairwise_accuracy,
    tie_calibrated_accuracy,
    writer_bias,
)

PATH = BENCHMARKS / "worked_examples.json"
EXAMPLES = json.loads(PATH.read_text())["examples"] if PATH.exists() else []
BY_ID = {example["id"]: example for example in EXAMPLES}
RNG = np.random.default_rng(0)


def toy() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The toy raters, shape (raters, documents, systems), and judges A to C."""
    given = BY_ID["summary_level_A"]["input"]["toy"]
    judges = {"A": "judge_A", "B": "judge_B_integer", "C": "judge_C"}
    raters = np.array(given["human_raters[rater][doc][system]"], dtype=float)
    return raters, {name: np.array(given[key], dtype=float) for name, key in judges.items()}


def human_and(judge: str) -> tuple[np.ndarray, np.ndarray]:
    raters, judges = toy()
    return mean_over_raters(raters), judges[judge]


def level(example: dict[str, Any]) -> dict[str, float | None]:
    human, judge = human_and(example["input"]["judge"])
    name = example["id"].split("_")[0]
    found = correlations(human, judge).estimates
    return {coefficient: found[coefficient][name].value for coefficient in COEFFICIENTS}  # type: ignore[index]


def with_zeros(example: dict[str, Any]) -> dict[str, float]:
    human, judge = human_and(example["input"]["judge"])
    return {
        c: float(np.nan_to_num(coefficients_by_document(human, judge, c)).mean())
        for c in COEFFICIENTS
    }


def missing(example: dict[str, Any]) -> dict[str, float | None]:
    human, judge = human_and("A")
    for document, system in example["input"]["missing cells [doc, system] (0-based)"]:
        human[document, system] = judge[document, system] = np.nan
    found = correlations(human, judge).estimates
    return {coefficient: found[coefficient]["summary"].value for coefficient in COEFFICIENTS}


def ties(example: dict[str, Any]) -> dict[str, Any]:
    human = np.array(example["input"]["human"], dtype=float)
    found = {}
    for name, key in (("four_ties_then_one_higher", "judge_1"), ("two_swaps_no_ties", "judge_2")):
        judge = np.array(example["input"][key], dtype=float)
        pairs = count_pairs(human, judge)
        all_of_it = correlations(human[None, :], judge[None, :]).estimates
        found[name] = {
            "C": pairs.concordant,
            "D": pairs.discordant,
            "tied_human_only": pairs.tied_human_only,
            "tied_metric_only": pairs.tied_judge_only,
            "tied_both": pairs.tied_both,
            "tau_b": all_of_it["kendall"]["summary"].value,
            "tau_c": tau_c(human, judge).value,
            "gamma": pairs.gamma,
            "acc_eq": pairs.accuracy,
            "spearman": all_of_it["spearman"]["summary"].value,
            "pearson": all_of_it["pearson"]["summary"].value,
        }
    return found


def float_tie(example: dict[str, Any]) -> dict[str, float]:
    sums = [
        example["input"][key] for key in ("system_1 rating sums per aspect (3 raters)", "system_2")
    ]
    naive = [sum(value / 3 for value in side) / 4 for side in sums]
    exact = [sum(Fraction(value, 3) for value in side) / 4 for side in sums]
    ours = mean_over_raters(np.array(sums, dtype=float).T[:, None, :] / 3)[0]
    return {
        "exact_equal": float(exact[0] == exact[1]),
        "naive_float_equal": float(naive[0] == naive[1]),
        "after_quantisation_equal": float(ours[0] == ours[1]),
    }


def bootstrap(example: dict[str, Any]) -> dict[str, list[float]]:
    human, judge = human_and("A")
    over = example["parameters"]["method"]
    documents = np.array(example["input"]["doc_indices"]) if over != "systems" else None
    systems = np.array(example["input"]["system_indices"]) if over != "inputs" else None
    return {
        c: list(bootstrap_samples(human, judge, c, Draws(documents, systems))) for c in COEFFICIENTS
    }


def exhaustive(example: dict[str, Any]) -> dict[str, Any]:
    human, judge = (side[example["input"]["documents"]] for side in human_and("A"))
    every = np.array(np.meshgrid(*[range(3)] * 3)).reshape(3, -1).T
    samples = bootstrap_samples(human, judge, "kendall", Draws(every, None))
    interval = percentile_interval(samples, confidence=0.9)
    by_document = coefficients_by_document(human, judge, "kendall")
    return {
        "per_document": list(by_document),
        "lo": interval.low,
        "hi": interval.high,
        "mean": by_document.mean(),
    }


def williams(example: dict[str, Any]) -> dict[str, float]:
    given = example["input"]
    test = williams_test(
        *(given[f"r({pair})"] for pair in ("human,judge1", "human,judge2", "judge1,judge2")),
        given["n"],
    )
    return {"t": test.t, "p_two_sided": test.p_two_sided, "p_one_sided": test.p_one_sided}


def permutation(example: dict[str, Any]) -> dict[str, Any]:
    human, first = human_and("A")
    second = toy()[1]["C"]
    coefficient = example["id"].rsplit("_", 1)[1]
    found: dict[str, Any] = {}
    for name, over in (("inputs", "documents"), ("systems", "systems"), ("both", "both")):
        test = permutation_test(human, first, second, coefficient, over, rng=RNG)  # type: ignore[arg-type]
        assert test.exact
        found |= {"observed": test.observed}
        assert test.p is not None
        found[name] = {
            "n": test.orderings,
            "count": round(test.p * test.orderings),
            "p_exact": test.p,
        }
    return found


def alphas(ratings: np.ndarray) -> dict[str, float | None]:
    return {m: krippendorff_alpha(ratings, m).value for m in ("nominal", "ordinal", "interval")}  # type: ignore[arg-type]


def canonical(example: dict[str, Any]) -> dict[str, float | None]:
    given = example["input"]["ratings[rater][unit], null = missing"]
    return alphas(
        np.array([[np.nan if v is None else v for v in row] for row in given], dtype=float)[
            :, None, :
        ]
    )


def icc(example: dict[str, Any]) -> dict[str, float | None]:
    found = intraclass(np.array(example["input"]["ratings[target][rater]"], dtype=float).T)
    return {"icc2_1": found.icc2_1.value, "icc2_k": found.icc2_k.value}


def kappa(example: dict[str, Any]) -> dict[str, float | None]:
    first, second = (np.array(example["input"][key], dtype=float) for key in ("rater_1", "rater_2"))
    return {
        weights: cohen_kappa(first, second, weights).value
        for weights in ("none", "linear", "quadratic")
    }  # type: ignore[arg-type]


def ceiling(example: dict[str, Any]) -> dict[str, Any]:
    raters, judges = toy()
    coefficient = example["parameters"]["coefficient"]
    human = [one.estimate.value for one in human_ceiling(raters, coefficient).by_rater]
    judge = []
    for left_out in range(3):
        others = mean_over_raters(np.delete(raters, left_out, axis=0))
        judge.append(correlations(others, judges["A"]).estimates[coefficient]["summary"].value)
    return {
        "human": human,
        "judge_A": judge,
        "human_mean": np.mean(human),
        "judge_mean": np.mean(judge),
    }


def alternative(example: dict[str, Any]) -> dict[str, Any]:
    given = example["input"]
    ratings = np.array(given["raters[rater][unit]"], dtype=float)
    test = alt_test(
        ratings, np.array(given["judge"], dtype=float), epsilon=example["parameters"]["epsilon"]
    )
    return {
        "p": list(test.p),
        "rho_j": list(test.advantages),
        "rho": test.advantage.value,
        "omega": test.winning_rate.value,
    }


def ppi(example: dict[str, Any]) -> dict[str, float]:
    given = [np.array(values, dtype=float) for values in example["input"].values()]
    found = ppi_mean(*given, weight=example["parameters"]["lambda"])
    return {
        "lambda": found.weight,
        "estimate": found.estimate,
        "se": found.standard_error,
        "lo": found.low,
        "hi": found.high,
    }


def calibrated(example: dict[str, Any]) -> dict[str, float | None]:
    found = tie_calibrated_accuracy(*human_and(example["input"]["judge"]))
    return {
        "acc_eq": found.accuracy.value,
        "acc_eq_star": found.calibrated.value,
        "epsilon": found.epsilon,
    }


def strengths(example: dict[str, Any]) -> dict[str, Any]:
    fitted = bradley_terry(np.array(example["input"]["wins"], dtype=float))
    if "se_difference" in example["expected"]:
        return {"theta": list(fitted.strengths), "se_difference": fitted.difference_error(0, 1)}
    return {"theta": list(fitted.strengths), "se": list(fitted.standard_errors)}


def rising(example: dict[str, Any]) -> dict[str, list[float]]:
    found = isotonic(
        np.array(example["input"]["judge"], dtype=float), np.array(example["input"]["human"])
    )
    return {"x": list(found.x), "fit": list(found.fit)}


def unparsed(example: dict[str, Any]) -> dict[str, float]:
    """What a script does that takes the number a reply begins with, and 0 where it begins with
    none; we read more."""
    replies = example["input"]["responses"]
    begins = [
        reply.strip().split()[0] if reply.strip()[:1].isdigit() else None for reply in replies
    ]
    parsed = [float(value) for value in begins if value]
    ours = [parse_rating(ReplyChoice(reply), scale=Scale(1, 5), criterion="x") for reply in replies]
    assert [rating.value for rating in ours if isinstance(rating, Rating)] == [4, 3, 5, 4]
    return {
        "geval_script_mean": sum(parsed) / len(replies),
        "mean_of_parsed": float(np.mean(parsed)),
        "parse_rate": len(parsed) / len(replies),
    }


def groups(example: dict[str, Any]) -> dict[str, Any]:
    """Each row as a document with a text by a person and one by an LLM."""
    rows = next(iter(example["input"].values()))
    preferred = {"human_better": (2.0, 1.0), "equal": (1.0, 1.0), "llm_better": (1.0, 2.0)}
    names = {"human": "human_better", "equal": "equal", "llm": "llm_better"}
    human = np.array([preferred[preference] for preference, *_scores in rows])
    judge = np.array([scores for _preference, *scores in rows], dtype=float)
    sides = np.array([True, False]), np.array([False, True])
    found = writer_bias(human, judge, *sides)
    assert found
    return {
        names[name]: {
            "human_written": group.human_written,
            "llm_written": group.llm_written,
            "gap": group.gap,
        }
        for name, (group, _interval) in found.groups.items()
    }


def length(example: dict[str, Any]) -> dict[str, float | None]:
    judge, human, words = (
        np.array(example["input"][key], dtype=float) for key in ("judge", "human", "length")
    )
    return {
        "pearson(judge,length)": float(np.corrcoef(judge, words)[0, 1]),
        "partial(judge,length|human)": partial_correlation(judge, words, human).value,
        "spearman_partial": partial_correlation(judge, words, human, "spearman").value,
    }


def own_family(example: dict[str, Any]) -> dict[str, float | None]:
    own, other = (np.array(example["input"][key]) for key in ("own (judge, human)", "other"))
    means = [float((side[:, 0] - side[:, 1]).mean()) for side in (own, other)]
    return {
        "own": means[0],
        "other": means[1],
        "self_preference": _self_preference(own, other),
    }


def _self_preference(own: np.ndarray, other: np.ndarray) -> float | None:
    judge, human = np.concatenate([own, other]).T
    is_own = np.arange(len(judge)) < len(own)
    return self_preference(Outputs.full(len(judge), 1), human, judge, is_own).value


def spread(example: dict[str, Any]) -> dict[str, float]:
    found = concentration(np.array(example["input"]["scores"], dtype=float))
    assert found
    return {
        name: getattr(found, name)
        for name in ("entropy_bits", "effective_levels", "modal_share", "tie_rate")
    }


def attenuation(_example: dict[str, Any]) -> dict[str, float | None]:
    ratings = np.array(BY_ID["icc_shrout_fleiss"]["input"]["ratings[target][rater]"], dtype=float).T
    reliability = intraclass(ratings).icc2_k.value
    assert reliability
    return {
        "reliability_k": reliability,
    }


def next_pairs(example: dict[str, Any]) -> dict[str, float]:
    gains = next_pair_gains(bradley_terry(np.array(example["input"]["wins"], dtype=float)))
    return {f"{first}-{second}": gain for (first, second), gain in gains.items()}


# What no report states: intervals are bootstrapped, labels are compared by agreement, and ceilings
# by leaving people out; samples follow predicted errors. Examples by the beginning of their id, and
# single values.
NOT_REPORTED = ("fisher_ci", "binned_jsd", "neyman_allocation")
VALUES_NOT_REPORTED = {"tau_eq", "max_correlation", "spearman_brown_double"}

# The beginning of an example's id -> how we compute it; the longest beginning that fits is taken.
COMPUTE: dict[str, Callable[[dict[str, Any]], Any]] = {
    "summary_level": level,
    "summary_level_zero": with_zeros,
    "summary_level_missing": missing,
    "system_level": level,
    "dataset_level": level,
    "ties_inflate_tau_b": ties,
    "float_broken_tie": float_tie,
    "bootstrap_fixed_indices": bootstrap,
    "bootstrap_exhaustive": exhaustive,
    "williams": williams,
    "permutation_exact": permutation,
    "multiplicity": lambda example: {
        "holm": holm(example["input"]["p"]),
        "by": benjamini_yekutieli(example["input"]["p"]),
    },
    "krippendorff_canonical": canonical,
    "krippendorff_toy": lambda _example: alphas(toy()[0]),
    "icc_shrout_fleiss": icc,
    "weighted_kappa": kappa,
    "leave_one_out": ceiling,
    "alt_test": alternative,
    "ppi_mean": ppi,
    "tie_calibrated_accuracy": calibrated,
    "soft_pairwise_accuracy": lambda example: (
        soft_pairwise_accuracy(*human_and(example["input"]["judge"])).value
    ),
    "bradley_terry": strengths,
    "isotonic": rising,
    "geval_unparsed": unparsed,
    "llm_preference_groups": groups,
    "length_bias": length,
    "self_preference": own_family,
    "score_concentration": spread,
    "attenuation_ceiling": attenuation,
    "bt_next_pair": next_pairs,
}


@pytest.mark.skipif(not EXAMPLES, reason="the worked examples are not on this machine")
@pytest.mark.parametrize(
    "example",
    [example for example in EXAMPLES if not example["id"].startswith(NOT_REPORTED)],
    ids=lambda example: example["id"],
)
def test_worked_example(example: dict[str, Any]) -> None:
    name = max((name for name in COMPUTE if example["id"].startswith(name)), key=len)

    found = COMPUTE[name](example)

    assert_close(found, example["expected"], tolerance=example["tolerance"], at=example["id"])


def assert_close(found: Any, expected: Any, *, tolerance: float, at: str) -> None:
    """Every expected number is there and right; what we compute beyond is no error."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            if key in VALUES_NOT_REPORTED:
                continue
            assert_close(found[key], value, tolerance=tolerance, at=f"{at}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), at
        for index, (a, b) in enumerate(zip(found, expected, strict=True)):
            assert_close(a, b, tolerance=tolerance, at=f"{at}[{index}]")
    else:
        assert found == pytest.approx(expected, abs=max(tolerance, 1e-9)), at
