"""`make bench-improve`: whether judges get better, by as much as is said, and only where they do.

1. SummEval's recorded scores (six LLM judges, four criteria: 24 arms): a panel learned from 20
   documents, many times over, against the best single judge chosen by the same documents; all
   other documents are the truth. Then Topical-Chat's two recorded prompts, without a goal.
2. Simulated projects in which no judge is better than another, or a panel would only seem to be:
   how often anything is proven. Candidates that tie outputs and gain nothing by it.
3. Simulated projects with a real gain: how often it is proven.
4. With the stand-in LLM: wordings searched where it is known what people weigh, and where nothing
   can be gained.
"""

import argparse
import csv
import gzip
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from benchmarks.rewording import (
    MOST_CALLS,
    cost_of_fifty,
    flat_outcomes,
    planted_outcomes,
    site_with_stand_in,
)
from benchmarks.site import BENCHMARK_DATA
from benchmarks.tied import HARD, MOST_PROVEN, most_cut_off_proven, share_of_tied_proven
from geval.statistics.arrays import Outputs, complete
from geval.statistics.held_out_test import Proof, ProofOutcome, confidence_of, gain_in_rank
from geval.statistics.panel import Arms, choose
from geval.statistics.types import FloatArray

TOPICS = ("naturalness", "coherence", "engagingness", "groundedness")
PROMPTS = ("gpt35_geval_responses.json.gz", "gpt35_geval_no_auto_cot_responses.json.gz")
_DIGIT = re.compile(r"\d")
SUMMEVAL = BENCHMARK_DATA / "summeval"
TRAINING_DOCUMENTS = 20
LEAST_RHO, MOST_BELOW_BEST, MOST_OVERSTATED, MOST_FALSE = 0.53, 0.01, 0.005, 0.05
LEAST_GAIN, LEAST_PROVEN = 0.8, 0.8
LOCKED_SHARE = 0.4
CUT_OFF_DRAWS = 40


def read(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(SUMMEVAL / name, "rt", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def summeval() -> dict[str, Arms]:
    """The recorded scores beside the experts' mean, by criterion."""
    ratings, scores = list(read("human_ratings.csv.gz")), list(read("llm_scores.csv.gz"))
    documents, systems, criteria = (
        {name: at for at, name in enumerate(sorted({row[column] for row in ratings}))}
        for column in ("doc_id", "system_id", "criterion")
    )
    arms = {
        key: at for at, key in enumerate(sorted({(r["judge"], r["criterion"]) for r in scores}))
    }
    outputs = Outputs.full(len(documents), len(systems))
    human = np.zeros((len(criteria), len(outputs)))
    count = np.zeros_like(human)
    table = np.full((len(arms), len(outputs)), np.nan)

    def place(row: dict[str, str]) -> int:
        return documents[row["doc_id"]] * len(systems) + systems[row["system_id"]]

    for row in ratings:
        at = criteria[row["criterion"]], place(row)
        human[at] += float(row["score"])
        count[at] += 1
    for row in scores:
        table[arms[row["judge"], row["criterion"]], place(row)] = float(row["score"])
    return {name: Arms(outputs, human[at] / count[at], table) for name, at in criteria.items()}


def topical_chat() -> dict[str, Arms]:
    """Two recorded prompts, each with 20 replies an item, on every criterion: 8 arms."""
    items = []
    for name in PROMPTS:
        with gzip.open(BENCHMARK_DATA / "topical_chat" / name) as file:
            items.append(json.load(file))
    documents, systems = (
        {name: at for at, name in enumerate(sorted({i[column] for i in items[0]}))}
        for column in ("doc_id", "system_id")
    )
    outputs = Outputs.full(len(documents), len(systems))
    human = np.full((len(TOPICS), len(outputs)), np.nan)
    table = np.full((len(items), len(TOPICS), len(outputs)), np.nan)
    for prompt, replies in enumerate(items):
        for item in replies:
            criterion = TOPICS.index(item["criterion"])
            place = documents[item["doc_id"]] * len(systems) + systems[item["system_id"]]
            ratings = [
                digit[0] for reply in item["all_responses"] if (digit := _DIGIT.search(reply))
            ]
            human[criterion, place] = item["scores"][item["criterion"]]
            if ratings:
                table[prompt, criterion, place] = np.mean([int(rating) for rating in ratings])
    arms = table.reshape(-1, len(outputs))
    made = {}
    for at, name in enumerate(TOPICS):
        there, (people, *scores) = complete(outputs, human[at], *arms)
        made[name] = Arms(there, people, np.stack(scores))
    return made


@dataclass(frozen=True)
class Drawn:
    """Means over draws, by criterion: what the chosen formula reaches on the other documents, what
    was reported of it, and what the best single arm reaches there."""

    held_out: FloatArray
    reported: FloatArray
    best_single: FloatArray
    naive: FloatArray


def draw(criteria: dict[str, Arms], draws: int) -> Drawn:
    documents = next(iter(criteria.values())).outputs.documents
    rows = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        training = np.sort(rng.choice(documents, TRAINING_DOCUMENTS, replace=False))
        others = np.setdiff1d(np.arange(documents), training)
        rows.append([_values(arms, training, others, seed=seed) for arms in criteria.values()])
    return Drawn(*np.array(rows).mean(axis=0).T)


def _values(
    arms: Arms, training: FloatArray, others: FloatArray, *, seed: int
) -> tuple[float, float, float, float]:
    chosen, single = choose(arms, training, seed=seed), arms.best(training)
    return (
        float(np.nanmean(arms.rho_of(chosen.formula, others))),
        float(np.nanmean(chosen.by_document)),
        float(np.nanmean(arms.rho_of(single, others))),
        float(np.nanmean(arms.rho_of(single, training))),
    )


def simulated(
    rng: np.random.Generator, *, documents: int, noise: FloatArray, systems: int = 8
) -> tuple[Arms, FloatArray]:
    """A project with three raters, whole points from 1 to 5, and arms that see each output's
    quality with this noise; today's judge is the first."""
    shape = (documents, systems)
    quality = rng.normal(0, 0.5, systems) + rng.normal(0, 0.8, shape)
    ratings = np.clip(np.round(3 + quality + rng.normal(0, 0.7, (3, *shape))), 1, 5)
    scores = np.stack([quality + rng.normal(0, sd, shape) for sd in noise])
    outputs = Outputs.full(*shape)
    table = scores.reshape(len(noise), -1)
    return Arms(outputs, ratings.mean(axis=0).ravel(), table), table[0]


def proven(arms: Arms, today: FloatArray, rng: np.random.Generator, *, panel: bool) -> Proof | None:
    """Search on training documents and look once at the locked ones; None if nothing gained."""
    documents = arms.outputs.documents
    locked = rng.random(documents) < LOCKED_SHARE
    training = np.flatnonzero(~locked)
    chosen = choose(arms, training, seed=0, ridges=(None, 1.0) if panel else (None,))
    before = np.nanmean(arms.rho[0][training])
    if np.nanmean(chosen.by_document) <= before:
        return None
    looked = locked[arms.outputs.document]
    return gain_in_rank(
        arms.outputs.part(looked),
        arms.human[looked],
        chosen.formula.of(arms.scores)[looked],
        today[looked],
        confidence=confidence_of(1, 1),
    )


def share_proven(projects: int, *, documents: int, noise: FloatArray, panel: bool) -> float:
    found = 0
    for seed in range(projects):
        rng = np.random.default_rng(seed)
        arms, today = simulated(rng, documents=documents, noise=noise)
        proof = proven(arms, today, rng, panel=panel)
        found += proof is not None and proof.outcome == ProofOutcome.PROVEN
    return found / projects


@dataclass
class Goals:
    """Figures with their goals, as they are printed; `missed` names those that miss theirs."""

    missed: list[str] = field(default_factory=list)

    def say(
        self, what: str, figure: float, goal: float, *, at_least: bool, digits: int = 3
    ) -> None:
        """Print a figure beside its goal."""
        if figure < goal if at_least else figure > goal:
            self.missed.append(what)
        word = "at least" if at_least else "at most"
        print(
            f"{what}: {figure:.{digits}f} (goal {word} {goal:g}{_ratio(figure, goal)})",
            flush=True,
        )

    def leave(self) -> None:
        """End with an error that names what was missed, if anything was."""
        if self.missed:
            sys.exit(f"Missed: {', '.join(self.missed)}.")


def tied_lines(goals: Goals, criteria: dict[str, Arms], *, projects: int) -> None:
    """Candidates that rank less than today's judge: how often they are proven to be better."""
    for hard in HARD:
        false = share_of_tied_proven(projects, hard=hard)
        what = f"proven where a candidate ties the outputs of {hard:.0%} of documents"
        goals.say(what, false, MOST_PROVEN, at_least=False)
    most = most_cut_off_proven(criteria, CUT_OFF_DRAWS)
    what = f"most of {CUT_OFF_DRAWS} draws in which a judge that is cut off is proven better"
    goals.say(what, most, 0, at_least=False, digits=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--projects", type=int, default=1000)
    parser.add_argument("--wordings", type=int, default=10)
    options = parser.parse_args()
    goals = Goals()
    say = goals.say
    criteria = summeval()
    drawn = draw(criteria, options.draws)
    print(f"SummEval, {TRAINING_DOCUMENTS} training documents, {options.draws} draws")
    for at, name in enumerate(criteria):
        print(
            f"  {name}: chosen {drawn.held_out[at]:.3f}, reported {drawn.reported[at]:.3f}, best"
            f" single {drawn.best_single[at]:.3f} (which seemed {drawn.naive[at]:.3f})"
        )
    say("mean rho on the other documents", drawn.held_out.mean(), LEAST_RHO, at_least=True)
    below = float((drawn.best_single - drawn.held_out).max())
    say("most below the best single judge", below, MOST_BELOW_BEST, at_least=False)
    over = float((drawn.reported - drawn.held_out).mean())
    say("reported less true", over, MOST_OVERSTATED, at_least=False, digits=4)
    naive = float((drawn.naive - drawn.best_single).mean())
    print(f"  (the best single judge's own training value less true: {naive:.4f})")

    dialogues = draw(topical_chat(), options.draws)
    print(f"Topical-Chat, {TRAINING_DOCUMENTS} training dialogues, two prompts, no goals stated")
    for at, name in enumerate(TOPICS):
        print(
            f"  {name}: chosen {dialogues.held_out[at]:.3f}, reported {dialogues.reported[at]:.3f},"
            f" best single {dialogues.best_single[at]:.3f} (which seemed {dialogues.naive[at]:.3f})"
        )

    equal = np.full(24, 0.9)
    false = share_proven(options.projects, documents=100, noise=equal, panel=False)
    say("proven where all judges are equal", false, MOST_FALSE, at_least=False)
    useless = np.array([0.9] + [1e6] * 10)
    false = share_proven(options.projects, documents=100, noise=useless, panel=True)
    say("proven where a panel adds noise only", false, MOST_FALSE, at_least=False)
    tied_lines(goals, criteria, projects=options.projects)
    # A gain of about 0.05 in rho, with 100 documents and three raters.
    gaining = np.array([0.9, 0.78])
    power = share_proven(max(1, options.projects // 4), documents=100, noise=gaining, panel=False)
    print(f"proven where another judge gains {_gain(gaining):.3f}: {power:.3f}")
    with site_with_stand_in() as base_url:
        planted = planted_outcomes(base_url, options.wordings)
        flat = flat_outcomes(base_url, options.wordings)
        fifty = cost_of_fifty(base_url)
    gained = sum(one.found - one.today for one in planted)
    possible = sum(one.planted - one.today for one in planted)
    print(f"Wordings, {len(planted)} planted projects and {len(flat)} where nothing can be gained")
    for one in planted:
        print(
            f"  locked documents: today {one.today:.3f}, found {one.found:.3f}, planted"
            f" {one.planted:.3f}, {one.calls} calls, {'proven' if one.is_proven else 'not proven'}"
        )
    say("share of the planted gain that was found", gained / possible, LEAST_GAIN, at_least=True)
    share = sum(one.is_proven for one in planted) / len(planted)
    say("share of planted gains that were proven", share, LEAST_PROVEN, at_least=True)
    most = max(one.calls for one in (*planted, *flat))
    say("most calls of a search", most, MOST_CALLS, at_least=False, digits=0)
    repeated = sum(one.repeated for one in (*planted, *flat))
    say("questions asked twice", repeated, 0, at_least=False, digits=0)
    what = f"calls of a search of {fifty.proposals} proposals"
    say(what, fifty.calls, fifty.need, at_least=False, digits=0)
    false = sum(one.is_proven for one in flat) / len(flat)
    say("proven where no wording is better", false, MOST_FALSE, at_least=False)
    goals.leave()


def _ratio(figure: float, goal: float) -> str:
    return f", ratio {figure / goal:.2f}" if goal else ""


def _gain(noise: FloatArray) -> float:
    arms, _ = simulated(np.random.default_rng(1), documents=4000, noise=noise)
    means = np.nanmean(arms.rho, axis=1)
    return float(means[1] - means[0])


if __name__ == "__main__":
    main()
