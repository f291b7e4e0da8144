"""`make bench-instrument`: whether what is said about a judge as an instrument holds: what more
replies would bring, on recorded replies; corrected pass rates and planted defects, in
simulation."""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import stats

from benchmarks.defects import FINDS, found_in
from geval.evaluators.base import Item
from geval.evaluators.perturbing import PROBES, perturbed
from geval.llm.item_texts import Texts
from geval.llm.parsing import Rating, parse_rating
from geval.llm.prompts import DEFAULT_INPUTS
from geval.llm.replies import ReplyChoice
from geval.statistics.arrays import Outputs, Ratings
from geval.statistics.coefficients import pearson
from geval.statistics.pass_fail import pass_fail
from geval.statistics.repeatability import Repeatability, repeatability
from geval.statistics.scales import Scale
from geval.statistics.sensitivity import sensitivity
from geval.statistics.types import FloatArray

BENCHMARK_DATA = Path(__file__).resolve().parents[2] / "shared" / "benchmarks"
RECORDED = ("gpt35_geval_responses.json.gz", "gpt35_geval_no_auto_cot_responses.json.gz")
SCALES = {
    "naturalness": Scale(1, 3),
    "coherence": Scale(1, 3),
    "engagingness": Scale(1, 3),
    "groundedness": Scale(0, 1),
}
REPLIES, AT = 20, 15
MOST_ERROR, LEAST_HELD, MOST_SECONDS = 0.01, 0.94, 10.0
LEAST_FOUND, MOST_FALSE = 0.95, 0.05
PROJECTS = 200
RATE, SENSITIVITY, SPECIFICITY = 0.6, 0.85, 0.8


@dataclass(frozen=True)
class World:
    """Simulated projects: the first `rated` documents are rated; outputs of a document are alike by
    `cluster`, in truth and in the judge's errors."""

    documents: int
    systems: int
    rated: int
    cluster: float

    def __str__(self) -> str:
        return (
            f"{self.rated} of {self.documents} documents rated, systems {self.systems}, cluster"
            f" {self.cluster:g}"
        )


WORLDS = (
    World(200, 4, 40, 0.0),
    World(200, 4, 40, 0.4),
    World(100, 4, 100, 0.3),
    World(400, 1, 60, 0.0),
    World(60, 12, 20, 0.3),
)


def recorded_replies(folder: Path, name: str, criterion: str) -> tuple[FloatArray, FloatArray]:
    """Topical-Chat's replies as ratings, shape (items, 20), NaN for unreadable; people's means."""
    with gzip.open(folder / "topical_chat" / name) as file:
        items = [one for one in json.load(file) if one["criterion"] == criterion]
    replies = np.full((len(items), REPLIES), np.nan)
    for row, item in enumerate(items):
        for column, text in enumerate(item["all_responses"][:REPLIES]):
            read = parse_rating(ReplyChoice(text), scale=SCALES[criterion], criterion=criterion)
            if isinstance(read, Rating):
                replies[row, column] = read.value
    return replies, np.array([item["scores"][criterion] for item in items])


def predicted_and_observed(
    replies: FloatArray, human: FloatArray, draws: int = 40
) -> tuple[Repeatability, float]:
    """What the replies say, and the mean correlation with people of so many draws of 15 of them."""
    found = repeatability(Ratings.of_table(replies.T), Outputs.full(len(replies), 1), human)
    rng, seen = np.random.default_rng(4), []
    for _ in range(draws):
        first = np.argsort(np.where(np.isnan(replies), 2, rng.random(replies.shape)), axis=1)
        drawn = np.take_along_axis(replies, first[:, :AT], axis=1)
        seen.append(pearson(np.nanmean(drawn, axis=1), human))
    return found, float(np.mean(seen))


def rates_held(world: World, sets: int) -> tuple[float, float]:
    """How often the intervals of a corrected pass rate and of sensitivity hold the truth."""
    rng, outputs = np.random.default_rng(7), Outputs.full(world.documents, world.systems)
    held = np.zeros(2)

    def latent() -> FloatArray:
        shared = rng.normal(size=(world.documents, 1))
        own = rng.normal(size=(world.documents, world.systems))
        mixed: FloatArray = np.sqrt(world.cluster) * shared + np.sqrt(1 - world.cluster) * own
        return mixed

    for _ in range(sets):
        truth, luck = latent() < stats.norm.ppf(RATE), latent()
        judge = np.where(
            truth, luck < stats.norm.ppf(SENSITIVITY), luck > stats.norm.ppf(SPECIFICITY)
        )
        people = truth.astype(float)
        people[world.rated :] = np.nan
        found = pass_fail(outputs, people.ravel(), judge.ravel().astype(float), middle=0.5)
        assert found is not None
        for at, (share, true) in enumerate(
            ((found.systems[0].corrected, RATE), (found.sensitivity, SENSITIVITY))
        ):
            low, high = share.interval.ends or (np.nan, np.nan)
            held[at] += low <= true <= high
    return float(held[0] / sets), float(held[1] / sets)


def seconds_for(items: int) -> float:
    """The time that everything here takes on so many items with 20 replies."""
    rng = np.random.default_rng(1)
    replies = rng.integers(1, 6, (items, REPLIES)).astype(float)
    outputs, human = Outputs.full(items // 16, 16), replies.mean(axis=1) + rng.normal(size=items)
    began = time.perf_counter()
    repeatability(Ratings.of_table(replies.T), outputs, human)
    pass_fail(outputs, (human > 3).astype(float), replies.mean(axis=1), middle=0.5)
    changed = {probe.name: replies[:, at + 2] for at, probe in enumerate(PROBES)}
    sensitivity(outputs, replies[:, :2], changed, human)
    item = Item(Texts("A source. " * 100, "A sentence of the output. " * 20), "c", DEFAULT_INPUTS)
    for _ in range(items):
        for probe in PROBES:
            perturbed(probe.name, item, model="m")
    return time.perf_counter() - began


def lines(sets: int) -> Iterator[tuple[str, float, str, bool]]:
    """Each figure with its name, its goal, and whether it meets it."""
    for name in RECORDED:
        for criterion in SCALES:
            found, observed = predicted_and_observed(
                *recorded_replies(BENCHMARK_DATA, name, criterion)
            )
            predicted = found.pearson_with(AT).value or np.nan
            error = abs(predicted - observed)
            what = f"{criterion}, r at {AT} replies {observed:.3f}, predicted {predicted:.3f}"
            yield what, error, f"at most {MOST_ERROR}", error <= MOST_ERROR
    slack = 2 * np.sqrt(LEAST_HELD * (1 - LEAST_HELD) / sets)
    for world in WORLDS:
        held, _sensitivity = rates_held(world, sets)
        what = f"corrected rate held, {world}"
        yield what, held, f"at least {LEAST_HELD}", held >= LEAST_HELD - slack
    for defect, finds in FINDS.items():
        share = float(np.mean([finds in found_in(defect, seed) for seed in range(PROJECTS)]))
        what = f"planted {defect}, found in {PROJECTS} projects"
        yield what, share, f"at least {LEAST_FOUND}", share >= LEAST_FOUND
    share = float(np.mean([bool(found_in("", seed)) for seed in range(PROJECTS)]))
    what = f"nothing planted, anything found in {PROJECTS} projects"
    yield what, share, f"at most {MOST_FALSE}", share <= MOST_FALSE
    taken = seconds_for(1600)
    yield "1,600 outputs, seconds", taken, f"at most {MOST_SECONDS:g}", taken <= MOST_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=2000, help="simulated projects a line")
    missed = 0
    for what, figure, goal, met in lines(parser.parse_args().sets):
        missed += not met
        print(f"{what:<70} {figure:>8.3f}   {goal}{'' if met else '   MISSED'}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
