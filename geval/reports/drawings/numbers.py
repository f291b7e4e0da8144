"""The numbers of a criterion's figures for all its judges, which a worker stores for large projects
and from which figures are drawn for the chosen judge. Pure data."""

from dataclasses import dataclass

# If there are more annotators or judges, those with most ratings or scores are compared.
MOST_SIDES = 8


@dataclass(frozen=True)
class ForestLine:
    """A judge, or one rater, in the forest. `kind` is "rater", "judge", "baseline" (scores on
    another scale) or "null" (reads nothing); `pk` is the judge's, 0 for others; `low` and `high`
    are the 95 % interval, `outputs` how many outputs count; `reason` says why something is
    undefined."""

    name: str
    pk: int
    kind: str
    value: float | None
    low: float | None
    high: float | None
    reason: str
    outputs: int


@dataclass(frozen=True)
class Bubble:
    """Outputs with the same human mean and score, or for continuous values in the same hexagon
    (then its centre); `members` are the ids of the first ones."""

    human: float
    score: float
    outputs: int
    members: tuple[int, ...]


@dataclass(frozen=True)
class Tally:
    """How many outputs have a value, or a value in the range around it."""

    value: float
    outputs: int


@dataclass(frozen=True)
class Calibrated:
    """People's mean rating of outputs with similar scores; `low` and `high` are the 95 %
    interval."""

    score: float
    rating: float
    low: float | None
    high: float | None
    outputs: int


@dataclass(frozen=True)
class SystemMeans:
    """A system's mean by people and by a judge, over the outputs that both rated."""

    system: str
    human: float
    judge: float


@dataclass(frozen=True)
class JudgeNumbers:
    """A judge's numbers. `correlation` is in the view of the report, with its interval;
    `half_width` is of the summary-level interval over the `documents` that enter it, None without
    an interval; `gap` is its mean score minus people's on the common outputs; `seen` is a sentence
    about which of these its search has seen, empty for none; `tile` has the distances of columns
    and rows of hexagons, None where bubbles are circles; `human_tallies` and `tallies` are of human
    scores and of its scores, over the common outputs."""

    pk: int
    name: str
    on_scale: bool
    correlation: str
    outputs: int
    gap: float
    seen: str
    bubbles: tuple[Bubble, ...]
    calibration: tuple[Calibrated, ...]
    systems: tuple[SystemMeans, ...]
    documents: int
    half_width: float | None
    tile: tuple[float, float] | None
    human_tallies: tuple[Tally, ...]
    tallies: tuple[Tally, ...]


@dataclass(frozen=True)
class CriterionNumbers:
    """A criterion's numbers. `sides` are judges and annotators, `pairs[i][j]` the summary-level rho
    of two, None where undefined; `people` says which are annotators; `human_label` names the human
    score; `forest` has one rater first, then judges, the best first, `bar` is the lowest value that
    counts as close to one rater, and `measure` names the measure; `is_weighted` says whether
    outputs are weighted, and `freedom` is the share of degrees of freedom that then remains."""

    pk: int
    name: str
    lowest: float
    highest: float
    documents: int
    judges: tuple[JudgeNumbers, ...]
    best: int
    sides: tuple[str, ...]
    people: tuple[bool, ...]
    human_label: str
    pairs: tuple[tuple[float | None, ...], ...]
    measure: str
    forest: tuple[ForestLine, ...]
    bar: float | None
    is_weighted: bool = False
    freedom: float = 1.0

    def judge(self, pk: int | None) -> JudgeNumbers:
        """Return the requested judge, or the best."""
        by_pk = {judge.pk: judge for judge in self.judges}
        return by_pk.get(pk or self.best) or self.judges[0]
