"""The numbers of the page of gaps between a judge and people, and what large gaps have in common,
in words: systems, raters, words of the sources, lengths.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.data import ReportData
from geval.reports.drawings.forest import Axis, AxisSpan, Tick, round_numbers, ticks_at
from geval.reports.gaps import Gaps, strongest
from geval.statistics.cache import remembered
from geval.statistics.correlation import mean_by_document
from geval.statistics.large_gaps import Cluster, Group, MeanGap, find_clusters, gaps_by_length
from geval.statistics.scales import short
from geval.statistics.thresholds import GAP_LARGE, GAP_OUTPUTS
from geval.statistics.types import IntArray
from geval.texts.numbers import p_value, signed, two_decimals

# A mask for each group takes a byte per output.
MOST_SYSTEMS = 200
MOST_RATERS = 50
# How many documents without a large gap are read, in addition to all with one. Shares of documents
# with a word are compared, so that neither the number nor the choice biases the test.
MOST_OTHERS = 300
NO_TREND = "The gap by length"
# Returns for each word the documents that contain it, among those with these ids.
TopicWords = Callable[[Collection[int]], Mapping[str, Collection[int]]]
# How many outputs are listed of a large project.
MOST_LISTED = 10_000


@dataclass(frozen=True)
class Pattern:
    """A cluster in words; `system` is the id of its system, else 0."""

    title: str
    text: str
    system: int = 0
    without: str = ""


@dataclass(frozen=True)
class LengthRow:
    """Outputs of similar length in the drawing of gaps."""

    words: str
    gap: str
    outputs: int
    dot: str
    span: AxisSpan | None
    y: int


@dataclass(frozen=True)
class LengthDrawing:
    """Mean gaps by length; `title` states the finding where there is one."""

    title: str
    rows: tuple[LengthRow, ...]
    ticks: tuple[Tick, ...]
    zero: str
    said: str

    @property
    def height(self) -> int:
        return 22 * len(self.rows) + 24

    @property
    def foot(self) -> int:
        return self.height - 8


@dataclass(frozen=True)
class Patterns:
    """All patterns of the large gaps; `why_not` says why none are searched."""

    large: int
    found: tuple[Pattern, ...]
    why_not: str
    by_length: LengthDrawing | None


@dataclass(frozen=True, eq=False)
class GapNumbers:
    """The page's numbers for a judge on a criterion (both 0 where there is none), from the scores
    of a run (0: the newest).

    `criteria` are those that have a judge, `judges` those with scores on this one. `outputs` counts
    those with a gap, of which `gaps` may hold only the largest; `data` has the data for these.
    `sample` says which outputs the numbers describe, if not all equally; `rho` is Spearman's rho,
    averaged over documents.
    """

    criterion: int
    judge: int
    run: int
    criteria: tuple[int, ...]
    judges: tuple[int, ...]
    data: ReportData
    gaps: Gaps | None = None
    outputs: int = 0
    large: int = 0
    shift: str = ""
    patterns: Patterns | None = None
    sample: tuple[str, ...] = ()
    rho: float | None = None


def rated_outputs(numbers: GapNumbers, output_ids: Collection[int]) -> dict[int, float]:
    """Return people's ratings of outputs that have a gap, by id; others are left out."""
    if numbers.gaps is None:
        return {}
    gaps = numbers.gaps
    ids = numbers.data.output_ids[gaps.at]
    places = np.flatnonzero(np.isin(ids, np.fromiter(output_ids, dtype=np.int64)))
    return dict(zip(ids[places].tolist(), gaps.people[places].tolist(), strict=True))


def largest_gaps(numbers: GapNumbers) -> GapNumbers:
    """Return what a worker stores for a large project: only the largest gaps."""
    if numbers.gaps is None:
        return replace(numbers, data=numbers.data.only(np.zeros(len(numbers.data.outputs), bool)))
    wanted = {
        key: scores
        for key, scores in numbers.data.judges.items()
        if key[0] == numbers.criterion or key[1] == numbers.judge
    }
    few, gaps = strongest(replace(numbers.data, judges=wanted), numbers.gaps, MOST_LISTED)
    return replace(numbers, data=few, gaps=gaps)


def rho_on(data: ReportData, criterion: int, judge: int) -> float | None:
    """Spearman's rho of a judge with people, averaged over documents; None where undefined."""
    scores = data.judges.get((criterion, judge))
    if scores is None:
        return None
    human = data.humans[criterion].mean
    rho = float(remembered(mean_by_document, data.units_on(criterion), human, scores))
    return None if np.isnan(rho) else rho


def shift_in_words(gaps: Gaps) -> str:
    """Return by how much the judge is stricter or milder than people, where that is clear."""
    if gaps.shift is None or gaps.mapped or not gaps.shift.is_clear:
        return ""
    word = "strict" if gaps.shift.mean < 0 else "mild"
    return f"{word} by {short(round(abs(gaps.shift.mean), 2))}"


def no_words(_documents: Collection[int]) -> Mapping[str, Collection[int]]:
    """Use no words of sources."""
    return {}


def patterns_of(
    data: ReportData, gaps: Gaps, criterion: int, topic_words: TopicWords = no_words
) -> Patterns:
    """Find what a judge's large gaps on a criterion have in common."""
    large = int(gaps.large.sum())
    words = data.words[gaps.at]
    with_lengths = not np.isnan(words).any()
    # Without texts all outputs have the same length, which cannot explain gaps.
    words = words if with_lengths else np.zeros(len(words))
    clusters: tuple[Cluster, ...] = ()
    if large:
        groups = list(_groups(data, gaps, criterion, topic_words))
        clusters = find_clusters(gaps.outputs, gaps.large, groups, words)
    patterns = tuple(_pattern(cluster, data, gaps) for cluster in clusters)
    return Patterns(large, patterns, _why_not(gaps), length_drawing(gaps, words, clusters))


def _why_not(gaps: Gaps) -> str:
    if len(gaps.at) < GAP_OUTPUTS:
        return (
            f"Patterns are looked for from {GAP_OUTPUTS} outputs with ratings and scores;"
            f" there are {len(gaps.at)}."
        )
    if not gaps.large.any():
        return (
            "No gaps stand out: too many outputs are equally far apart, or fewer than"
            f" {GAP_LARGE} are apart at all."
        )
    return ""


def documents_read(large: IntArray, others: IntArray) -> IntArray:
    """Return the ids of documents whose words are compared: those with a large gap, and some
    others, evenly spaced."""
    step = max(1, -(-len(others) // MOST_OTHERS))
    return np.sort(np.concatenate([large, others[::step]]))


def _groups(
    data: ReportData, gaps: Gaps, criterion: int, topic_words: TopicWords
) -> Iterator[Group]:
    outputs = gaps.outputs
    counts = np.bincount(outputs.system, minlength=outputs.systems)
    for system in np.argsort(-counts, kind="stable")[:MOST_SYSTEMS].tolist():
        yield Group("system", str(system), outputs.system == system)
    human = data.humans[criterion]
    each = np.bincount(human.ratings.rater, minlength=len(human.annotators))
    for rater in np.argsort(-each, kind="stable")[:MOST_RATERS].tolist():
        rated = np.zeros(len(data.outputs), dtype=bool)
        rated[human.ratings.of(rater)[0]] = True
        yield Group("rater", human.annotators[rater], rated[gaps.at])
    with_large = outputs.documents_with(gaps.large)
    rest = outputs.documents_with() & ~with_large
    ids = data.document_ids
    read = documents_read(ids[with_large], ids[rest])
    were_read = np.isin(ids, read)[outputs.document]
    for word, having in topic_words(read.tolist()).items():
        has = np.isin(ids, np.fromiter(having, dtype=np.int64))
        yield Group("word", word, has[outputs.document], were_read)


def _pattern(cluster: Cluster, data: ReportData, gaps: Gaps) -> Pattern:
    chance = f"adjusted p {p_value(cluster.adjusted)}"
    inside, members = f"{cluster.inside:.0f}", f"{cluster.members:.0f}"
    share = 100 * cluster.members / cluster.total
    if cluster.kind == "length":
        shorter = "Shorter" if cluster.inside < cluster.members else "Longer"
        return Pattern(
            f"{shorter} outputs have the large gaps",
            f"Median {inside} words, of the others {members} ({chance}).",
        )
    if cluster.kind == "rater":
        return Pattern(
            f"{cluster.name} rated {inside} of the {cluster.large} {_units(cluster)}",
            f"Of all {cluster.total} {cluster.over}, {cluster.name} rated {share:.0f} %"
            f" ({chance}).",
        )
    if cluster.kind == "word":
        return Pattern(
            f"“{cluster.name}” is in the sources of {inside} of {cluster.large} documents with"
            " large gaps",
            f"It is in {share:.0f} % of the {cluster.total} documents compared ({chance}).",
        )
    system = int(cluster.name)
    name = data.system_names[system]
    return Pattern(
        f"{inside} of the {cluster.large} {_units(cluster)} are by {name}",
        f"{_system_gaps(gaps, system, name)} By chance it would have about"
        f" {cluster.large * cluster.members / cluster.total:.0f} ({chance}).",
        int(data.system_ids[system]),
        _without(gaps, system),
    )


def _units(cluster: Cluster) -> str:
    return "largest gaps" if cluster.over == "outputs" else "documents with large gaps"


def _system_gaps(gaps: Gaps, system: int, name: str) -> str:
    of_system = gaps.outputs.system == system
    others = len(np.unique(gaps.outputs.system[~of_system]))
    if not others:
        return ""
    own, rest = (gaps.outputs.part(side).mean(gaps.gap[side]) for side in (of_system, ~of_system))
    return (
        f"The judge gives {name} {more_or_less(own)} than people, and the other {others} system"
        f"{'s' if others > 1 else ''} {more_or_less(rest)}."
    )


def more_or_less(gap: float) -> str:
    """Return a difference in words: 0.7 as "0.70 more"."""
    return f"{abs(gap):.2f} {'more' if gap >= 0 else 'less'}"


def _without(gaps: Gaps, system: int) -> str:
    """Return the judge's rho without a system, and with it."""
    kept = gaps.outputs.system != system
    rest = remembered(
        mean_by_document, gaps.outputs.part(kept), gaps.people[kept], gaps.scores[kept]
    )
    whole = remembered(mean_by_document, gaps.outputs, gaps.people, gaps.scores)
    if np.isnan(rest) or np.isnan(whole):
        return ""
    return f"rho is {two_decimals(rest)} instead of {two_decimals(whole)}"


def length_drawing(
    gaps: Gaps, words: np.ndarray, clusters: tuple[Cluster, ...]
) -> LengthDrawing | None:
    """Return mean gaps by length; None if there are too few outputs."""
    if len(gaps.at) < GAP_OUTPUTS:
        return None
    bins = remembered(gaps_by_length, gaps.outputs, gaps.gap, words)
    if len(bins) < 2:
        return None
    ends = [end for bin_ in bins for end in (bin_.gap.mean, *(bin_.gap.interval.ends or ()))]
    axis = _axis(min(0.0, *ends), max(0.0, *ends))
    rows = tuple(
        LengthRow(
            f"{bin_.shortest} to {bin_.longest}"
            if bin_.longest > bin_.shortest
            else f"{bin_.longest}",
            signed(bin_.gap.mean),
            bin_.gap.outputs,
            axis.at(bin_.gap.mean),
            _span(axis, bin_.gap),
            22 * index + 13,
        )
        for index, bin_ in enumerate(bins)
    )
    is_found = any(cluster.kind == "length" for cluster in clusters)
    ticks = ticks_at(axis, round_numbers(ends))
    return LengthDrawing(
        _title([bin_.gap.mean for bin_ in bins]) if is_found else NO_TREND,
        rows,
        ticks,
        axis.at(0.0),
        "; ".join(f"{row.words} words: {row.gap}" for row in rows),
    )


def _title(means: list[float]) -> str:
    """Return the finding if the gap falls or rises from each length to the next."""
    if means == sorted(means):
        return "The shorter the output, the lower the judge"
    if means == sorted(means, reverse=True):
        return "The longer the output, the lower the judge"
    return NO_TREND


def _axis(low: float, high: float) -> Axis:
    """Return the axis, leaving room for labels on the left (24 %) and numbers on the right (66 to
    100 %)."""
    width = (high - low) / 0.40 or 1.0
    return Axis(low - 0.26 * width, low + 0.74 * width)


def _span(axis: Axis, gap: MeanGap) -> AxisSpan | None:
    return axis.span(*gap.interval.ends) if gap.interval.ends else None
