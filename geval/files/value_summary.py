"""Count the values of a criterion in the files of a load, guess its scale, and note what a
reader should know though nothing is an error. Pure."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import numpy as np

from geval.files.questions import listed
from geval.files.rater_names import is_mean
from geval.files.rows import OutputRow, RatingRow
from geval.statistics.scales import (
    EXPECTED_SCALES,
    FEW,
    Scale,
    ScaleGuess,
    guess_scale,
    likely_scale,
    parted_guess,
    short,
    usual_scale_for,
)
from geval.statistics.types import FloatArray
from geval.texts.numbers import counted

# Means and metrics have many different values; beyond this number only their range is kept.
MOST_DIFFERENT = 1000


class ValueSummary:
    """Counts of values, and their range."""

    def __init__(self) -> None:
        self.counts: dict[float, int] = {}
        self.total = 0
        self.lowest = float("inf")
        self.highest = float("-inf")
        # The highest point of the scale, where ratings state it ("4/5").
        self.top: float | None = None

    def add(self, value: float, times: int = 1) -> None:
        self.total += times
        counts = self.counts
        if value in counts:
            counts[value] += times
            return
        if value < self.lowest:
            self.lowest = value
        if value > self.highest:
            self.highest = value
        if len(counts) < MOST_DIFFERENT:
            counts[value] = times

    def add_all(self, values: FloatArray) -> None:
        """Add values of shape (values,), in order of first occurrence."""
        _different, first, counts = np.unique(values, return_index=True, return_counts=True)
        for place in np.argsort(first).tolist():
            self.add(float(values[first[place]]), int(counts[place]))

    def extend(self, other: "ValueSummary") -> None:
        """Add the values of another collection, as far as it counted them; its range is
        complete."""
        for value, count in other.counts.items():
            if value in self.counts or len(self.counts) < MOST_DIFFERENT:
                self.counts[value] = self.counts.get(value, 0) + count
        self.total += other.total
        self.lowest = min(self.lowest, other.lowest)
        self.highest = max(self.highest, other.highest)

    @property
    def range(self) -> tuple[float, float]:
        return self.lowest, self.highest

    @property
    def are_all_counted(self) -> bool:
        return sum(self.counts.values()) == self.total


def guess_of_values(
    ratings: ValueSummary,
    scores: ValueSummary,
    every_rating: Mapping[float, int] | None = None,
    *,
    ready: Sequence[Scale] = (),
    shown: Scale | None = None,
) -> ScaleGuess:
    """Guess the scale of a criterion's ratings, or else of its scores.

    Stray values are not searched among ratings with very many different values, such as means.

    Args:
        every_rating: how often each rating occurs, where `ratings` has not counted all.
        ready: the scales of ready criteria with this name; the first that holds all values wins.
        shown: the scale that a judge's raw replies show, which holds all ratings.
    """
    seen = ratings if ratings.total else scores
    for scale in (*_ending_at(ratings.top), *ready):
        if scale.spans(*seen.range):
            return ScaleGuess(scale)
    if shown is not None:
        return ScaleGuess(shown)
    if not ratings.total:
        return ScaleGuess(likely_scale(dict.fromkeys(scores.range, FEW)))
    if ratings.are_all_counted:
        return guess_scale(ratings.counts)
    parted = parted_guess(every_rating) if every_rating else None
    return parted or ScaleGuess(usual_scale_for(ratings.range))


def _ending_at(top: float | None) -> list[Scale]:
    """Return the usual scales with this highest point, and one of its own from 0."""
    if top is None:
        return []
    ends = [*((low, high) for low, high in EXPECTED_SCALES if high == top), (0.0, top)]
    return [Scale(lowest, highest) for lowest, highest in ends if highest > lowest]


# The longest text that a cell of a spreadsheet holds.
SPREADSHEET_LIMIT = 32_767
# Scales of raters differ if one ends so many times higher, among raters with so many ratings.
SCALE_RATIO, FEWEST_RATINGS = 10, 5


class CutTexts:
    """Counts texts that a spreadsheet probably cut, by file."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, row: OutputRow, file: str) -> None:
        texts = (row.source, row.output, row.context)
        self._counts[file] += sum(len(text) == SPREADSHEET_LIMIT for text in texts)

    def __iter__(self) -> Iterator[str]:
        for file, count in self._counts.items():
            for note in note_on(
                count,
                ("text has", "texts have"),
                f"exactly {SPREADSHEET_LIMIT:,} characters, the most that a spreadsheet's cell"
                " holds, and may be cut. Load the texts from another format.",
            ):
                yield f"{file}: {note}"


def note_on(number: int, what: tuple[str, str], rest: str) -> list[str]:
    """Return a note on a number of rows or texts, in the singular and the plural; none on 0."""
    return [f"{counted(number, *what)} {rest}"] if number else []


def note_on_two_values(
    name: str, seen: ValueSummary, remedy: Callable[[float, float], str]
) -> Iterator[str]:
    """Yield a note where a criterion's ratings have two values, which may be fail and pass.

    Args:
        remedy: returns how to make the lower and the higher one so.
    """
    low, high = seen.range
    # 0 and 1 are a scale of their own, and from FEW values on -1 and 1.
    if (
        seen.total >= FEW
        and low < high
        and set(seen.counts) == {low, high}
        and not guess_scale(seen.counts).scale.is_pass_fail
    ):
        yield (
            f"All ratings on {name} are {short(low)} or {short(high)}. If one of them is a pass,"
            f" {remedy(low, high)}."
        )


class RaterNotes:
    """Notes on means among the raters, and on criteria that raters seem to rate on two scales."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], ValueSummary] = {}
        self._means: dict[str, None] = {}

    def add(self, row: RatingRow) -> None:
        self.seen_of(row.criterion, row.rater).add(row.score)
        if row.is_mean and is_mean(row.rater):
            self._means[row.rater] = None

    def seen_of(self, criterion: str, rater: str) -> ValueSummary:
        """Return the values of a rater's ratings on a criterion, for adding more."""
        key = (criterion, rater)
        return self._seen.get(key) or self._seen.setdefault(key, ValueSummary())

    def __iter__(self) -> Iterator[str]:
        if self._means:
            yield f"{listed(self._means)} is no rater but a mean, and counts where nobody rated."
        by_criterion: dict[str, dict[float, str]] = {}
        for (criterion, rater), seen in self._seen.items():
            if seen.total >= FEWEST_RATINGS and len(seen.counts) > 1:
                ends = by_criterion.setdefault(criterion, {})
                ends[usual_scale_for(seen.range).highest] = rater
        for criterion, ends in by_criterion.items():
            low, high = min(ends), max(ends)
            if high >= SCALE_RATIO * low:
                yield (
                    f"On {criterion}, ratings by “{ends[low]}” end at {low:g} and by “{ends[high]}”"
                    f" at {high:g}. If these are two scales, bring all to one."
                )


def notes_on_names(kind: str, names: Collection[str], before: Collection[str]) -> Iterator[str]:
    """Yield a note for names that differ by capitals alone, if one of them is new.

    Args:
        kind: what they name, in the plural, such as "raters".
        before: the names that existed before.
    """
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(name.casefold(), []).append(name)
    for spellings in alike.values():
        if len(spellings) > 1 and not set(spellings) <= set(before):
            yield (
                f"{listed(sorted(spellings))} differ by capitals alone and are {len(spellings)}"
                f" {kind}. If they are the same, write them alike and load the file again."
            )
