"""What a reader should know of loaded rows though nothing of it is an error. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator

from geval.files.questions import listed
from geval.files.rater_names import is_mean
from geval.files.rows import OutputRow, RatingRow
from geval.files.value_summary import ValueSummary
from geval.statistics.scales import usual_scale_for
from geval.texts.numbers import counted

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
