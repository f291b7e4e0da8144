"""`make bench-coverage`: how often the intervals of reports hold the true value, on made-up data
whose truth is known.

Each line is 2,000 data sets (`--quick`: 400). An interval that says 95 % must hold the truth in 93
to 97 % of them, and at most 6 % of reports may claim a difference between judges that are equally
good, give or take the simulation's own error (two standard errors). Verdicts at their border are in
verdict_errors.py.

The model: an output's quality is its system's plus its own; people see it with noise, as whole
points from 1 to 5, three of them; a judge sees it with noise of its own, and how well it sees
differs by document. Three other worlds have skewed ratings, documents that differ in spread, and
raters nested in documents with missing cells.
"""

import argparse
import itertools
import sys
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy import stats

from benchmarks.verdict_errors import (
    print_best_of_many,
    print_group_errors,
    print_missing_errors,
    print_verdict_errors,
)
from geval.reports.verdicts.analysis import Significance, adjusted_together, seeded
from geval.statistics.agreement import (
    MEASUREMENTS,
    Ceiling,
    Coincidences,
    coincidences,
    human_ceiling,
)
from geval.statistics.arrays import Outputs, Ratings, complete
from geval.statistics.attenuation import Disattenuated, disattenuated
from geval.statistics.bias import (
    FamilyBias,
    LengthBias,
    PreferenceGroup,
    family_bias,
    length_bias,
    writer_bias,
)
from geval.statistics.comparisons import (
    Agreed,
    ChoiceAgreement,
    PairChoice,
    agreement_among,
    agreement_with,
)
from geval.statistics.correlation import (
    Coefficient,
    Level,
    coefficient_of,
    coefficients_by_document,
    system_means,
)
from geval.statistics.jackknife import LeftOut, correlation_interval, no_interval
from geval.statistics.pass_fail import PassFail, pass_fail
from geval.statistics.ppi import ppi_table
from geval.statistics.preferences import davidson_intervals
from geval.statistics.reliability import ChanceCorrected, gwet
from geval.statistics.resampling import Interval, Over
from geval.statistics.same_documents import on_same_documents
from geval.statistics.scales import Scale
from geval.statistics.shares import ShareEstimate
from geval.statistics.significance import PairTest, new_systems_test, permutation_tests
from geval.statistics.thresholds import SIGNIFICANCE
from geval.statistics.types import Estimate, FloatArray

VERDICTS = "verdicts at the border"
CLAIMS = "reports that claim a difference of equals"
NEW_SYSTEMS = "equals told apart on new systems"
TOLD_APART: tuple[tuple[Over, int, int, float], ...] = (
    ("documents", 30, 12, 0.5),
    ("systems", 30, 10, 0.0),
    ("systems", 30, 16, 0.5),
    ("both", 30, 10, 0.0),
    ("both", 30, 16, 0.5),
    ("both", 100, 16, 0.5),
)
NOT_KNOWN, NO_INTERVAL = Estimate.undefined("no rate"), no_interval("no rate")
DATA_SETS, QUICK = 2000, 400
RATERS = 3
Rng = np.random.Generator


@dataclass(frozen=True)
class World:
    """What stays the same between data sets: shape, and the documents or systems that are not
    drawn anew."""

    documents: int
    systems: int
    over: Over = "documents"
    seed: int = 1

    def draw(self, rng: Rng) -> tuple[Outputs, Ratings, FloatArray]:
        """Every system's output for every document, with ratings and scores."""
        fixed = np.random.default_rng(self.seed)
        of_systems = (fixed if self.over == "documents" else rng).normal(0, 0.6, self.systems)
        of_documents = fixed if self.over == "systems" else rng
        sight = of_documents.uniform(0.2, 1.0, self.documents)[:, None]
        shape = (self.documents, self.systems)
        quality = of_systems + rng.normal(0, 0.8, shape)
        ratings = np.clip(np.round(3 + quality + rng.normal(0, 0.7, (RATERS, *shape))), 1, 5)
        scores = sight * quality + rng.normal(0, 0.7, shape)
        outputs = Outputs.full(self.documents, self.systems)
        return outputs, Ratings.of_table(ratings.reshape(RATERS, -1)), scores.ravel()


class Skewed(World):
    """Most outputs are very good, and some documents are hard for all systems; scores are
    lognormal."""

    def draw(self, rng: Rng) -> tuple[Outputs, Ratings, FloatArray]:
        shape = (self.documents, self.systems)
        of_systems = np.random.default_rng(self.seed).normal(0, 0.4, self.systems)
        hardness = rng.exponential(0.6, self.documents)[:, None]
        quality = of_systems - hardness + rng.normal(0, 0.5, shape)
        ratings = np.clip(np.round(5.2 + quality + rng.normal(0, 0.5, (RATERS, *shape))), 1, 5)
        scores = np.exp(quality / 2 + rng.normal(0, 0.5, shape))
        return Outputs.full(*shape), Ratings.of_table(ratings.reshape(RATERS, -1)), scores.ravel()


class Unequal(World):
    """Outputs of some documents differ ten times as much as those of others, ratings go from 0 to
    100, and scores have heavy tails."""

    def draw(self, rng: Rng) -> tuple[Outputs, Ratings, FloatArray]:
        shape = (self.documents, self.systems)
        of_systems = np.random.default_rng(self.seed).normal(0, 0.4, self.systems)
        spread = np.exp(rng.normal(0, 0.8, self.documents))[:, None]
        quality = of_systems + spread * rng.normal(0, 0.6, shape)
        noise = np.sqrt(spread) * rng.normal(0, 0.5, (RATERS, *shape))
        ratings = np.clip(np.round(50 + 20 * (quality + noise)), 0, 100)
        scores = quality + rng.standard_t(3, shape) / 2
        return Outputs.full(*shape), Ratings.of_table(ratings.reshape(RATERS, -1)), scores.ravel()


class Nested(World):
    """Each document has three raters of twelve, who differ in how strict they are; a fifth of the
    ratings, a seventh of the outputs and a twentieth of the scores are missing."""

    def draw(self, rng: Rng) -> tuple[Outputs, Ratings, FloatArray]:
        fixed, shape = np.random.default_rng(self.seed), (self.documents, self.systems)
        of_systems, strictness = fixed.normal(0, 0.5, self.systems), fixed.normal(0, 0.5, 12)
        quality = of_systems + rng.normal(0, 0.5, (self.documents, 1)) + rng.normal(0, 0.7, shape)
        ratings = np.full((len(strictness), *shape), np.nan)
        for document in range(self.documents):
            for rater in rng.permutation(len(strictness))[:RATERS]:
                seen = 3 + quality[document] + strictness[rater] + rng.normal(0, 0.6, self.systems)
                ratings[rater, document] = np.clip(np.round(seen), 1, 5)
        ratings[rng.random(ratings.shape) < 0.2] = np.nan
        ratings[:, rng.random(shape) < 0.15] = np.nan
        scores = 0.7 * quality + rng.normal(0, 0.7, shape)
        scores[rng.random(shape) < 0.05] = np.nan
        return Outputs.full(*shape), Ratings.of_table(ratings.reshape(12, -1)), scores.ravel()


Value = Callable[[Outputs, Ratings, FloatArray], float]
Bounds = Callable[[Outputs, Ratings, FloatArray], Interval]


@dataclass(frozen=True)
class Line:
    """An interval in a world. The truth is the mean of the value over many data sets."""

    name: str
    world: World
    value: Value
    bounds: Bounds

    @property
    def title(self) -> str:
        """The name, with the world where that is not the usual one."""
        kind = type(self.world)
        return self.name if kind is World else f"{self.name}, {kind.__name__.lower()}"


def correlation_line(world: World, coefficient: Coefficient, level: Level) -> Line:
    def value(outputs: Outputs, ratings: Ratings, scores: FloatArray) -> float:
        human = ratings.means()
        if level == "summary":
            found = coefficients_by_document(outputs, human, scores, coefficient)
            return float(np.nanmean(found))
        outputs, (human, scores) = complete(outputs, human, scores)
        sides = system_means(outputs, human, scores) if level == "system" else (human, scores)
        value = coefficient_of(*sides, coefficient).value
        return np.nan if value is None else value

    def bounds(outputs: Outputs, ratings: Ratings, scores: FloatArray) -> Interval:
        return correlation_interval(
            outputs, ratings.means(), scores, coefficient, level, world.over
        )

    name = f"{coefficient}, {level} level, over {world.over}"
    return Line(name, world, value, bounds)


def lines() -> Iterator[Line]:
    for documents, systems in ((10, 6), (15, 4), (20, 3), (30, 2), (20, 16), (100, 4), (100, 16)):
        for coefficient in ("pearson", "spearman", "kendall"):
            yield correlation_line(World(documents, systems), coefficient, "summary")
    for documents, systems in ((20, 10), (100, 16), (50, 30)):
        for over in ("systems", "both"):
            world = World(documents, systems, over)
            yield correlation_line(world, "spearman", "summary")
            for coefficient in ("pearson", "spearman", "kendall"):
                yield correlation_line(world, coefficient, "system")
    for documents in (10, 50):
        for coefficient in ("pearson", "spearman", "kendall"):
            yield correlation_line(World(documents, 8), coefficient, "dataset")
    yield from comparison_lines()
    yield from davidson_lines()
    yield from bias_lines()
    yield from pass_fail_lines()
    for documents in (10, 20, 50, 100):
        yield from agreement_lines(World(documents, 8))
    for kind in (Skewed, Unequal, Nested):
        for documents in (20, 50, 100):
            world = kind(documents, 8)
            yield correlation_line(world, "spearman", "summary")
            for coefficient in ("pearson", "spearman"):
                yield correlation_line(world, coefficient, "dataset")
            yield from agreement_lines(world)
    # More documents bring more that decide: coverage must not fall with their number.
    for documents in (200, 400):
        for coefficient in ("pearson", "spearman"):
            yield correlation_line(Unequal(documents, 8), coefficient, "dataset")


def agreement_lines(world: World) -> Iterator[Line]:
    """Agreement of people, and what a judge would reach without their noise."""
    yield Line(
        "Pearson without people's noise",
        world,
        lambda *data: _known(_without_noise(*data).estimate.value),
        lambda *data: _without_noise(*data).interval,
    )
    yield Line(
        "ceiling (Spearman)",
        world,
        lambda outputs, ratings, _scores: _known(_ceiling(outputs, ratings).estimate.value),
        lambda outputs, ratings, _scores: _ceiling(outputs, ratings).interval,
    )
    for measurement in MEASUREMENTS:
        yield Line(
            f"alpha ({measurement})",
            world,
            lambda outputs, ratings, _scores, m=measurement: _known(
                _coincidences(outputs, ratings).alpha(m).value
            ),
            lambda outputs, ratings, _scores, m=measurement: _coincidences(
                outputs, ratings
            ).interval(m, LeftOut.each(outputs.documents)),
        )
    ends = (0.0, 100.0) if isinstance(world, Unequal) else (1.0, 5.0)
    for name in ("AC1", "AC2"):

        def coefficient(
            outputs: Outputs, ratings: Ratings, _scores: FloatArray, name: str = name
        ) -> ChanceCorrected:
            both = gwet(outputs, ratings, LeftOut.each(outputs.documents), ends)
            return both.ac1 if name == "AC1" else both.ac2

        # AC2 has the same meaning in all data sets with the same ends, which have an interval.
        yield Line(
            f"Gwet's {name}",
            world,
            lambda *data, of=coefficient: (
                of(*data).estimate.value if of(*data).interval.ends else np.nan
            ),
            lambda *data, of=coefficient: of(*data).interval,
        )


def _coincidences(outputs: Outputs, ratings: Ratings) -> Coincidences:
    return coincidences(outputs, ratings, LeftOut.each(outputs.documents))


def _ceiling(outputs: Outputs, ratings: Ratings) -> Ceiling:
    return human_ceiling(outputs, ratings, "spearman", LeftOut.each(outputs.documents))


def _without_noise(outputs: Outputs, ratings: Ratings, scores: FloatArray) -> Disattenuated:
    return disattenuated(outputs, ratings, scores, LeftOut.each(outputs.documents))


def bias_lines() -> Iterator[Line]:
    """Bias by length, by writer and towards the own family, and prediction-powered means."""
    first, second = np.eye(8, dtype=bool)[:2]
    for documents in (10, 20, 100):

        def by_length(outputs: Outputs, ratings: Ratings, scores: FloatArray) -> LengthBias:
            rng = np.random.default_rng(np.abs(scores[:2] * 2**40).astype(np.uint64))
            words = 100 + 20 * scores + rng.normal(0, 30, len(outputs))
            left_out = LeftOut.each(outputs.documents)
            return length_bias(outputs, ratings.means(), scores, words, left_out)

        def by_family(outputs: Outputs, ratings: Ratings, scores: FloatArray) -> FamilyBias:
            left_out = LeftOut.each(outputs.documents)
            return family_bias(outputs, ratings.means(), scores, first, ~first, left_out)

        def by_writer(
            outputs: Outputs, ratings: Ratings, scores: FloatArray
        ) -> tuple[PreferenceGroup, Interval]:
            left_out = LeftOut.each(outputs.documents)
            found = writer_bias(outputs, ratings.means(), scores, first, second, left_out)
            # With ten documents people may never prefer the model's text.
            nothing = (PreferenceGroup(np.nan, np.nan, 0), no_interval("no such pairs"))
            return found.groups.get("llm", nothing) if found else nothing

        world = World(documents, 8)
        yield Line(
            "bias by length",
            world,
            lambda *data, found=by_length: found(*data).partial.value,
            lambda *data, found=by_length: found(*data).interval,
        )
        yield Line(
            "bias towards the own family",
            world,
            lambda *data, found=by_family: found(*data).partial.value,
            lambda *data, found=by_family: found(*data).interval,
        )
        yield Line(
            "bias by writer",
            world,
            lambda *data, found=by_writer: found(*data)[0].gap,
            lambda *data, found=by_writer: found(*data)[1],
        )
    for documents, rated in ((100, 30), (100, 60), (400, 30)):

        def powered(
            outputs: Outputs, ratings: Ratings, scores: FloatArray, rated: int = rated
        ) -> Interval:
            human = np.where(outputs.document < rated, ratings.means(), np.nan)
            mean = ppi_table(outputs, human, scores).systems[0].mean
            return Interval(mean and mean.low, mean and mean.high)

        yield Line(
            f"prediction-powered mean, {rated} rated",
            World(documents, 4),
            lambda outputs, ratings, _scores: ratings.means()[outputs.system == 0].mean(),
            powered,
        )


def pass_fail_lines() -> Iterator[Line]:
    """Shares of a judge that passes and fails, and a system's corrected rate: most outputs pass,
    and documents differ in how hard they are."""

    def found(outputs: Outputs, ratings: Ratings, scores: FloatArray) -> PassFail:
        human = (ratings.means() >= 2.5).astype(float)
        passing = pass_fail(outputs, human, scores, Scale(0, 1))
        assert passing is not None
        return passing

    shares: dict[str, Callable[[PassFail], ShareEstimate]] = {
        "sensitivity": lambda passing: passing.sensitivity,
        "specificity": lambda passing: passing.specificity,
        "kappa": lambda passing: passing.kappa,
        "AC1": lambda passing: passing.ac1,
        "corrected rate": lambda passing: (
            passing.systems[0].corrected
            if passing.systems
            else ShareEstimate(NOT_KNOWN, NO_INTERVAL)
        ),
    }
    for documents, systems in ((20, 8), (50, 8), (100, 4)):
        for name, share in shares.items():
            yield Line(
                f"pass or fail: {name}",
                World(documents, systems),
                lambda *data, share=share: _known(share(found(*data)).estimate.value),
                lambda *data, share=share: share(found(*data)).interval,
            )


def comparison_lines() -> Iterator[Line]:
    """Agreement on comparisons of every two systems, by each person's points and the judge's."""
    for documents, systems in ((10, 4), (20, 3), (50, 4)):
        for who in ("people", "judge"):
            for ties in (True, False):

                def agreed(
                    outputs: Outputs,
                    ratings: Ratings,
                    scores: FloatArray,
                    who: str = who,
                    ties: bool = ties,
                ) -> Agreed:
                    tables = [outputs.table(ratings.values_of(rater)) for rater in range(RATERS)]
                    judge = outputs.table(np.round(scores)) if who == "judge" else None
                    found = _compared(np.array(tables), judge)
                    return found.with_ties if ties else found.without_ties

                yield Line(
                    f"comparisons, {who}, {'with' if ties else 'without'} ties",
                    World(documents, systems),
                    lambda *data, agreed=agreed: _known(agreed(*data).estimate.value),
                    lambda *data, agreed=agreed: agreed(*data).interval,
                )


def davidson_lines() -> Iterator[Line]:
    """The strength of a system, where three people compare the same outputs of every two."""
    for documents, systems in ((10, 4), (20, 3), (50, 4), (100, 6)):

        def strength(
            outputs: Outputs, ratings: Ratings, _scores: FloatArray
        ) -> tuple[float, Interval]:
            tables = np.array([outputs.table(ratings.values_of(rater)) for rater in range(RATERS)])
            order = np.sign(tables[..., :, None] - tables[..., None, :])
            wins, ties = (order > 0).sum(axis=0), (order == 0).sum(axis=0)
            ties[:, np.arange(outputs.systems), np.arange(outputs.systems)] = 0
            documents = LeftOut.each(outputs.documents)
            fitted, intervals = davidson_intervals(
                wins.astype(float), ties.astype(float), documents, outputs.documents
            )
            return float(fitted.strengths[0]), intervals[0]

        yield Line(
            "strength by comparisons",
            World(documents, systems),
            lambda *data, of=strength: of(*data)[0],
            lambda *data, of=strength: of(*data)[1],
        )


def _known(value: float | None) -> float:
    return np.nan if value is None else value


def _compared(ratings: FloatArray, scores: FloatArray | None) -> ChoiceAgreement:
    """The agreement of people with each other, or of a judge's scores with them."""
    _, documents, systems = ratings.shape
    pairs = list(itertools.combinations(range(systems), 2))
    choices = [
        PairChoice(
            document, (document, a, b), rater, int(np.sign(of[document, a] - of[document, b]))
        )
        for rater, of in enumerate(ratings)
        for document in range(documents)
        for a, b in pairs
    ]
    if scores is None:
        return agreement_among(choices)
    verdicts: dict[Hashable, int] = {
        (document, a, b): int(np.sign(scores[document, a] - scores[document, b]))
        for document in range(documents)
        for a, b in pairs
    }
    return agreement_with(verdicts, choices)


def measure(line: Line, data_sets: int) -> tuple[float, float, float]:
    """Coverage, the share of data sets without an interval, and the mean width."""
    truth = _truth(line, max(2 * data_sets, DATA_SETS))
    rng = np.random.default_rng(7)
    held, widths = [], []
    for _ in range(data_sets):
        found = line.bounds(*line.world.draw(rng))
        if found.low is not None and found.high is not None:
            held.append(found.low <= truth <= found.high)
            widths.append(found.high - found.low)
    return (
        float(np.mean(held)) if held else np.nan,
        1 - len(held) / data_sets,
        float(np.mean(widths)) if widths else np.nan,
    )


def false_claims(reports: int) -> float:
    """The share of reports that claim any difference between judges that are equally good: three of
    them on four criteria."""
    rng = np.random.default_rng(9)
    outputs = Outputs.full(30, 6)
    wrong = 0
    for _ in range(reports):
        wrong += any(
            p <= SIGNIFICANCE
            for one in adjusted_together([_equal_judges(outputs, rng) for _ in range(4)])
            for p in one.adjusted.values()
        )
    return wrong / reports


def told_apart(documents: int, systems: int, own: float, over: Over, data_sets: int) -> float:
    """How often two judges are told apart that are equally good over all systems there could be,
    but each favours some of them: the test over documents holds for the systems at hand alone.

    Args:
        own: the standard deviation of what a judge adds to a system's outputs.
    """
    rng = np.random.default_rng(10)
    outputs = Outputs.full(documents, systems)
    wrong = 0
    for _ in range(data_sets):
        quality = rng.normal(0, 0.7, systems) + rng.normal(0, 1, (documents, systems))
        human = np.round(quality + rng.normal(0, 0.5, quality.shape), 1).ravel()
        first, second = (
            (quality + rng.normal(0, own, systems) + rng.normal(0, 1, quality.shape)).ravel()
            for _ in range(2)
        )
        about = (outputs, human, first, second)
        found = (
            _over_documents(*about)
            if over == "documents"
            else new_systems_test(*about, "spearman", over)
        )
        wrong += found.p is not None and found.p <= SIGNIFICANCE
    return wrong / data_sets


def _over_documents(
    outputs: Outputs, human: FloatArray, first: FloatArray, second: FloatArray
) -> PairTest:
    same = on_same_documents(outputs, human, first, second, "spearman")
    (test,) = permutation_tests([same.difference], rng=seeded(), weights=[same.weight])
    return test


def _equal_judges(outputs: Outputs, rng: Rng) -> Significance:
    quality = rng.normal(0, 1, len(outputs))
    human = np.round(quality + rng.normal(0, 0.5, len(outputs)), 1)
    judges = {name: quality + rng.normal(0, 1, len(outputs)) for name in "abc"}
    tests = {
        (a, b): _over_documents(outputs, human, judges[a], judges[b])
        for a, b in itertools.combinations(judges, 2)
    }
    correlations = dict.fromkeys(judges, 0.5)
    return Significance("spearman", "documents", correlations, tests, {})


def _truth(line: Line, data_sets: int) -> float:
    """The mean value over data sets that have one; NaN where none has."""
    rng = np.random.default_rng(8)
    values = np.array([line.value(*line.world.draw(rng)) for _ in range(data_sets)])
    return float(np.mean(values[~np.isnan(values)])) if (~np.isnan(values)).any() else np.nan


def error_of(data_sets: int) -> float:
    """The simulation's own error: two standard errors of a share of 95 % of so many."""
    return 2 * float(np.sqrt(0.95 * 0.05 / data_sets))


def fits(held: float, intervals: int) -> bool:
    """Whether so many intervals of which this share holds the truth may hold it in 93 to 97 %, at
    two standard errors; exact, as some lines have few intervals."""
    count, tail = round(held * intervals), stats.norm.sf(2)
    too_few = stats.binom.cdf(count, intervals, 0.93) < tail
    too_many = stats.binom.sf(count - 1, intervals, 0.97) < tail
    return not (too_few or too_many)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="400 data sets a line")
    parser.add_argument("--only", default="", help="lines whose name contains this")
    options = parser.parse_args()
    data_sets = QUICK if options.quick else DATA_SETS
    missed = 0
    print(f"{'interval':44} {'documents':>9} {'systems':>7} {'held':>6} {'none':>6} {'width':>6}")
    for line in lines():
        if options.only not in line.name:
            continue
        held, none, width = measure(line, data_sets)
        is_right = np.isnan(held) or fits(held, round(data_sets * (1 - none)))
        missed += not is_right
        shape = f"{line.world.documents:9} {line.world.systems:7}"
        mark = "" if is_right else "  missed"
        print(f"{line.title:44} {shape} {held:6.1%} {none:6.1%} {width:6.2f}{mark}", flush=True)
    if options.only in CLAIMS:
        wrong, most = false_claims(data_sets), 0.06 + error_of(data_sets)
        missed += wrong > most
        print(f"{CLAIMS:44} {wrong:24.1%}{'  missed' if wrong > most else ''}", flush=True)
    if options.only in NEW_SYSTEMS:
        most = 0.06 + error_of(data_sets)
        for over, documents, systems, own in TOLD_APART:
            wrong = told_apart(documents, systems, own, over, data_sets)
            # Over documents the claim is about these systems, and the line shows why.
            is_missed = bool(over != "documents" and wrong > most)
            missed += is_missed
            name = f"{NEW_SYSTEMS}, over {over}"
            print(
                f"{name:44} {documents:9} {systems:7} {wrong:6.1%}{'  missed' * is_missed}",
                flush=True,
            )
    if options.only in VERDICTS:
        missed += not print_verdict_errors(data_sets)
        missed += not print_group_errors(data_sets)
        missed += not print_missing_errors(data_sets)
        missed += not print_best_of_many(data_sets)
    print(f"goal: 93 to 97 % (give or take {error_of(data_sets):.1%}); {missed} lines missed it")
    if missed:
        sys.exit(1)


if __name__ == "__main__":
    main()
