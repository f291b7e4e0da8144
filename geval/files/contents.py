"""Classify a column's values in a sample: texts, names, numbers, few values. Pure."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from geval.files.fields import FORM, is_missing, number_in, only_of
from geval.files.rater_names import words
from geval.statistics.scales import MOST_LABELS, pair_of

Rows = Sequence[Mapping[str, Any]]
# Names of systems and people are shorter and have fewer words than sentences.
LONG_TEXT = 30
LEAST_WORDS = 4
LONGEST_NAME = 100
# Longer texts may have been cut for a preview, and then look the same.
CUT_CHARACTERS = 2000
# Most scales end at 10 or below; columns of higher numbers are often counts or years.
HIGHEST_RATING = 10
# 0 to 100 in steps of 5; numbers with more distinct values may be measurements.
MOST_POINTS_OF_PERCENT = 21
# The rest may be typing errors and remarks.
MOSTLY = 0.8
# Columns of small numbers that are not ratings, whatever their values.
NOT_RATINGS = words(
    """
    age alter batch birth block born clicks cluster condition conf confidence count dauer duration
    education epoch fold gender group hour id idx income index iteration k laenge lange length line
    minuten minutes n nr num number nummer order page payment percentile position rank raw round row
    rt run seconds seed seite sentences session split step temperature time timing tokens trial turn
    version weight words year years jahr jahre zeit agreement alpha delta diff kappa max min sd
    stderr std stdev var variance z
    """
)


def may_be_rated(name: str) -> bool:
    """Return whether a column's name allows ratings: not a count, an index, a time or a person's
    age."""
    return NOT_RATINGS.isdisjoint(re.split(r"[\s_\-./:()]+", name.lower()))


@dataclass(frozen=True)
class ColumnContent:
    """A column in a sample of rows."""

    name: str
    values: tuple[str, ...]

    @cached_property
    def filled(self) -> list[str]:
        return [value for value in self.values if value]

    @cached_property
    def mean_length(self) -> float:
        filled = self.filled
        return sum(map(len, filled)) / len(filled) if filled else 0.0

    @cached_property
    def is_text(self) -> bool:
        """Whether the values are sentences rather than names: long with spaces, or of several
        words."""
        filled = self.filled
        counts = [len(value.split()) for value in filled]
        if 2 * sum(count > 1 for count in counts) < len(filled) or not filled:
            return False
        return self.mean_length >= LONG_TEXT or sum(counts) >= LEAST_WORDS * len(filled)

    @cached_property
    def may_be_cut(self) -> bool:
        """Whether values are so long that the rest may have been cut."""
        return any(2 * len(value) > CUT_CHARACTERS for value in self.values)

    @cached_property
    def asks(self) -> bool:
        """Whether most of its texts are questions."""
        filled = self.filled
        return 2 * sum(value.rstrip().endswith("?") for value in filled) > len(filled)

    @cached_property
    def is_name(self) -> bool:
        """Whether all values are short, so that they may be names."""
        filled = self.filled
        return bool(filled) and all(
            len(value) <= LONGEST_NAME and "\n" not in value for value in filled
        )

    @cached_property
    def share_of_numbers(self) -> float:
        """The share of numbers among the values that say something."""
        values = [value for value in self.filled if not is_missing(value)]
        return sum(number_in(cell) is not None for cell in values) / len(values) if values else 0.0

    @cached_property
    def numbers(self) -> list[float]:
        """The values that are numbers."""
        return [number for cell in self.filled if (number := number_in(cell)) is not None]

    @cached_property
    def counts_rows(self) -> bool:
        """Whether the values number the rows."""
        numbers = sorted(self.numbers)
        return len(numbers) == len(self.filled) > 3 and numbers == [
            numbers[0] + step for step in range(len(numbers))
        ]

    @cached_property
    def may_be_scores(self) -> bool:
        """Whether the values are different numbers on any scale, not counts or years; a few may be
        errors."""
        is_varied = len(set(self.numbers)) > 1 and not self.counts_rows
        return is_varied and self.share_of_numbers >= MOSTLY and may_be_rated(self.name)

    @cached_property
    def is_of_pair(self) -> bool:
        """Whether the values are words of one pair, such as pass and fail; a few may be errors."""
        values = [value for value in self.filled if not is_missing(value)]
        pairs = Counter(pair for value in values if (pair := pair_of(value)))
        return bool(pairs) and max(pairs.values()) >= MOSTLY * len(values)

    @cached_property
    def is_of_labels(self) -> bool:
        """Whether the values are a few short words that recur, such as kinds of failures."""
        return self.may_be_labels and len({value.lower() for value in self.filled}) > 1

    @cached_property
    def may_be_labels(self) -> bool:
        """The same, or a single word, which a judge may always give."""
        values = [value.lower() for value in self.filled if not is_missing(value)]
        return (
            self.is_name
            and not self.is_text
            and not self.numbers
            and 1 <= len(set(values)) <= MOST_LABELS
            and len(values) >= 2 * len(set(values))
        )

    @property
    def may_be_answers(self) -> bool:
        """Whether the values may be a person's or a judge's: words of a pair, ratings, labels."""
        return self.is_of_pair or self.is_rating_like or self.may_be_labels

    @cached_property
    def is_of_replies(self) -> bool:
        """Whether the values are a judge's replies with a form, such as "Score: 4"."""
        replies = sum(FORM.search(value) is not None for value in self.filled)
        return bool(replies) and replies >= MOSTLY * len(self.filled)

    @cached_property
    def is_rating_like(self) -> bool:
        """Whether the values are numbers on a common scale, not counts or years; a few may be
        errors."""
        return self.share_of_numbers >= MOSTLY and may_be_rated(self.name) and self.is_on_a_scale

    @cached_property
    def is_on_a_scale(self) -> bool:
        """Whether its numbers are on a common scale, and few of them distinct."""
        numbers = self.numbers
        if not numbers or self.counts_rows:
            return False
        # A few values may be outside because of typing errors.
        within = [value for value in numbers if abs(value) <= HIGHEST_RATING]
        if 10 * len(within) >= 9 * len(numbers) or len(within) >= len(numbers) - 1 > 2:
            return True
        within = [value for value in numbers if 0 <= value <= 100]
        return len(within) == len(numbers) and len(set(numbers)) <= MOST_POINTS_OF_PERCENT


def contents_of(names: Sequence[str], rows: Rows) -> dict[str, ColumnContent]:
    """Return the columns with plain values; those with lists and objects are left out."""
    contents = {}
    for name in names:
        values = [only_of(row.get(name)) for row in rows]
        if not any(isinstance(value, dict | list) for value in values):
            written = tuple("" if value is None else str(value).strip() for value in values)
            contents[name] = ColumnContent(name, written)
    return contents


def decides(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Return whether equal values of the first always have equal values of the second."""
    seen: dict[Any, Any] = {}
    return all(
        seen.setdefault(value, other) == other for value, other in zip(first, second, strict=True)
    )
