"""How often the test of annotators names honest ones, and how many random, constant and copying
ones it finds within 30 overlapping items.

Honest annotators see the truth (a standard deviation of 1 over outputs) with an error of their own
(0.8) and rate on a scale of five points, on two criteria; each item has three annotators."""

from dataclasses import dataclass

import numpy as np

from geval.statistics.chance_raters import against_chance, copies

CAMPAIGNS, ANNOTATORS, ITEMS, QUESTIONS = 100, 12, 30, 2
# Up to a quarter of the people click at random.
MOST_ODD = 3


def campaign(rng: np.random.Generator, *, odd: int) -> np.ndarray:
    """Answers of `ANNOTATORS` people to `ITEMS` each, three to an item; the last `odd` of them
    answer at random. Shape (annotators, items, questions)."""
    items = ANNOTATORS * ITEMS // 3
    truth = rng.normal(size=(items, QUESTIONS))
    seen = truth + rng.normal(scale=0.8, size=(ANNOTATORS, items, QUESTIONS))
    answers = np.clip(np.round(3 + seen), 1, 5)
    answers[ANNOTATORS - odd :] = rng.integers(1, 6, size=(odd, items, QUESTIONS))
    is_theirs = np.zeros((ANNOTATORS, items), dtype=bool)
    for item in rng.permutation(items):
        # Whoever has the fewest items gets the next one, so that each has as many.
        least = np.lexsort((rng.random(ANNOTATORS), is_theirs.sum(axis=1)))[:3]
        is_theirs[least, item] = True
    answers[~is_theirs] = np.nan
    return answers


@dataclass(frozen=True)
class Found:
    """Shares of annotators whom the test names."""

    honest: float
    chance: float
    constant: float
    copied: float


def simulate(campaigns: int) -> Found:
    """The shares in so many campaigns with random annotators, and as many with a constant one and
    a copy."""
    rng = np.random.default_rng(11)
    honest, chance, constant, copied = [], [], [], []
    for _ in range(campaigns):
        odd = int(rng.integers(0, MOST_ODD + 1))
        named = [test.is_chance for test in against_chance(campaign(rng, odd=odd), rng)]
        honest += named[: ANNOTATORS - odd]
        chance += named[ANNOTATORS - odd :]
        answers = campaign(rng, odd=0)
        answers[-1] = np.where(np.isnan(answers[-1]), np.nan, 3)
        constant.append(against_chance(answers, rng)[-1].is_chance)
        answers[-1] = answers[0]
        pairs = [(copy.first, copy.second) for copy in copies(answers)]
        copied.append(pairs == [(0, ANNOTATORS - 1)])
    return Found(*(float(np.mean(named)) for named in (honest, chance, constant, copied)))
