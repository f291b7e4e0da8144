"""Campaigns simulated on SummEval's recorded judges: whether what they say of all outputs is right.

A campaign rates some of 1,600 outputs, drawn by a design. The population is drawn anew each time,
with replacement, so that intervals must hold what other outputs like these would give.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.improve import read, summeval
from geval.statistics.arrays import Outputs
from geval.statistics.correlation import (
    coefficient_of,
    coefficients_by_document,
    correlations,
)
from geval.statistics.held_out_test import gain_in_distance
from geval.statistics.jackknife import LeftOut
from geval.statistics.mean_gaps import mean_gap
from geval.statistics.ppi import weighted_ppi_mean
from geval.statistics.sampling import (
    active_probabilities,
    draw_systematically,
    equal_probabilities,
)
from geval.statistics.types import FloatArray

JUDGE = "gpt-4o"
RATED_SHARE, RATINGS, DOCUMENTS = 0.2, 100, 20


@dataclass(frozen=True)
class Recorded:
    """A criterion's ratings and scores; shape (outputs,) each, `spread` the judges' standard
    deviation."""

    criterion: str
    outputs: Outputs
    human: FloatArray
    judge: FloatArray
    mean: FloatArray
    spread: FloatArray


def recorded() -> Iterator[Recorded]:
    arms = sorted({(row["judge"], row["criterion"]) for row in read("llm_scores.csv.gz")})
    for criterion, found in summeval().items():
        mine = [at for at, (_judge, of) in enumerate(arms) if of == criterion]
        scores = found.scores[mine]
        judge = scores[[arms[at][0] for at in mine].index(JUDGE)]
        known = ~np.isnan(scores).any(axis=0) & ~np.isnan(found.human)
        outputs = found.outputs.part(known)
        scores = scores[:, known]
        yield Recorded(
            criterion,
            outputs,
            found.human[known],
            judge[known],
            scores.mean(axis=0),
            scores.std(axis=0, ddof=1),
        )


def bias_of_rho(one: Recorded, campaigns: int, rng: np.random.Generator) -> dict[str, float]:
    """How far rho lies from that of all outputs, on average over campaigns that rate a fifth: at
    dataset level of outputs drawn one by one, at summary level of whole documents, and of those at
    the top without weights."""
    truth = correlations(one.outputs, one.human, one.judge).estimates["spearman"]
    of_all = {level: truth[level].value or 0.0 for level in ("dataset", "summary")}
    size = round(RATED_SHARE * len(one.human))
    probability = active_probabilities(one.spread, size)
    of_documents = active_probabilities(
        np.sqrt(one.outputs.by_document(one.spread**2)), round(RATED_SHARE * one.outputs.documents)
    )
    singly, whole = [], []
    for _ in range(campaigns):
        at = draw_systematically(probability, rng)
        found = coefficient_of(one.human[at], one.judge[at], "spearman", weight=1 / probability[at])
        singly.append(found.value or 0.0)
        chosen = np.isin(one.outputs.document, draw_systematically(of_documents, rng))
        weight = np.where(chosen, 1 / of_documents[one.outputs.document], 0.0)
        human = np.where(chosen, one.human, np.nan)
        level = correlations(one.outputs.weighted(weight), human, one.judge).estimates["spearman"]
        whole.append(level["summary"].value or 0.0)
    top = np.argsort(-one.spread, kind="stable")[:size]
    at_top = coefficient_of(one.human[top], one.judge[top], "spearman").value or 0.0
    return {
        "dataset": abs(float(np.mean(singly)) - of_all["dataset"]),
        "summary": abs(float(np.mean(whole)) - of_all["summary"]),
        "top": abs(at_top - of_all["dataset"]),
    }


@dataclass(frozen=True)
class Means:
    """Of campaigns of `RATINGS` ratings: how often the interval holds the mean, the mean squared
    errors of three estimates, and the standard error of the ratio of the last two."""

    coverage: float
    coverage_of_uniform: float
    plain: float
    uniform: float
    active: float
    error_against_uniform: float

    @property
    def against_plain(self) -> float:
        """How many times as many ratings plain human sampling would need."""
        return self.plain / self.active

    @property
    def against_uniform(self) -> float:
        return self.uniform / self.active


def error_of_ratio(upper: FloatArray, lower: FloatArray) -> float:
    """The standard error of the ratio of two means over the same campaigns (the delta method)."""
    ratio = upper.mean() / lower.mean()
    return float((upper - ratio * lower).std(ddof=1) / lower.mean() / np.sqrt(len(upper)))


def means(one: Recorded, campaigns: int, rng: np.random.Generator) -> Means:
    """The mean human rating, by an active sample and by a uniform one."""
    truth, count = float(one.human.mean()), len(one.human)
    held: dict[str, list[bool]] = {"active": [], "uniform": []}
    errors: dict[str, list[float]] = {"active": [], "uniform": [], "plain": []}
    for _ in range(campaigns):
        population = rng.integers(0, count, count)
        human, judge = one.human[population], one.mean[population]
        designs = {
            "active": active_probabilities(one.spread[population], RATINGS),
            "uniform": equal_probabilities(count, RATINGS),
        }
        for name, probability in designs.items():
            at = draw_systematically(probability, rng)
            rated = np.full(count, np.nan)
            rated[at] = human[at]
            found = weighted_ppi_mean(rated, judge, 1 / probability)
            assert found.low is not None
            assert found.high is not None
            held[name].append(found.low <= truth <= found.high)
            errors[name].append((found.estimate - truth) ** 2)
            if name == "uniform":
                errors["plain"].append((human[at].mean() - truth) ** 2)
    return Means(
        float(np.mean(held["active"])),
        float(np.mean(held["uniform"])),
        *(float(np.mean(errors[name])) for name in ("plain", "uniform", "active")),
        error_of_ratio(np.array(errors["uniform"]), np.array(errors["active"])),
    )


def coverage_of_rho(one: Recorded, campaigns: int, rng: np.random.Generator) -> float:
    """How often the weighted interval holds the summary-level rho, with `DOCUMENTS` documents drawn
    whole by an active design."""
    rho = coefficients_by_document(one.outputs, one.human, one.judge, "spearman")
    spread = np.sqrt(one.outputs.by_document(one.spread**2))
    truth, count, held = float(np.nanmean(rho)), len(rho), []
    for _ in range(campaigns):
        population = rng.integers(0, count, count)
        probability = active_probabilities(spread[population], DOCUMENTS)
        at = draw_systematically(probability, rng)
        values, weight = np.full(count, np.nan), np.zeros(count)
        values[at], weight[at] = rho[population[at]], 1 / probability[at]
        ends = LeftOut.each(count).mean_interval(values, weight=weight).ends
        held.append(ends is not None and ends[0] <= truth <= ends[1])
    return float(np.mean(held))


def coverage_of_errors(one: Recorded, campaigns: int, rng: np.random.Generator) -> dict[str, float]:
    """How often weighted intervals hold a judge's mean gap to people, and how much nearer to them
    the mean of all judges is, with twice `DOCUMENTS` documents drawn whole by an active design."""
    gaps = one.judge - one.human
    nearer = np.abs(gaps) - np.abs(one.mean - one.human)
    truth = {"mean gap": float(gaps.mean()), "gain in distance": float(nearer.mean())}
    count = one.outputs.documents
    known = np.flatnonzero(one.outputs.by_document())
    members = np.split(
        np.arange(len(gaps)), np.cumsum(one.outputs.by_document()[known])[:-1].astype(int)
    )
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(campaigns):
        population = [members[at] for at in rng.integers(0, len(members), count)]
        at = np.concatenate(population)
        document = np.repeat(np.arange(count), [len(own) for own in population])
        outputs = Outputs(document, one.outputs.system[at], count, one.outputs.systems)
        of_document = np.sqrt(outputs.by_document(one.spread[at] ** 2))
        probability = active_probabilities(of_document, 2 * DOCUMENTS)
        is_drawn = np.zeros(count, dtype=bool)
        is_drawn[draw_systematically(probability, rng)] = True
        rated = is_drawn[document]
        sample = outputs.weighted(1 / probability[document]).part(rated)
        human, judge, mean = (side[at[rated]] for side in (one.human, one.judge, one.mean))
        found = {
            "mean gap": mean_gap(sample, judge - human).interval,
            "gain in distance": gain_in_distance(
                sample, human, mean, judge, confidence=0.95
            ).interval,
        }
        for name, interval in found.items():
            ends = interval.ends
            held[name].append(ends is not None and ends[0] <= truth[name] <= ends[1])
    return {name: float(np.mean(of)) for name, of in held.items()}
