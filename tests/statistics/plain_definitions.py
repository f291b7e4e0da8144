"""The published methods once more, as their papers define them: in plain Python, slowly, and
without any of our own code. `tests/data/worked_examples.json` was written with these; tests hold
both our results and these to it.

`python -m tests.statistics.plain_definitions` writes the file's expected numbers again.
"""

import itertools
import json
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy import stats

PATH = Path(__file__).resolve().parents[1] / "data/worked_examples.json"
COEFFICIENTS = ("pearson", "spearman", "kendall")
Row = Sequence[float]
Table = Sequence[Row]


def pearson(a: Row, b: Row) -> float | None:
    x, y = fmean(a), fmean(b)
    xy = sum((p - x) * (q - y) for p, q in zip(a, b, strict=True))
    xx, yy = sum((p - x) ** 2 for p in a), sum((q - y) ** 2 for q in b)
    return xy / math.sqrt(xx * yy) if xx > 1e-15 and yy > 1e-15 else None


def ranks(values: Row) -> list[float]:
    """From 1, the mean of their ranks for equal ones."""
    return [
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    ]


def pair_counts(human: Row, judge: Row) -> dict[str, int]:
    found = dict.fromkeys(("C", "D", "tied_human_only", "tied_metric_only", "tied_both"), 0)
    for a, b in itertools.combinations(range(len(human)), 2):
        x, y = human[a] - human[b], judge[a] - judge[b]
        if x and y:
            found["C" if x * y > 0 else "D"] += 1
        else:
            found[
                "tied_both" if not x and not y else "tied_metric_only" if x else "tied_human_only"
            ] += 1
    return found


def pair_orders(human: Row, judge: Row) -> dict[str, int]:
    n = pair_counts(human, judge)
    return {
        "C minus D": n["C"] - n["D"],
        "untied_human": n["C"] + n["D"] + n["tied_metric_only"],
        "untied_metric": n["C"] + n["D"] + n["tied_human_only"],
    }


def kendall(a: Row, b: Row) -> float | None:
    surplus, untied_a, untied_b = pair_orders(a, b).values()
    return surplus / math.sqrt(untied_a * untied_b) if untied_a and untied_b else None


def coefficient(name: str, a: Row, b: Row) -> float | None:
    if name == "spearman":
        return pearson(ranks(a), ranks(b))
    return pearson(a, b) if name == "pearson" else kendall(a, b)


def by_document(name: str, human: Table, judge: Table) -> list[float | None]:
    return [coefficient(name, *sides) for sides in zip(human, judge, strict=True)]


def summary(name: str, human: Table, judge: Table, constant: float | None = None) -> float | None:
    """The mean over documents; a document without a coefficient counts as `constant`, or not."""
    found = [constant if one is None else one for one in by_document(name, human, judge)]
    known = [one for one in found if one is not None]
    return fmean(known) if known else None


def mean_of_raters(raters: Sequence[Table]) -> list[list[float]]:
    return [
        [float(Fraction(sum(int(one) for one in cell), len(raters))) for cell in zip(*rows)]  # noqa: B905
        for rows in zip(*raters, strict=True)
    ]


def flat(table: Table) -> list[float]:
    return [value for row in table for value in row]


def columns(table: Table) -> list[float]:
    return [fmean(column) for column in zip(*table, strict=True)]


def alpha(ratings: Sequence[Sequence[float | None]], measurement: str) -> float:
    """Krippendorff (2004), pair by pair."""
    units = [[v for v in unit if v is not None] for unit in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    every = sorted(flat(units))
    n = len(every)

    def apart(a: float, b: float) -> Fraction:
        if measurement == "nominal":
            return Fraction(a != b)
        if measurement == "interval":
            return Fraction(a - b) ** 2
        low, high = sorted((a, b))
        between = sum(low <= value <= high for value in every)
        return (between - Fraction(every.count(a) + every.count(b), 2)) ** 2

    seen = sum(
        sum(apart(a, b) for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1)
        for unit in units
    )
    chance = sum(apart(a, b) for a, b in itertools.permutations(every, 2))
    return float(1 - (n - 1) * seen / chance)


def icc(targets: Table) -> dict[str, float]:
    """Shrout and Fleiss (1979), case 2."""
    n, k = len(targets), len(targets[0])
    grand = fmean(flat(targets))
    between = k * sum((fmean(row) - grand) ** 2 for row in targets) / (n - 1)
    judges = n * sum((one - grand) ** 2 for one in columns(targets)) / (k - 1)
    total = sum((value - grand) ** 2 for value in flat(targets))
    error = (total - between * (n - 1) - judges * (k - 1)) / ((n - 1) * (k - 1))
    return {
        "icc2_1": (between - error) / (between + (k - 1) * error + k * (judges - error) / n),
    }


def kappa(first: Row, second: Row) -> float:
    """With quadratic weights."""
    seen = fmean((a - b) ** 2 for a, b in zip(first, second, strict=True))
    return 1 - seen / fmean((a - b) ** 2 for a in first for b in second)


def label_kappa(first: Row, second: Row) -> float:
    """Without an order: every two labels differ alike."""
    seen = fmean(a != b for a, b in zip(first, second, strict=True))
    return 1 - seen / fmean(a != b for a in first for b in second)


def holm(p: Row) -> list[float]:
    order = sorted(range(len(p)), key=lambda at: p[at])
    found = [0.0] * len(p)
    for place, at in enumerate(order):
        found[at] = max(min(1.0, (len(p) - j) * p[order[j]]) for j in range(place + 1))
    return found


def benjamini_yekutieli(p: Row) -> list[float]:
    m, order = len(p), sorted(range(len(p)), key=lambda at: p[at])
    harmonic = sum(1 / one for one in range(1, m + 1))
    found = [0.0] * m
    for place, at in enumerate(order):
        found[at] = min(min(1.0, m * harmonic * p[order[j]] / (j + 1)) for j in range(place, m))
    return found


def alt_test(raters: Table, judge: Row, epsilon: float, q: float = 0.05) -> dict[str, Any]:
    """Calderon, Reichart and Dror (2025): an alignment score by root mean squared error, a
    one-sided t test for each annotator, Benjamini and Yekutieli over them."""
    p_values, advantages = [], []
    for rater, own in enumerate(raters):
        others = [row for at, row in enumerate(raters) if at != rater]

        def near(value: float, unit: int, others: list[Row] = others) -> float:
            return -math.sqrt(fmean((value - row[unit]) ** 2 for row in others))

        units = range(len(judge))
        by_judge = [near(judge[unit], unit) for unit in units]
        by_person = [near(own[unit], unit) for unit in units]
        wins = [float(a >= b - 1e-12) for a, b in zip(by_judge, by_person, strict=True)]
        losses = [float(b >= a - 1e-12) for a, b in zip(by_judge, by_person, strict=True)]
        apart = [b - a for a, b in zip(wins, losses, strict=True)]
        p_values.append(float(stats.ttest_1samp(apart, epsilon, alternative="less").pvalue))
        advantages.append(fmean(wins))
    won = [p <= q for p in benjamini_yekutieli(p_values)]
    return {"p": p_values, "rho_j": advantages, "rho": fmean(advantages), "omega": fmean(won)}


def ppi(human: Row, judge: Row, others: Row, weight: float | None) -> dict[str, float]:
    """Angelopoulos, Duchi and Zrnic (2023), PPI++, variances by the number of values."""
    n, m = len(human), len(others)

    def variance(values: Row) -> float:
        return fmean((one - fmean(values)) ** 2 for one in values)

    if weight is None:
        x, y = fmean(human), fmean(judge)
        covariance = fmean((a - x) * (b - y) for a, b in zip(human, judge, strict=True))
        every = [*judge, *others]
        spread = sum((one - fmean(every)) ** 2 for one in every) / (n + m - 1)
        weight = covariance / ((1 + n / m) * spread)
    rest = [a - weight * b for a, b in zip(human, judge, strict=True)]
    estimate = weight * fmean(others) + fmean(rest)
    error = math.sqrt(weight**2 * variance(others) / m + variance(rest) / n)
    half = float(stats.norm.ppf(0.975)) * error
    return {"lambda": weight, "estimate": estimate, "se": error, "lo": estimate - half,
            "hi": estimate + half}  # fmt: skip


def davidson(wins: Table, ties: Table) -> dict[str, Any]:
    """Davidson (1970): the strengths and the parameter of ties at which what is expected is what
    was seen, by repeated scaling (the likelihood's own equations)."""
    size = len(wins)
    strength, tie = [1.0] * size, 1.0
    for _ in range(20_000):
        points = [0.0] * size
        tied = expected_ties = 0.0
        for a, b in itertools.combinations(range(size), 2):
            games = wins[a][b] + wins[b][a] + ties[a][b]
            root = math.sqrt(strength[a] * strength[b])
            total = strength[a] + strength[b] + tie * root
            for one in (a, b):
                points[one] += games * (strength[one] + tie * root / 2) / total
            tied, expected_ties = tied + ties[a][b], expected_ties + games * tie * root / total
        seen = [sum(wins[a]) + sum(ties[a]) / 2 for a in range(size)]
        strength = [s * (x / y) for s, x, y in zip(strength, seen, points, strict=True)]
        mean = math.exp(fmean(map(math.log, strength)))
        strength = [one / mean for one in strength]
        tie *= tied / expected_ties
    return {"theta": [math.log(one) for one in strength], "tie": tie}


def bradley_terry(wins: Table) -> dict[str, list[float]]:
    """Hunter (2004): minorization and maximization."""
    size, strength = len(wins), [1.0] * len(wins)
    for _ in range(20_000):
        strength = [
            sum(wins[a])
            / sum((wins[a][b] + wins[b][a]) / (strength[a] + strength[b])
                  for b in range(size) if b != a)
            for a in range(size)
        ]  # fmt: skip
        mean = math.exp(fmean(map(math.log, strength)))
        strength = [one / mean for one in strength]
    return {"theta": [math.log(one) for one in strength]}


def permutation(name: str, human: Table, first: Table, second: Table) -> dict[str, Any]:
    """Deutsch, Dror and Roth (2021): judges' z-scores are swapped for documents, every way."""

    def standardised(table: Table) -> list[list[float]]:
        mean = fmean(flat(table))
        spread = math.sqrt(fmean((one - mean) ** 2 for one in flat(table)))
        return [[(one - mean) / spread for one in row] for row in table]

    a, b = standardised(first), standardised(second)

    def apart(swaps: Sequence[bool]) -> float:
        mixed = [
            [y if swap else x for swap, x, y in zip(swaps, p, q, strict=True)]
            for p, q in ((a, b), (b, a))
        ]
        one, two = (summary(name, human, side) or 0.0 for side in mixed)
        return one - two

    every = [apart(swaps) for swaps in itertools.product((False, True), repeat=len(human))]
    count = sum(abs(one) >= abs(every[0]) - 1e-9 for one in every)
    found = {"n": len(every), "count": count, "p_exact": count / len(every)}
    return {"observed": every[0], "inputs": found}


def isotonic(judge: Row, human: Row) -> dict[str, list[float]]:
    """Pools neighbours that fall until none does."""
    pools = [
        [[y for x, y in zip(judge, human, strict=True) if x == at], [at]]
        for at in sorted(set(judge))
    ]
    while any(fmean(a[0]) > fmean(b[0]) for a, b in itertools.pairwise(pools)):
        at = next(i for i in range(len(pools) - 1) if fmean(pools[i][0]) > fmean(pools[i + 1][0]))
        a, b = pools[at], pools.pop(at + 1)
        pools[at] = [a[0] + b[0], a[1] + b[1]]
    return {"x": flat([pool[1] for pool in pools]),
            "fit": [fmean(pool[0]) for pool in pools for _ in pool[1]]}  # fmt: skip


def concentration(scores: Row) -> dict[str, float]:
    n = len(scores)
    shares = [scores.count(one) / n for one in set(scores)]
    bits = -sum(share * math.log2(share) for share in shares)
    pairs = list(itertools.combinations(scores, 2))
    return {"entropy_bits": bits, "modal_share": max(shares),
            "tie_rate": fmean(a == b for a, b in pairs)}  # fmt: skip


def partial(judge: Row, words: Row, human: Row, name: str) -> float:
    a, b, c = (
        coefficient(name, *sides) or 0.0
        for sides in ((judge, words), (judge, human), (words, human))
    )
    return (a - b * c) / math.sqrt((1 - b**2) * (1 - c**2))


def leave_one_out(name: str, raters: Sequence[Table], judge: Table) -> dict[str, Any]:
    """Each rater, and the judge in each rater's place, against the mean of the others."""
    others = [mean_of_raters([*raters[:at], *raters[at + 1 :]]) for at in range(len(raters))]
    people = [summary(name, rest, own) for rest, own in zip(others, raters, strict=True)]
    return {"human": people, "judge": [summary(name, rest, judge) for rest in others]}


def bootstrap(human: Table, judge: Table, documents: Any, systems: Any) -> dict[str, list[Any]]:
    """Summary-level values of given resamples of documents, systems or both."""
    found: dict[str, list[Any]] = {name: [] for name in COEFFICIENTS}
    for at in range(len(documents or systems)):
        rows = documents[at] if documents else range(len(human))
        places = systems[at] if systems else range(len(human[0]))
        drawn = [
            [[table[row][place] for place in places] for row in rows] for table in (human, judge)
        ]
        for name in COEFFICIENTS:
            found[name].append(summary(name, *drawn))
    return found


def _levels(toy: Any, judge: str) -> tuple[list[list[float]], Table]:
    return mean_of_raters(toy["raters"]), toy[judge]


EXPECTED: dict[str, Callable[[dict[str, Any], Any], Any]] = {
    "summary_level": lambda given, toy: {
        c: summary(c, *_levels(toy, given["judge"])) for c in COEFFICIENTS
    },
    "summary_level_zero": lambda given, toy: {
        c: summary(c, *_levels(toy, given["judge"]), 0.0) for c in COEFFICIENTS
    },
    "system_level": lambda given, toy: {
        c: coefficient(c, *map(columns, _levels(toy, given["judge"]))) for c in COEFFICIENTS
    },
    "dataset_level": lambda given, toy: {
        c: coefficient(c, *map(flat, _levels(toy, given["judge"]))) for c in COEFFICIENTS
    },
    "leave_one_out": lambda given, toy: leave_one_out(
        given["coefficient"], toy["raters"], toy["A"]
    ),
    "bootstrap": lambda given, toy: bootstrap(
        *_levels(toy, "A"), given["documents"], given["systems"]
    ),
    "pair_orders": lambda given, _toy: pair_orders(given["human"], given["judge"]),
    "permutation": lambda given, toy: permutation(
        given["coefficient"], mean_of_raters(toy["raters"]), toy["A"], toy["C"]
    ),
    "multiplicity": lambda given, _toy: {
        "holm": holm(given["p"]),
        "by": benjamini_yekutieli(given["p"]),
    },
    "krippendorff": lambda given, _toy: {
        m: alpha(given["ratings"], m) for m in ("nominal", "ordinal", "interval")
    },
    "icc": lambda given, _toy: icc(given["targets"]),
    "weighted_kappa": lambda given, _toy: {"quadratic": kappa(given["first"], given["second"])},
    "alt_test": lambda given, _toy: alt_test(given["raters"], given["judge"], given["epsilon"]),
    "ppi_mean": lambda given, _toy: ppi(
        given["human"], given["judge"], given["others"], given["lambda"]
    ),
    "bradley_terry": lambda given, _toy: bradley_terry(given["wins"]),
    "davidson": lambda given, _toy: davidson(given["wins"], given["ties"]),
    "isotonic": lambda given, _toy: isotonic(given["judge"], given["human"]),
    "score_concentration": lambda given, _toy: concentration(given["scores"]),
    "length_bias": lambda given, _toy: {
        c: partial(given["judge"], given["words"], given["human"], c)
        for c in ("pearson", "spearman")
    },
}


def expected(example: dict[str, Any], toy: Any) -> Any:
    """What a worked example gives, by its definition."""
    return EXPECTED[example["method"]](example["input"], toy)


if __name__ == "__main__":
    data = json.loads(PATH.read_text())
    for one in data["examples"]:
        one["expected"] = expected(one, data["toy"])
    PATH.write_text(json.dumps(data, indent=1) + "\n")
