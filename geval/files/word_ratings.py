"""Ratings and scores that are written as words: which number each is, and what was read. Pure.

On a criterion whose scale names its points, words are these names. Otherwise words of two values
(`scales.PAIRS`) are 1 and 0, on a scale from 0 to 1. Only words of one pair may stand together,
without numbers other than 0 and 1, because nothing says what "yes" is among ratings from 1 to 5.
A number with its point's name ("4 - good") is the number; with the highest point ("4/5") it is one
on a scale that ends there. "1.000" is 1, or an error beside whole numbers above 100.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from geval.files.column_aliases import names_in
from geval.files.fields import (
    LABEL,
    THOUSANDS,
    not_a_number,
    point_with_name,
    shown,
    top_in,
    written_number,
)
from geval.files.rows import FileErrors, JudgeScoreRow, RatingRow, ScoreRow
from geval.statistics.scales import (
    MOST_LABELS,
    Scale,
    pair_of,
    scale_of_words,
    short,
    value_in_pair,
)
from geval.texts.sentences import listed

Rated = TypeVar("Rated", bound=ScoreRow)
NUMBERS = "numbers"
# Whole numbers above this beside "1.000" make it unclear whether that is a thousand.
HUNDREDS = 100
THOUSAND = (
    "{} beside whole numbers such as {} may be a thousand or a decimal number; write it without a"
    " separator of thousands (1000), or with other decimals (1.0)"
)
# At most this many ratings of a kind are listed as errors; once corrected, the others are.
MOST_LISTED = 1000
# A note names at most this many words of a criterion.
MOST_WORDS = 20


class WordError(ValueError):
    """A word in `column` is no rating; the message says what to write."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


@dataclass
class _Alike:
    """Ratings of a criterion that are words of one pair, or numbers: how many, and the first of
    them with their places (file, line and column)."""

    criterion: str
    total: int = 0
    listed: list[tuple[str, int, str, str]] = field(default_factory=list)

    def add(self, row: ScoreRow, file: str) -> None:
        self.total += 1
        if len(self.listed) < MOST_LISTED:
            value = shown(row.word) if row.word else short(row.score)
            self.listed.append((file, row.line, row.column, value))


# Words in the names of points of scales.
WORDS_OF_SCALES = frozenset(
    names_in(
        "agree disagree neutral strongly somewhat very good fair poor bad excellent terrible great"
        " ok okay acceptable low medium high never rarely seldom sometimes often always none minor"
        " major critical severe satisfied dissatisfied better worse best worst weak strong partial"
        " partially fully mostly"
    )
)


def remedy_of_words(count: int) -> str:
    """Return how to name so many words with an order, which only a person knows: `name them, the
    pass last: order=[…] (--order A,B,…)`."""
    end = "the pass last" if count == 2 else "from the lowest to the highest"
    return f"name them, {end}: order=[…] (--order A,B,…)"


class UnknownWords:
    """The words that are no ratings, by criterion as rows name it, and how many other ratings there
    are: where most are such words, they may be labels without an order."""

    def __init__(self) -> None:
        self._words: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._read: Counter[str] = Counter()
        self._unread: Counter[str] = Counter()
        self._may_be_labels: set[str] = set()

    def add(self, row: ScoreRow, *, is_read: bool) -> None:
        (self._read if is_read else self._unread)[row.criterion] += 1
        if not is_read and LABEL.fullmatch(row.word):
            self._may_be_labels.add(row.criterion)
        if row.word:
            self._words[row.criterion][" ".join(row.word.split())] += 1

    def scales(self) -> dict[str, Scale]:
        """Return the scale of labels of each criterion on which most ratings and scores are other
        words than those of a pair, by its lower-case name; most frequent labels first."""
        scales = {}
        for about, words in self._words.items():
            names = self._names_of(about)
            unread = words.total() - self._read[about]
            parts = {part for name in names for part in re.split(r"\W+", name.lower())}
            if parts & WORDS_OF_SCALES:
                continue  # labels with an order, which only a person knows
            if self._read[about] < unread and 2 <= len(names) <= MOST_LABELS:
                scales[about.lower()] = scale_of_words(names, is_ordered=False)
        return scales

    @property
    def remedy(self) -> str:
        """How to name the words of a criterion that have an order, or none; "" if most of its
        ratings are numbers, or words of a pair."""
        unread = [about for about in self._may_be_labels if self._read[about] < self._unread[about]]
        if not unread:
            return ""
        words = self._names_of(max(unread, key=self._unread.__getitem__))
        these = listed(words) if len(words) <= MOST_LABELS else "These words"
        return (
            f"If {these} have an order, {remedy_of_words(len(words))}. If not: labels=[…] (--labels"
            " A,B,…)."
        )

    def _names_of(self, about: str) -> list[str]:
        """Return the words of a criterion in their most frequent spelling, most frequent first."""
        names: dict[str, str] = {}
        for word, _count in self._words[about].most_common():
            names.setdefault(word.lower(), word)
        return [*names.values()]


class WordRatings:
    """Reads the words of a load or a measurement, and finds out where they are mixed."""

    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str], dict[str, _Alike]] = {}
        # Numbers such as "1.000", and a whole number above 100 beside them.
        self._thousands: dict[tuple[str, str], _Alike] = {}
        self._hundreds: dict[tuple[str, str], str] = {}
        self._tops: dict[str, tuple[float, str]] = {}

    def read(
        self, row: Rated, file: str, scale: Scale | None, unknown: UnknownWords | None = None
    ) -> Rated:
        """Return a row with its score.

        Args:
            scale: the scale of the row's criterion; None if it follows from the ratings.
            unknown: gets the word, and whether it could be read.

        Raises:
            WordError: the word is no point of the scale, or not known.
        """
        try:
            read = self._read(row, file, scale)
        except WordError:
            if unknown is not None:
                unknown.add(row, is_read=False)
            raise
        if unknown is not None:
            unknown.add(row, is_read=True)
        return read

    def _read(self, row: Rated, file: str, scale: Scale | None) -> Rated:
        judge = row.rater if isinstance(row, JudgeScoreRow) else ""
        key = (row.criterion.lower(), judge)
        if row.word and THOUSANDS.fullmatch(row.word):
            self._thousands.setdefault(key, _Alike(row.criterion)).add(row, file)
            row = replace(row, score=written_number(row.word) or 0.0, word="")
        elif row.score > HUNDREDS and row.score.is_integer():
            self._hundreds.setdefault(key, short(row.score))
        if scale and not scale.is_ordered:
            return replace(row, score=_label_of(row, scale))
        if row.word:
            self._check_top(row, file, scale)
            row = replace(row, score=_score_of(row, scale))
            kind = "" if scale and scale.labels else pair_of(row.word)
            kind = kind or (NUMBERS if row.score not in (0, 1) else "")
        else:
            # Points may be named by numbers, as where 2 is a fail and 1 a pass.
            if scale and (point := scale.point_named(short(row.score))) is not None:
                row = replace(row, score=point)
            # Among words, 1 and 0 are what the words are read as.
            kind = "" if row.score in (0, 1) else NUMBERS
        if kind:
            kinds = self._kinds.setdefault(key, {})
            alike = kinds.get(kind) or kinds.setdefault(kind, _Alike(row.criterion))
            alike.add(row, file)
        return row

    def _check_top(self, row: ScoreRow, file: str, scale: Scale | None) -> None:
        """Compare the scale that a rating such as "4/5" states with that of its criterion."""
        top = top_in(row.word)
        if top is None:
            return
        place = f"{file}:{row.line}"
        other, where = self._tops.setdefault(row.criterion.lower(), (top, place))
        if scale and scale.highest != top:
            raise WordError(
                row.column, f"{shown(row.word)} is not on {row.criterion}'s scale {scale}"
            )
        if other != top:
            raise WordError(
                row.column,
                f"{shown(row.word)} is on another scale than a rating out of {short(other)} at"
                f" {where}; bring all to one scale",
            )

    def report_mixtures(self, errors: FileErrors) -> bool:
        """Report ratings that are written in another way than most of their criterion as errors;
        return whether there are any. A judge's scores have a way of their own."""
        total = errors.total
        for (_, judge), kinds in self._kinds.items():
            usual = max(kinds, key=lambda kind: kinds[kind].total)
            alike = kinds[usual]
            file, line, _, example = alike.listed[0]
            whose = f"scores of {judge}" if judge else "ratings"
            among = f"{whose} on {alike.criterion or 'every criterion'} that are {usual}"
            message = (
                f"among {among} (such as {example} at {file}:{line}); write all"
                " as numbers on one scale, or all as words of one pair"
            )
            for kind in kinds.keys() - {usual}:
                for source, number, column, value in kinds[kind].listed:
                    errors.add(source, number, column, f"{value} {message}")
        for key in self._thousands.keys() & self._hundreds.keys():
            for source, number, column, value in self._thousands[key].listed:
                errors.add(source, number, column, THOUSAND.format(value, self._hundreds[key]))
        return errors.total > total


def _label_of(row: ScoreRow, scale: Scale) -> float:
    """Return the number of a label; a number in a file is the name of one, or its own number."""
    number = scale.point_named(row.word or short(row.score))
    if number is None and not row.word:
        number = scale.point_at(row.score)
    if number is None:
        names = ", ".join(scale.labels)
        raise WordError(
            row.column,
            f"expected one of {row.criterion or 'the'} labels ({names}), found"
            f" {shown(row.word or short(row.score))}",
        )
    return number


def _score_of(row: ScoreRow, scale: Scale | None) -> float:
    point = scale.point_named(row.word) if scale else value_in_pair(row.word)
    if point is None:
        point = point_with_name(row.word)
    if point is None and isinstance(row, JudgeScoreRow) and not (scale and scale.labels):
        point = value_in_pair(row.word)  # a judge may have a scale of its own
    if point is not None:
        return point
    if scale and scale.labels:
        names = ", ".join(scale.labels)
        raise WordError(
            row.column,
            f"expected a number or a name of a point of {row.criterion}'s scale {scale} ({names}),"
            f" found {shown(row.word)}",
        )
    if scale and value_in_pair(row.word) is not None:
        raise WordError(
            row.column,
            f"{shown(row.word)} is no point of {row.criterion}'s scale {scale}, which has no names"
            " for its points; write a number, or load the words under a criterion of their own",
        )
    raise WordError(row.column, not_a_number(row.word))


class WordNotes:
    """Which words were read as which numbers, by criterion."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._points: dict[str, dict[str, float]] = {}
        self._counts: Counter[tuple[str, str]] = Counter()

    def forget(self, criterion: str) -> None:
        """Forget the words of a criterion, by its lower-case name: they are labels, no numbers."""
        self._points.pop(criterion, None)

    def add(self, row: ScoreRow) -> None:
        criterion = row.criterion.lower()
        self._names.setdefault(criterion, row.criterion)
        self._points.setdefault(criterion, {})[" ".join(row.word.lower().split())] = row.score
        self._counts[criterion, "rating" if isinstance(row, RatingRow) else "score"] += 1

    def __iter__(self) -> Iterator[str]:
        for criterion, points in self._points.items():
            ordered = sorted(points, key=lambda word: -points[word])
            words = [f"“{word}” is {short(points[word])}" for word in ordered[:MOST_WORDS]]
            more = ["…"] if len(ordered) > MOST_WORDS else []
            ratings, scores = (self._counts[criterion, kind] for kind in ("rating", "score"))
            counts = [
                f"{count:,} {kind}{'s' if count != 1 else ''}"
                for kind, count in (("rating", ratings), ("score", scores))
                if count
            ]
            is_pair = all(value_in_pair(word) == point for word, point in points.items())
            yield (
                f"Words on {self._names[criterion] or 'every criterion'} are read as numbers"
                f"{' from 0 to 1' if ratings and is_pair else ''}:"
                f" {', '.join(words + more)} ({', '.join(counts)})."
            )
