"""`make bench-people`: how often honest annotators are named, and careless ones found.

Thirty simulated campaigns, each redrawn many times, with up to half of the people clicking at
random. Honest people see an item's quality with noise; care and severity differ between them. They
take as long as reading takes, and pass nine of ten checks; who clicks takes some seconds whatever
the length, and passes checks by chance. Each figure stands beside its goal, none where nothing is
claimed. It fails where a goal is missed.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from geval.statistics.careless_signs import RaterWork, ReadingTimes, signs_of
from geval.statistics.chance_raters import against_chance
from geval.statistics.types import FloatArray

CHANCE_NAMED, SIGNS_NAMED, FOUND = 0.05, 0.02, 0.9
CAMPAIGNS, QUICK_CAMPAIGNS = 25, 2


@dataclass(frozen=True)
class Condition:
    """A campaign: `points` of the scale, `top` the share of the highest, `overlap` people for each
    item, `items` each, `random` of the `people`, `care` the spread of their noise's logarithm.
    `finds` names what has to find those who click: "chance", "signs", or neither."""

    points: int
    top: float
    overlap: int = 3
    items: int = 60
    random: float = 0.0
    people: int = 12
    care: float = 0.3
    noise: float = 0.8
    checks: int = 0
    finds: str = ""

    @property
    def clicks(self) -> int:
        return round(self.random * self.people)

    def __str__(self) -> str:
        return (
            f"{self.points:>3} points, {self.top:.0%} top, {self.items:>2} items, overlap"
            f" {self.overlap}, {self.random:.0%} random, care ±{self.care:g}, {self.checks} checks"
        )


CONDITIONS = (
    # Nobody clicks at random.
    Condition(2, 0.5, overlap=2),
    Condition(2, 0.8),
    Condition(2, 0.8, overlap=5, items=31),
    Condition(2, 0.85, overlap=5, care=0.0),
    Condition(2, 0.9),
    Condition(2, 0.9, overlap=5, noise=0.6),
    Condition(2, 0.95, overlap=5),
    Condition(3, 0.6),
    Condition(3, 0.8, overlap=5),
    Condition(5, 0.2, items=20),
    Condition(5, 0.6, care=0.0),
    Condition(5, 0.7, overlap=5, care=0.5),
    Condition(7, 0.3, overlap=2, items=30),
    Condition(101, 0.1, items=9),
    Condition(101, 0.05, overlap=5, care=0.5),
    # Some do.
    Condition(2, 0.8, random=0.25),
    Condition(2, 0.9, overlap=5, random=0.5),
    Condition(3, 0.6, overlap=5, random=0.25),
    Condition(5, 0.2, overlap=5, random=0.25, finds="chance"),
    Condition(5, 0.2, overlap=5, random=0.5, care=0.0, noise=0.6, finds="chance"),
    Condition(5, 0.6, random=0.5, items=30),
    Condition(7, 0.2, overlap=5, random=0.1, finds="chance"),
    Condition(101, 0.05, overlap=5, random=0.25, finds="chance"),
    # A crowd of few items each, with three checks.
    Condition(2, 0.5, items=12, people=40, checks=3),
    Condition(2, 0.8, items=12, people=40, checks=3, random=0.1),
    Condition(3, 0.4, items=12, people=40, checks=3, random=0.25, finds="signs"),
    Condition(5, 0.3, items=12, people=40, checks=3, random=0.1, finds="signs"),
    Condition(5, 0.3, items=12, people=40, checks=3, random=0.3, finds="signs"),
    Condition(5, 0.3, items=12, people=40, checks=3, random=0.5, finds="signs"),
    Condition(101, 0.05, items=12, people=40, checks=3, random=0.2, care=0.5, finds="signs"),
)


@dataclass(frozen=True)
class Figure:
    """A share with its goal: at most it, or at least where `is_least`; None without a goal."""

    name: str
    share: float
    goal: float | None
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        if self.goal is None:
            return True
        return self.share >= self.goal if self.is_least else self.share <= self.goal

    def __str__(self) -> str:
        text = f"    {self.name:<28}{self.share:7.1%}   "
        if self.goal is None:
            return f"{text}no goal"
        side = "at least" if self.is_least else "at most"
        missed = "" if self.is_met else "  MISSED"
        return f"{text}{side} {self.goal:.0%}   {self.share / self.goal:.2f}{missed}"


def answers_of(of: Condition, rng: np.random.Generator) -> FloatArray:
    """Draw answers, the first of the people clicking; shape (people, items, 1), NaN for missing."""
    items = of.people * of.items // of.overlap
    quality = rng.normal(size=items)
    noise = of.noise * np.exp(rng.normal(scale=of.care, size=(of.people, 1)))
    severity = rng.normal(scale=0.2, size=(of.people, 1))
    seen = quality + noise * rng.normal(size=(of.people, items)) - severity
    highest = stats.norm.isf(of.top) * np.hypot(1, of.noise)
    steps = np.linspace(-2.5 * min(1, (of.points - 1) / 3), 0, of.points - 1) + highest
    answers = np.digitize(seen, steps if of.points > 2 else [highest]).astype(float)
    answers[: of.clicks] = rng.integers(0, of.points, size=(of.clicks, items))
    left = np.full(of.people, of.items)
    for item in range(items):
        order = np.argsort(rng.random(of.people) - left)
        answers[order[of.overlap :], item] = np.nan
        left[order[: of.overlap]] -= 1
    return answers[:, :, None]


def work_of(
    of: Condition, answers: FloatArray, against: list[float], rng: np.random.Generator
) -> Iterator[RaterWork]:
    """Draw checks and times, and count equal answers, of shape (people, items)."""
    words = np.ceil(rng.lognormal(np.log(60), 0.5, size=answers.shape[1])).astype(int)
    for person, own in enumerate(answers):
        items = np.flatnonzero(~np.isnan(own))
        is_random = person < of.clicks
        reading = 3 + words[items] / 4
        seconds = (
            (4.0 if is_random else reading)
            * rng.lognormal(0, 0.35)
            * rng.lognormal(0, 0.4, size=len(items))
        )
        passes = max(0.3, 1 / of.points) if is_random else 0.9
        value, same = Counter(own[items].tolist()).most_common(1)[0]
        others = np.delete(answers[:, items], person, axis=0)
        share = float((others == value).sum() / (~np.isnan(others)).sum())
        yield RaterWork(
            len(items), of.checks, int(rng.binomial(of.checks, passes)),
            ReadingTimes.of(seconds.tolist(), words[items].tolist()), same, len(items), share,
            against[person],
        )  # fmt: skip


def figures_of(of: Condition, campaigns: int) -> list[Figure]:
    """Simulate campaigns and count who is named."""
    chance, signs = [], []
    for seed in range(campaigns):
        rng = np.random.default_rng(seed)
        answers = answers_of(of, rng)
        tests = against_chance(answers, rng)
        against = [test.against_care for test in tests]
        chance.append([test.is_chance for test in tests])
        work = list(work_of(of, answers[:, :, 0], against, rng))
        signs.append([sign.are_enough for sign in signs_of(work)])
    figures = []
    for name, goal, named in (
        ("chance", CHANCE_NAMED, np.array(chance)), ("signs", SIGNS_NAMED, np.array(signs)),
    ):  # fmt: skip
        figures.append(Figure(f"honest named by {name}", float(named[:, of.clicks :].mean()), goal))
        if of.clicks:
            least = FOUND if of.finds == name else None
            share = float(named[:, : of.clicks].mean())
            figures.append(Figure(f"random found by {name}", share, least, True))
    return figures


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="few campaigns; goals may be missed")
    is_quick = parser.parse_args(arguments).quick
    missed = 0
    for condition in CONDITIONS:
        print(condition)
        for figure in figures_of(condition, QUICK_CAMPAIGNS if is_quick else CAMPAIGNS):
            print(figure, flush=True)
            missed += not figure.is_met
    print(f"{len(CONDITIONS)} conditions, {missed} goals missed")
    return int(bool(missed) and not is_quick)


if __name__ == "__main__":
    sys.exit(main())
