"""`make bench-policy`: how often promises of policies are broken on made-up projects whose truth is
known, and people's time that policies save on real ones.

A promise is broken in at most 5 % of projects of each kind, give or take the simulation's own error
(two standard errors): at the border of what is promised at every threshold, and where only some
thresholds keep it; where nearly all outputs are alike in people's eyes, where outputs of a document
share errors, with five raters or one, with a second judge. Where a judge knows nothing, at most as
many promise anything. On real data, people's time is compared with that of random checks that leave
as many errors, wherever the error alone is shown to be as promised.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

import geval
from benchmarks.site import BENCHMARK_DATA
from geval.improving.policy import Policy
from geval.improving.policy_question import NULL_AS_GOOD
from geval.improving.promises import losses_of, parse_promise
from geval.measuring.inputs import InputError
from geval.reports.human_scores import Rater, human_scores_of
from geval.statistics.arrays import Outputs
from geval.statistics.risk_control import Stakes, control
from geval.statistics.scales import Scale
from geval.statistics.thresholds import PROMISED_ERRORS
from geval.statistics.types import FloatArray

PROJECTS, QUICK_PROJECTS = 2_000, 200
BROKEN, SAVED = 0.05, 1.3
LOCKED_SHARE = 0.4
# A project with so many documents has the truth.
MANY = 40_000


@dataclass(frozen=True)
class World:
    """Projects of a kind. The judge errs with probability `risk` of its confidence (0 to 1), a
    second one with `second`, and `null` is the error of answers that know who wrote an output.
    Errors of a document share `shared` of their causes."""

    name: str
    documents: int
    outputs: int
    risk: Callable[[FloatArray], FloatArray]
    null: float = 0.5
    shared: float = 0.0
    second: Callable[[FloatArray], FloatArray] | None = None

    def drawn(self, rng: np.random.Generator, documents: int) -> Stakes:
        outputs = Outputs.full(documents, self.outputs)
        shape = documents, self.outputs
        common = np.sqrt(self.shared) * rng.normal(size=(documents, 1))

        def answers(risk: Callable[[FloatArray], FloatArray]) -> tuple[FloatArray, FloatArray]:
            causes = common + np.sqrt(1 - self.shared) * rng.normal(size=shape)
            sure = rng.random(shape)
            loss = special.ndtr(causes) < risk(sure)
            return sure.ravel(), loss.ravel().astype(float)

        sure, loss = answers(self.risk)
        null = (rng.random(len(outputs)) < self.null).astype(float)
        locked = is_locked(outputs, rng)
        return Stakes(
            outputs, sure, loss, null, -outputs.system.astype(float), ~locked, locked,
            PROMISED_ERRORS, answers(self.second) if self.second else None,
        )  # fmt: skip


def border(sure: FloatArray) -> FloatArray:
    return np.full(sure.shape, PROMISED_ERRORS + 0.001)


def falling(sure: FloatArray) -> FloatArray:
    return np.asarray(0.3 * (1 - sure) ** 2)


def stepping(sure: FloatArray) -> FloatArray:
    """Just broken from the middle on, and kept above it."""
    return np.where(sure > 0.7, 0.03, 0.09)


WORLDS = (
    World("border, 1 output", 500, 1, border),
    World("border, 3 outputs", 150, 3, border),
    World("border, 16 outputs, shared errors", 100, 16, border, shared=0.3),
    World("border, 4 outputs, mostly shared", 250, 4, border, shared=0.7),
    World("falling, 2 outputs", 300, 2, falling),
    World("falling, 8 outputs, shared errors", 200, 8, falling, shared=0.5),
    World("stepping, 4 outputs, shared errors", 300, 4, stepping, shared=0.3),
    World("skewed 95:5, all answers as the most", 400, 3, border, null=0.05),
    World("second judge at the border", 300, 3, stepping, second=border),
    World("two stepping judges, shared errors", 300, 4, stepping, shared=0.3, second=stepping),
    World("skewed 98:2, judge knows nothing", 400, 3, lambda sure: np.full(sure.shape, 0.02), 0.02),
)


def is_locked(outputs: Outputs, rng: np.random.Generator) -> np.ndarray:
    return np.asarray((rng.random(outputs.documents) < LOCKED_SHARE)[outputs.document])


def broken_in(world: World, projects: int) -> tuple[int, int]:
    """Return in how many projects something is promised, and in how many wrongly: broken, or with a
    judge that is no better than who wrote it."""
    rng = np.random.default_rng(1)
    truth = world.drawn(np.random.default_rng(2), MANY)
    is_null_as_good = truth.null.mean() <= truth.loss.mean() * 1.05
    made = wrong = 0
    for _ in range(projects):
        controlled = control(world.drawn(rng, world.documents), error=BROKEN)
        if controlled.proven is None:
            continue
        made += 1
        threshold = controlled.curve[controlled.proven].threshold
        at = truth.at(threshold)
        risk = at.loss[at.confidence >= min(threshold, at.confidence.max())].mean()
        wrong += bool(risk > PROMISED_ERRORS or is_null_as_good)
    return made, wrong


@dataclass(frozen=True)
class RatedWorld:
    """Projects rated by several people (or one), on a scale from 1 to 5; the judge is off by
    `noise`, and as far as one person with `people`'s."""

    name: str
    raters: int
    promise: str
    people: float
    noise: float
    skewed: bool = False

    def stakes(self, rng: np.random.Generator, documents: int) -> Stakes:
        outputs = Outputs.full(documents, 4)
        count = len(outputs)
        quality = rng.normal(5.5 if self.skewed else 3, 1, count)
        # Systems tell nothing, and the judge has no map to learn.
        seen = quality + rng.normal(0, self.people, (self.raters, count))
        output, rater = np.indices((count, self.raters)).reshape(2, -1)
        values = np.clip(np.round(seen), 1, 5)[rater, output]
        human = human_scores_of(
            output, rater, values, outputs=count,
            raters=[Rater(number + 1, f"p{number}") for number in range(self.raters)],
        )  # fmt: skip
        scores = np.clip(np.round(quality + rng.normal(0, self.noise, count)), 1, 5)
        locked = is_locked(outputs, rng)
        losses = losses_of(parse_promise(self.promise), human, scores, outputs=outputs,
                           training=~locked, scale=Scale(1, 5))  # fmt: skip
        bound = parse_promise(self.promise).bound
        return Stakes(outputs, rng.random(count), losses.loss, losses.null, losses.null_confidence,
                      ~locked, locked, bound)  # fmt: skip


RATED = (
    RatedWorld("as one person, 5 raters, farther", 5, "as one person", 0.5, 0.75),
    RatedWorld("as one person, 2 raters, farther", 2, "as one person", 0.5, 0.75),
    RatedWorld("as one person, skewed", 5, "as one person", 0.5, 0.75, skewed=True),
    RatedWorld("within 1, 5 raters", 5, "within 1", 0.5, 0.9),
    RatedWorld("within 1, 1 rater", 1, "within 1", 0.5, 0.7),
)


def rated_broken_in(world: RatedWorld, projects: int) -> tuple[int, int, float]:
    """Return in how many projects something is promised, in how many wrongly, and the true risk of
    all answers: their confidence knows nothing."""
    rng = np.random.default_rng(3)
    truth = float(np.nanmean(world.stakes(rng, MANY).loss))
    made = sum(
        control(world.stakes(rng, 80), error=BROKEN).proven is not None for _ in range(projects)
    )
    return made, made if truth > (parse_promise(world.promise).bound or 0.0) else 0, truth


def print_broken(projects: int) -> int:
    """Print how often promises are broken; return how many lines miss their goal."""
    missed = 0
    most = BROKEN + 2 * np.sqrt(BROKEN * (1 - BROKEN) / projects)
    print(f"{'promises, of ' + str(projects) + ' projects':44}{'made':>8}{'broken':>8}{'goal':>8}")
    lines = [(world.name, *broken_in(world, projects)) for world in WORLDS]
    for rated in RATED:
        made, wrong, truth = rated_broken_in(rated, projects)
        lines.append((f"{rated.name} (risk {truth:.3f})", made, wrong))
    for name, made, wrong in lines:
        is_missed = wrong / projects > most
        missed += is_missed
        mark = "  MISSED" if is_missed else ""
        print(f"{name:44}{made / projects:8.3f}{wrong / projects:8.3f}{BROKEN:8.2f}{mark}")
    return missed


def real_policies() -> Iterator[tuple[str, Policy]]:
    """Yield a policy for each judge, criterion and promise of the benchmarks that are there; scales
    are also asked about as pass or fail."""
    for name, cut in (("summeval", 4.0), ("topical_chat", 2.0), ("qags_xsum", 0.5)):
        folder = BENCHMARK_DATA / name
        if not folder.is_dir():
            continue
        files = sorted(file for file in folder.iterdir() if "no_auto_cot" not in file.name
                       and ("responses" not in file.name or name == "topical_chat")
                       and "unieval" not in file.name * (name == "topical_chat"))  # fmt: skip
        measured = geval.measure(files)
        data = measured.gathered.data
        for criterion in measured.gathered.criteria:
            human = data.humans[criterion.pk].mean
            for judge in measured.gathered.judges:
                scores = data.judges.get((criterion.pk, judge.pk))
                if scores is None or np.isnan(human + scores).all():
                    continue
                about = f"{name}, {criterion.name}, {judge.name}"
                for promise in ("as one person", "within 0.5", "within 1"):
                    try:
                        yield (f"{about}, {promise}", geval.policy(
                            measured, promise=promise, judge=judge.name, criterion=criterion.name
                        ))  # fmt: skip
                    except InputError as error:
                        print(f"{about}: {error}")
                rows = [
                    dict(zip(("doc", "sys"), data.name_of(output), strict=True))
                    | {"human": int(human[output] >= cut), "judge": scores[output]}
                    for output in np.flatnonzero(~np.isnan(human + scores))
                ]
                yield f"{about}, few false passes", geval.policy(
                    rows, promise="few false passes", human="human", judge="judge",
                    document="doc", system="sys",
                )  # fmt: skip


def time_saved(result: Policy) -> float | None:
    """Return how many times as much time random checks take as the policy, for as many errors left,
    at the largest coverage at which the error alone is shown to be as promised; None where that is
    everything, which takes nobody's time, or nothing."""
    own = [point for point in result.curve if point.confidence == "policy"]
    whole = own[-1].remaining if own else None
    shown = [
        point
        for point in own
        if point.error_high is not None and point.error_high <= PROMISED_ERRORS
    ]
    if result.promise.bound is None or not whole or not shown or shown[-1].coverage == 1:
        return None
    left = shown[-1].remaining or 0.0
    return (1 - left / whole) / (1 - shown[-1].coverage)


def print_real() -> int:
    """Print people's time on real data beside random checks; return the missed lines."""
    results = [*real_policies()]
    if not results:
        print("\nno benchmark data: people's time is not compared")
        return 0
    promised = sum(result.is_promised for _name, result in results)
    saved = {name: ratio for name, result in results if (ratio := time_saved(result)) is not None}
    print(f"\n{'time of random checks, of policies':64}{'ratio':>8}{'goal':>8}")
    for name, ratio in saved.items():
        print(f"{name:64}{ratio:8.2f}")
    blind = sum(result.reason == NULL_AS_GOOD for _name, result in results)
    print(f"{promised} of {len(results)} policies are promised; in {blind} who wrote it is as good")
    mean = float(np.mean([*saved.values()])) if saved else 0.0
    is_missed = bool(saved) and mean < SAVED
    print(f"{'on average':64}{mean:8.2f}{SAVED:8.2f}{'  MISSED' if is_missed else ''}")
    return int(is_missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer projects")
    quick = parser.parse_args().quick
    missed = print_broken(QUICK_PROJECTS if quick else PROJECTS) + print_real()
    print(f"\n{missed} lines missed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
