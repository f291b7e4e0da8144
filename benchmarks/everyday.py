"""`make bench-everyday`: intervals and verdicts by one expert's labels, on made-up data whose truth
is known, and beside scikit-learn on real data.

An interval that says 95 % holds the truth in 93 to 97 % of data sets, and a judge that is at the
border of what is required, or that reads nothing, agrees "as required" (beside three raters or
more: stands in for one) in at most 5 %, each give or take the simulation's own error (two standard
errors). Fails are rare or not, outputs of a document
or of a group are alike, and the judge errs by document.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import geval
from benchmarks.site import BENCHMARK_DATA
from geval.statistics.arrays import Outputs
from geval.statistics.labels import label_figures
from geval.statistics.pass_fail import PassFail, pass_fail
from geval.statistics.scales import Scale
from geval.statistics.types import FloatArray
from geval.statistics.weighted_kappa import weighted_kappa

PASS_OR_FAIL = Scale(0, 1)
SETS, QUICK_SETS, VERDICT_SETS = 2_000, 400, 200
COVERS, ERRS = (0.93, 0.97), 0.05
# How alike outputs of a document are, in their labels and in the judge's errors.
ALIKE = 0.2


@dataclass(frozen=True)
class World:
    """`labels` of which a share are fails; the judge finds `found` of them and keeps `kept` of the
    passes. Documents have `outputs` each."""

    labels: int
    fails: float
    found: float
    kept: float
    outputs: int = 1

    def __str__(self) -> str:
        each = f", {self.outputs} a document" if self.outputs > 1 else ""
        return f"{self.labels} labels, {self.fails:.0%} fails{each}"

    def drawn(self, rng: np.random.Generator) -> tuple[Outputs, FloatArray, FloatArray]:
        """Return outputs, the expert's labels and the judge's, 1 for a pass."""
        documents = self.labels // self.outputs

        def share(mean: float) -> FloatArray:
            if self.outputs == 1:
                return np.full(documents, mean)
            spread = (1 - ALIKE) / ALIKE
            return rng.beta(mean * spread, (1 - mean) * spread, documents)

        def some(mean: float) -> np.ndarray:
            return rng.random((documents, self.outputs)) < share(mean)[:, None]

        fails, found, kept = some(self.fails), some(self.found), some(self.kept)
        judge = np.where(fails, ~found, kept)
        outputs = Outputs.full(documents, self.outputs)
        return outputs, (~fails).ravel().astype(float), judge.ravel().astype(float)

    def truths(self) -> dict[str, float]:
        """Return what the figures are without chance."""
        cells = np.array([
            (1 - self.fails) * self.kept, self.fails * (1 - self.found),
            (1 - self.fails) * (1 - self.kept), self.fails * self.found,
        ])  # fmt: skip
        agreed, judge, people = cells[0] + cells[3], cells[0] + cells[1], cells[0] + cells[2]
        chance = judge * people + (1 - judge) * (1 - people)
        passing = (judge + people) / 2
        by_ac1 = 2 * passing * (1 - passing)
        return {
            "sensitivity": self.found,
            "specificity": self.kept,
            "precision": cells[3] / (cells[2] + cells[3]),
            "accuracy": agreed,
            "balanced_accuracy": (self.found + self.kept) / 2,
            "kappa": (agreed - chance) / (1 - chance),
            "ac1": (agreed - by_ac1) / (1 - by_ac1),
            "rate_error": judge - people,
        }


def intervals_held(world: World, sets: int) -> dict[str, tuple[float, int]]:
    """Return the share of intervals that hold the truth, and how many there are, by figure."""
    rng, truths = np.random.default_rng(1), world.truths()
    held: dict[str, list[bool]] = {name: [] for name in truths}
    for _ in range(sets):
        outputs, people, judge = world.drawn(rng)
        passing = pass_fail(outputs, people, judge, PASS_OR_FAIL)
        assert isinstance(passing, PassFail)
        for name, share in {**passing.by_name, "rate_error": passing.rate_error}.items():
            if share.interval.ends is not None:
                low, high = share.interval.ends
                held[name].append(low <= truths[name] <= high)
    return {name: (float(np.mean(each or [0])), len(each)) for name, each in held.items()}


@dataclass(frozen=True)
class LabelWorld:
    """`labels` of shares; the judge gives the right one of each with the probability `found`, and
    otherwise any of the others. Documents have `outputs` each, whose labels and errors are
    alike."""

    count: int
    shares: tuple[float, ...]
    found: tuple[float, ...]
    outputs: int = 1

    def __str__(self) -> str:
        each = f", {self.outputs} a document" if self.outputs > 1 else ""
        return f"{self.count} labels of {len(self.shares)} kinds{each}"

    def drawn(self, rng: np.random.Generator) -> tuple[Outputs, FloatArray, FloatArray]:
        documents, kinds = self.count // self.outputs, len(self.shares)
        shares = np.tile(self.shares, (documents, 1))
        if self.outputs > 1:
            shares = rng.dirichlet(np.array(self.shares) * (1 - ALIKE) / ALIKE, documents)
        people = np.array([rng.choice(kinds, self.outputs, p=share) for share in shares]).ravel()
        wrong = (people + rng.integers(1, kinds, len(people))) % kinds
        right = rng.random(len(people)) < np.array(self.found)[people]
        judge = np.where(right, people, wrong)
        outputs = Outputs.full(documents, self.outputs)
        return outputs, people.astype(float), judge.astype(float)

    def truths(self) -> dict[str, float]:
        """Return what the figures are without chance."""
        shares, found = np.array(self.shares), np.array(self.found)
        others = (1 - found) * shares / (len(shares) - 1)
        given = found * shares + others.sum() - others
        agreed, chance = float(found @ shares), float(given @ shares)
        finds = {f"recall {at}": share for at, share in enumerate(self.found)}
        return finds | {"accuracy": agreed, "kappa": (agreed - chance) / (1 - chance)}


def held_by_labels(world: LabelWorld, sets: int) -> dict[str, tuple[float, int]]:
    """Return the share of intervals that hold the truth, and how many there are, by figure."""
    rng, truths = np.random.default_rng(4), world.truths()
    held: dict[str, list[bool]] = {name: [] for name in truths}
    for _ in range(sets):
        figures = label_figures(*world.drawn(rng), len(world.shares))
        finds = {f"recall {at}": share for at, share in enumerate(figures.recall)}
        for name, own in {**finds, "accuracy": figures.accuracy, "kappa": figures.kappa}.items():
            if own.interval.ends is not None:
                low, high = own.interval.ends
                held[name].append(low <= truths[name] <= high)
    return {name: (float(np.mean(each or [0])), len(each)) for name, each in held.items()}


def print_intervals(sets: int) -> int:
    """Print coverage by figure; return how many lines miss their goal."""
    print(f"{'intervals':48}{'figure':20}{'held':>8}{'goal':>12}{'of':>7}")
    missed = 0
    for labels, fails in ((40, 0.5), (100, 0.25), (400, 0.05), (400, 0.5), (2000, 0.05)):
        for outputs in (1, 4):
            for found, kept in ((0.8, 0.95), (0.95, 0.8)):
                world = World(labels, fails, found, kept, outputs)
                lines = intervals_held(world, sets)
                missed += print_lines(f"{world}, {found:g}/{kept:g}", lines, sets)
    for count, outputs in ((100, 1), (400, 1), (400, 4)):
        for shares, found_of in (
            ((0.5, 0.3, 0.2), (0.9, 0.8, 0.6)),
            ((0.7, 0.1, 0.1, 0.1), (0.95, 0.6, 0.6, 0.8)),
        ):
            of_labels = LabelWorld(count, shares, found_of, outputs)
            missed += print_lines(f"{of_labels}", held_by_labels(of_labels, sets), sets)
    return missed


def print_lines(what: str, lines: dict[str, tuple[float, int]], sets: int) -> int:
    """Print the coverage of figures; return how many miss their goal."""
    missed = 0
    for name, (held, count) in lines.items():
        if count < sets / 2:
            continue
        slack = 2 * np.sqrt(0.05 * 0.95 / count)
        is_missed = not COVERS[0] - slack <= held <= COVERS[1] + slack
        missed += is_missed
        mark = "  MISSED" if is_missed else ""
        print(f"{what:48}{name:20}{held:8.3f}{'0.93-0.97':>12}{count:7}{mark}")
    return missed


def rows_of(people: np.ndarray, judge: np.ndarray, **more: list[object]) -> list[dict[str, object]]:
    """Return labels as rows, with other columns."""
    columns = {"human": people.tolist(), "judge": judge.tolist()} | more
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def unreadable(rng: np.random.Generator) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """Yield judges that are not to agree as required, with a data set each."""
    for world in (
        World(100, 0.5, 0.8, 0.95), World(400, 0.25, 0.8, 0.8), World(400, 0.1, 0.95, 0.8),
        World(2000, 0.05, 0.8, 0.95), World(400, 0.25, 0.8, 0.95, 4),
    ):  # fmt: skip
        _outputs, people, judge = world.drawn(rng)
        documents: list[object] = [f"d{n // world.outputs}" for n in range(len(people))]
        systems: list[object] = [f"s{n % world.outputs}" for n in range(len(people))]
        yield f"at the border: {world}", rows_of(people, judge, doc=documents, sys=systems)
    count = 300
    documents = [f"d{n}" for n in range(count)]
    systems = [f"s{n % 2}" for n in range(count)]
    words = rng.integers(5, 100, count)
    answers: list[object] = ["word " * int(each) for each in words]
    for name, good in (
        ("always pass", np.ones(count, dtype=bool)),
        ("the length alone", words < 52),
        ("who wrote it", np.arange(count) % 2 == 0),
    ):
        share = 0.95 if name == "always pass" else 0.5
        truth = good if share == 0.5 else rng.random(count) < share
        people = np.where(rng.random(count) < 0.95, truth, ~truth).astype(float)
        judge = good.astype(float)
        yield name, rows_of(people, judge, doc=documents, sys=systems, answer=answers)
    for of_labels in (
        LabelWorld(300, (0.5, 0.3, 0.2), (0.95, 0.95, 0.6)),
        LabelWorld(400, (0.5, 0.3, 0.2), (0.95, 0.95, 0.6), 4),
        LabelWorld(300, (1 / 3,) * 3, (0.6 + 0.4 / 3,) * 3),  # a kappa of 0.60
    ):
        _outputs, people, judge = of_labels.drawn(rng)
        documents = [f"d{n // of_labels.outputs}" for n in range(len(people))]
        systems = [f"s{n % of_labels.outputs}" for n in range(len(people))]
        named = [np.array(["refund", "late", "lost"])[side.astype(int)] for side in (people, judge)]
        recalls = "/".join(f"{share:.2f}" for share in of_labels.found)
        yield f"{of_labels}, finding {recalls}", rows_of(*named, doc=documents, sys=systems)
    for count, fails, raters in ((200, 0.5, 3), (600, 0.1, 3), (200, 0.3, 5)):
        people, judge, sides = behind_raters(rng, count, fails, raters)
        behind = f"0.10 behind {raters} raters on {fails:.0%} fails of {count}"
        yield behind, rows_of(people, judge, doc=[f"d{n}" for n in range(count)], **sides)
    people, judge = border_of_kappa(rng, 400)
    yield "weighted kappa of 0.60", rows_of(people, judge, doc=[f"d{n}" for n in range(400)])


def behind_raters(
    rng: np.random.Generator, count: int, fails: float, raters: int
) -> tuple[FloatArray, FloatArray, dict[str, list[object]]]:
    """Return the labels of raters who are right on 0.94, the first apart, and those of a judge that
    is 0.10 worse on the fails as the others see them, and as good on the passes."""
    is_fail = rng.random(count) < fails

    def label(found: float) -> FloatArray:
        right = rng.random(count) < np.where(is_fail, found, 0.94)
        return np.where(right, ~is_fail, is_fail).astype(float)

    first, *others = (label(0.94) for _ in range(raters))
    columns: dict[str, list[object]] = {
        f"human_{at}": other.tolist() for at, other in enumerate(others, 2)
    }
    return first, label(0.94 - BEHIND), columns


# Less 0.10 of what most of the other raters fail, of whom a few are wrong.
BEHIND = 0.105


def border_of_kappa(rng: np.random.Generator, count: int) -> tuple[FloatArray, FloatArray]:
    """Return ratings from 1 to 5 by an expert and a judge whose weighted kappa is 0.60."""
    quality = rng.normal(size=count)
    sides = [
        np.searchsorted([-1.2, -0.4, 0.4, 1.2], quality + rng.normal(size=count) * noise) + 1.0
        for noise in (0.4, KAPPA_NOISE)
    ]
    return sides[0], sides[1]


# By which a judge of a million ratings has the weighted kappa of 0.60.
KAPPA_NOISE = 1.0


def print_verdicts(sets: int) -> int:
    """Print how often judges that should not agree as required do; return the missed lines."""
    rng = np.random.default_rng(2)
    agrees: dict[str, int] = {}
    for _ in range(sets):
        for name, rows in unreadable(rng):
            more = {"system": "sys"} if "sys" in rows[0] else {}
            people = [name for name in rows[0] if name.startswith("human")]
            result = geval.measure(rows, human=people, judge="judge", document="doc", **more)
            agrees[name] = agrees.get(name, 0) + (result.verdict in ("agrees", "stands"))
    missed = 0
    print(f"\n{'agrees as required, or stands in, wrongly':68}{'share':>8}{'goal':>8}")
    for name, count in agrees.items():
        is_missed = count / sets > ERRS + 2 * np.sqrt(ERRS * (1 - ERRS) / sets)
        missed += is_missed
        print(f"{name:68}{count / sets:8.3f}{ERRS:8.2f}{'  MISSED' if is_missed else ''}")
    return missed


def print_groups(sets: int) -> int:
    """Print how often equal groups are told apart; return the missed lines."""
    rng = np.random.default_rng(5)
    missed = 0
    print(f"\n{'equal groups told apart':68}{'share':>8}{'goal':>8}")
    for groups in (2, 5):
        named = 0
        for _ in range(sets):
            _outputs, people, judge = World(400, 0.25, 0.85, 0.9).drawn(rng)
            about: list[object] = [*rng.choice(groups, len(people))]
            rows = rows_of(people, judge, doc=[f"d{n}" for n in range(len(people))], topic=about)
            result = geval.measure(
                rows, human="human", judge="judge", document="doc", by="topic"
            ).by_field
            named += any(list(each.findings) for each in result)
        is_missed = named / sets > ERRS + 2 * np.sqrt(ERRS * (1 - ERRS) / sets)
        missed += is_missed
        print(f"{groups} topics{named / sets:68.3f}{ERRS:8.2f}{'  MISSED' if is_missed else ''}")
    return missed


def real_labels() -> Iterator[tuple[str, FloatArray, FloatArray]]:
    """Yield real people's and judges' verdicts, where the benchmarks are there."""
    for path, cut in (("summeval", 4.5), ("qags_xsum", 0.5), ("topical_chat", 0.5)):
        folder = BENCHMARK_DATA / path
        if not folder.is_dir():
            continue
        # Replies of two prompts contradict each other.
        files = sorted(file for file in folder.iterdir() if "responses" not in file.name)
        measured = geval.measure(files)
        data = measured.gathered.data
        for criterion in measured.gathered.criteria:
            people = data.humans[criterion.pk].mean
            for judge in measured.gathered.judges[:2]:
                scores = data.judges.get((criterion.pk, judge.pk))
                if scores is None:
                    continue
                both = ~np.isnan(people + scores)
                middle = float(np.median(scores[both]))
                yield (
                    f"{path}, {criterion.name}, {judge.name}",
                    (people[both] >= cut).astype(float),
                    (scores[both] >= middle).astype(float),
                )


def print_beside_sklearn() -> int:
    """Print figures of real labels beside scikit-learn's, and seconds; return the missed lines."""
    try:
        from sklearn import metrics
    except ImportError:
        print("\nscikit-learn is not installed: figures are not compared")
        return 0
    missed = 0
    print(f"\n{'beside scikit-learn':56}{'accuracy':>10}{'kappa':>8}{'balanced':>10}{'seconds':>9}")
    for name, people, judge in real_labels():
        begun = time.perf_counter()
        passing = pass_fail(Outputs.full(len(people), 1), people, judge, PASS_OR_FAIL)
        seconds = time.perf_counter() - begun
        if passing is None or passing.accuracy.estimate.value is None:
            continue
        own = [passing.by_name[key].estimate.value for key in ("accuracy", "kappa")]
        own += [passing.balanced.estimate.value]
        theirs = [
            metrics.accuracy_score(people, judge),
            metrics.cohen_kappa_score(people, judge),
            metrics.balanced_accuracy_score(people, judge),
        ]
        is_missed = not np.allclose(np.array(own, dtype=float), theirs)
        missed += is_missed
        figures = f"{own[0]:10.3f}{own[1]:8.3f}{own[2]:10.3f}{seconds:9.3f}"
        print(f"{name:56}{figures}{'  MISSED' if is_missed else ''}")
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer data sets")
    quick = parser.parse_args().quick
    people, judge = border_of_kappa(np.random.default_rng(3), 1_000_000)
    kappa = weighted_kappa(Outputs.full(len(people) // 100, 100), people, judge).estimate.value
    print(f"the border of weighted kappa: {kappa:.3f}\n")
    missed = print_intervals(QUICK_SETS if quick else SETS)
    missed += print_verdicts(VERDICT_SETS // (4 if quick else 1))
    missed += print_groups(VERDICT_SETS // (4 if quick else 1))
    missed += print_beside_sklearn()
    print(f"\n{missed} lines missed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
