"""Rating scales: their points, their validation, and the usual scale for given ratings. Pure."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

# The scales in common use, narrowest first; ratings without a declared scale get the first that
# contains them all.
USUAL_SCALES = (
    (0, 1),
    (1, 3),
    (1, 4),
    (1, 5),
    (0, 5),
    (1, 7),
    (1, 10),
    (0, 10),
    (0, 100),
)
# 0 to 1 in thousandths; tables and probabilities have a column per point.
MOST_POINTS = 1001
# The largest absolute value of ratings, scores and ends of scales, so that sums and squares stay
# precise.
FARTHEST = 1e9
# Steps such as 0.1 are inexact as floats.
ROUNDING = 1e-9
_YES_AND_NO = {"Yes": 1.0, "No": 0.0}
# How an answer is written that is no point: the criterion does not apply, or cannot be assessed.
NOT_APPLICABLE = "n/a"
# What a reply with that answer has in place of a point. On no scale, as it is beyond FARTHEST.
NO_POINT = -math.inf
_NO_POINTS = {NOT_APPLICABLE: NO_POINT, "not applicable": NO_POINT}
# Ratings of two values are often words: those of a pair that are read as 1, and those read as 0.
PAIRS = (
    (("yes",), ("no",)),
    (("true",), ("false",)),
    (("pass", "passed"), ("fail", "failed")),
    (("correct",), ("incorrect",)),
    (("thumbs_up", "thumbs up", "👍"), ("thumbs_down", "thumbs down", "👎")),
    (("✅", "✓", "✔"), ("❌", "✗", "✘")),
)
_IN_PAIRS = {
    word: (1.0 - at, f"{pair[0][0]} or {pair[1][0]}")
    for pair in PAIRS
    for at, words in enumerate(pair)
    for word in words
}


WORDS_IN_PAIRS = {word: value for word, (value, _pair) in _IN_PAIRS.items()}


def value_in_pair(word: str) -> float | None:
    """Return 1 or 0 for a word of `PAIRS`, ignoring case and spaces around it; None for others."""
    return _IN_PAIRS.get(word.strip().lower(), (None, ""))[0]


def pair_of(word: str) -> str:
    """Return the pair of a word, such as "yes or no"; empty if it is in none."""
    return _IN_PAIRS.get(word.strip().lower(), (None, ""))[1]


def short(number: float) -> str:
    """5.0 as "5", 2.5 as "2.5"."""
    return f"{number:g}"


# A confusion table of more cannot be read.
MOST_LABELS = 20


def scale_of_words(words: Sequence[str], *, is_ordered: bool) -> "Scale":
    """Return the scale whose points are words: from 1 upwards in their order, or labels without
    one.

    Raises:
        ValueError: there are fewer than 2 or more than MOST_LABELS, or two that are the same.
    """
    names = [word.strip() for word in words]
    if not 2 <= len(names) <= MOST_LABELS:
        raise ValueError(f"there are 2 to {MOST_LABELS} labels, not {len(names)}")
    if len({name.lower() for name in names}) < len(names) or not all(names):
        raise ValueError("two labels are the same, or one is empty")
    first = 1 if is_ordered else 0
    labels = {name: float(first + at) for at, name in enumerate(names)}
    return Scale(first, first + len(names) - 1, labels=labels, is_ordered=is_ordered)


@dataclass(frozen=True)
class Scale:
    """Ratings from `lowest` to `highest` in steps; `labels` name points by words ("Yes" -> 1.0).
    Without an order (`is_ordered`) points only stand for labels, such as kinds of failures. On a
    scale of two points the judge has to find the lowest, or the highest (`finds_highest`).
    `allows_not_applicable` says that NOT_APPLICABLE is an answer too."""

    lowest: float
    highest: float
    step: float = 1.0
    labels: Mapping[str, float] = field(default_factory=dict)
    is_ordered: bool = True
    finds_highest: bool = False
    allows_not_applicable: bool = False

    def __post_init__(self) -> None:
        # Comparisons with NaN are false, so these conditions refuse it.
        if not (self.lowest < self.highest and 0 < self.step <= 2 * FARTHEST):
            raise ValueError(f"a scale needs lowest < highest and a positive step, not {self}")
        if not (self.lowest >= -FARTHEST and self.highest <= FARTHEST):
            raise ValueError(f"a scale lies between {-FARTHEST:g} and {FARTHEST:g}, not {self}")
        if (self.highest - self.lowest) / self.step > MOST_POINTS - 1:
            raise ValueError(f"a scale has at most {MOST_POINTS} points; {self} has more")

    def __str__(self) -> str:
        return f"{short(self.lowest)}-{short(self.highest)}"

    @property
    def written(self) -> str:
        """The scale as `parsed_scale` reads it, including its step."""
        return f"{self}" if self.step == 1 else f"{self} step {short(self.step)}"

    @cached_property
    def points(self) -> tuple[float, ...]:
        """All points, in ascending order."""
        count = int((self.highest - self.lowest) / self.step + 1e-9) + 1
        return tuple(round(self.lowest + index * self.step, 9) for index in range(count))

    def spans(self, lowest: float, highest: float) -> bool:
        """Return whether values from `lowest` to `highest` are on the scale, apart from
        rounding."""
        return lowest >= self.lowest - ROUNDING and highest <= self.highest + ROUNDING

    @property
    def words(self) -> Mapping[str, float]:
        """The words that name points: the labels, or Yes and No on a scale of 0 and 1 without
        any."""
        return self.labels or (_YES_AND_NO if self.points == (0, 1) else {})

    @property
    def reply_words(self) -> Mapping[str, float]:
        """The words that a judge may answer with, and their points; NO_POINT for "n/a"."""
        return {**self.words, **_NO_POINTS} if self.allows_not_applicable else self.words

    def like(self, written: str) -> "Scale":
        """Return a scale as `parsed_scale` reads it that allows the same answers beside points."""
        return replace(parsed_scale(written), allows_not_applicable=self.allows_not_applicable)

    def point_named(self, word: str) -> float | None:
        """Return the point that a word in a file names, ignoring case and spaces around it: by a
        label, or on a scale from 0 to 1 without labels by one of `PAIRS`; None if it names none."""
        if self.labels:
            named = {label.strip().lower(): point for label, point in self.labels.items()}
            return named.get(word.strip().lower())
        return value_in_pair(word) if (self.lowest, self.highest) == (0, 1) else None

    def label_at(self, value: float) -> str:
        """Return the label that a point without an order means; "" for any other value, and on
        scales with an order."""
        if self.is_ordered:
            return ""
        return next((label for label, point in self.labels.items() if point == value), "")

    @property
    def is_pass_fail(self) -> bool:
        """Whether it has two points, of which the higher passes."""
        return self.is_ordered and len(self.points) == 2

    @property
    def is_integral(self) -> bool:
        """Whether every point is a non-negative whole number, so that digits can spell it."""
        return all(point == int(point) and point >= 0 for point in self.points)

    def holds(self, value: float) -> bool:
        """Return whether a value lies between the ends, apart from rounding (a mean need not lie on
        a point)."""
        return self.spans(value, value)

    def point_at(self, value: float) -> float | None:
        """Return the point equal to a value, or None between points and outside."""
        return next((point for point in self.points if abs(point - value) < 1e-9), None)


def names_of_points(scales: Iterable[Scale]) -> frozenset[str]:
    """Return the names of all points, in lower case."""
    return frozenset(label.lower() for scale in scales for label in scale.labels)


def parsed_scale(written: str) -> Scale:
    """Parse a scale as people write it: "1-5", "0 to 1 step 0.5".

    Raises:
        ValueError: the message says what is expected.
    """
    number = r"(-?\d+(?:\.\d+)?)"
    between = r"\s*(?:-|–|to|,)\s*"
    step = rf"(?:\s+(?:in\s+)?steps?(?:\s+of)?\s+{number})?"
    match = re.fullmatch(rf"\s*{number}{between}{number}{step}\s*", written)
    if not match:
        raise ValueError("write the lowest and the highest value, such as 1-5.")
    lowest, highest = float(match[1]), float(match[2])
    return Scale(lowest, highest, float(match[3] or 1))


def problems_of_scale(
    lowest: float,
    highest: float,
    step: float,
    labels: Mapping[str, str],
    *,
    is_ordered: bool = True,
) -> dict[str, str]:
    """Return the errors of a scale, by field; empty if it is valid.

    Args:
        labels: the names of points, by point as text ("1" -> "Yes").
    """
    try:
        scale = Scale(lowest, highest, step)
    except ValueError as error:
        return {"scale_max": str(error).capitalize() + "."}
    if not isinstance(labels, dict):
        return {"scale_labels": "Names of points must be an object such as {“1”: “Yes”}."}
    for written, label in labels.items():
        if not isinstance(label, str) or not label.strip():
            return {"scale_labels": f"The name of point {written[:40]} is not a text."}
        point = _number(written)
        if point is None or scale.point_at(point) is None:
            return {
                "scale_labels": f"“{label[:40]}” names a point that is not on the scale {scale}."
            }
    if is_ordered:
        return {}
    named = {str(label).strip().lower() for label in labels.values()}
    if not len(labels) == len(named) == len(scale.points) <= MOST_LABELS:
        return {
            "scale_labels": f"Without an order, each point of {scale} needs a name of its own, and"
            f" there are at most {MOST_LABELS}."
        }
    return {}


def usable_scale(
    lowest: float,
    highest: float,
    step: float,
    labels: Mapping[str, str],
    *,
    is_ordered: bool = True,
    allows_not_applicable: bool = False,
) -> Scale:
    """Return the scale of stored values, or a usable scale close to it if they are invalid."""
    named = labels.items() if isinstance(labels, dict) else ()
    points = {
        str(label): point for written, label in named if (point := _number(written)) is not None
    }
    try:
        return Scale(
            lowest,
            highest,
            step,
            points,
            is_ordered=is_ordered,
            allows_not_applicable=allows_not_applicable,
        )
    except ValueError:
        ends = (max(-FARTHEST, lowest), min(FARTHEST, highest))
        if not ends[0] < ends[1]:
            return Scale(1, 5)
        return Scale(*ends, step=(ends[1] - ends[0]) / 100)


def scale_of(criterion: Any) -> Scale:
    """Return the scale of a criterion's settings, as `usable_scale`; its attributes have the names
    that `CriterionFields` declares."""
    scale = usable_scale(
        criterion.scale_min,
        criterion.scale_max,
        criterion.scale_step,
        criterion.scale_labels,
        is_ordered=criterion.is_ordered,
        allows_not_applicable=criterion.allows_not_applicable,
    )
    return replace(scale, finds_highest=criterion.finds_highest)


def _number(written: str) -> float | None:
    try:
        value = float(written)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def is_number(value: float) -> bool:
    """Return whether a rating or score can be stored and used: finite, and not absurdly large."""
    return -FARTHEST <= value <= FARTHEST


def usual_scale_for(values: Iterable[float]) -> Scale:
    """Return the narrowest usual scale that contains all values, or their own range if none does.

    Raises:
        ValueError: there are no values.
    """
    low, high = min_and_max(values)
    for lowest, highest in USUAL_SCALES:
        scale = Scale(float(lowest), float(highest))
        if scale.spans(low, high):
            return scale
    top = max(high, low + 1.0)
    if top > FARTHEST:
        low, top = low - 1.0, FARTHEST
    return Scale(low, top, step=max(1.0, (top - low) / 100))


# The scales to try first; scales of three or four points are rare.
EXPECTED_SCALES = ((0, 1), (1, 5), (0, 5), (1, 7), (1, 10), (0, 10), (0, 100))
# Fewer values do not show a scale of three or four points, nor are they enough to call it known.
FEW = 20
# What programs and people write for a missing rating: negative numbers, and these.
_MISSING_CODES = frozenset((8, 9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9999))
# At most this share of the values may lie outside the scale of the others.
RARE = 0.05


# A narrow scale (by its top) is mixed with a wider one if this many times as many values lie on it
# as just above it, up to GAP times its top, and both scales have FEWEST values and the share LEAST
# of all. People who use only the ends of a scale of 100 points often give 5 and 10, so the tops 7
# and 10 need more.
_NARROW_SCALES = ((1, 3), (5, 3), (7, 5), (10, 10))
GAP, FEWEST, LEAST = 3, 10, 0.1
# The share of whole numbers among values above 1 from which those between 0 and 1 are taken for
# shares.
WHOLE = 0.95


@dataclass(frozen=True)
class ScaleGuess:
    """The likely scale of values, and the distinct values off it: a few strays, or, where two
    scales are mixed, those of the other scale."""

    scale: Scale
    off: tuple[float, ...] = ()
    is_mixed: bool = False


def likely_scale(counts: Mapping[float, int]) -> Scale:
    """Return the usual scale that values are likely to be on; their own range if none holds them.

    Few raters use every point: 2 to 4 is 1-5. A scale of three or four points is likely only if at
    least FEW values use both its ends.

    Args:
        counts: how often each value occurs.

    Raises:
        ValueError: there are no values.
    """
    narrowest = usual_scale_for(counts)
    low, high = min_and_max(counts)
    if (narrowest.lowest, narrowest.highest) not in ((1, 3), (1, 4)):
        return narrowest
    is_used = (low, high) == (narrowest.lowest, narrowest.highest)
    return narrowest if is_used and sum(counts.values()) >= FEW else Scale(1, 5)


def _missing_code(counts: Mapping[float, int]) -> float | None:
    """Return the value that may say that there is no rating: it lies apart from the others, as -1
    and 99 do from 1 to 5, and is not the end of a scale around 0. None if there is none."""
    for code in (min(counts), max(counts)):
        others = {value: count for value, count in counts.items() if value != code}
        if len(others) < 2 or counts[code] >= sum(others.values()):
            continue
        gap = min(abs(code - value) for value in others)
        is_code = (
            code == int(code) < 0 <= min(others) and -code != max(others)
            if code == min(counts)
            else code in _MISSING_CODES
        )
        if is_code and gap > 1 and not likely_scale(others).holds(code):
            return code
    return None


def guess_scale(counts: Mapping[float, int]) -> ScaleGuess:
    """Guess the scale of most values: a stray 9 among 1 to 5 does not make it 1 to 10, nor does a
    code for missing ratings, however often it occurs; where two scales are mixed, the narrower one.

    Args:
        counts: how often each value occurs.

    Raises:
        ValueError: there are no values.
    """
    if parted := parted_guess(counts):
        return parted
    # Thumbs down and up, or a vote against and for: nobody gives 0.
    if set(counts) == {-1, 1} and sum(counts.values()) >= FEW:
        return ScaleGuess(Scale(-1, 1, step=2))
    whole, total = likely_scale(counts), sum(counts.values())
    for lowest, highest in EXPECTED_SCALES:
        expected = Scale(lowest, highest)
        off = sorted(value for value in counts if not expected.holds(value))
        if not off or (total < FEW and whole.highest == highest):
            break  # among few values a 0 may be the lowest point
        if are_few(off, counts):
            inside = usual_scale_for(set(counts) - set(off))
            scale = Scale(lowest, highest) if inside.step == 1 else inside
            return ScaleGuess(scale, tuple(off))
    return ScaleGuess(whole)


def _is_far_off(value: float, scale: Scale) -> bool:
    width = scale.highest - scale.lowest
    return not scale.lowest - width <= value <= scale.highest + width


def are_few(off: Sequence[float], counts: Mapping[float, int]) -> bool:
    """Return whether some of the values are so few that they may be errors."""
    count, total = sum(counts[value] for value in off), sum(counts.values())
    # With fewer than five regular values per stray, the strays cannot be identified.
    return count <= max(1, RARE * total) and total - count >= 5 * count


def parted_guess(counts: Mapping[float, int], scale: Scale | None = None) -> ScaleGuess | None:
    """Return the guess if two scales seem to be mixed, or one value is a code for missing ratings;
    None if there seems to be one scale.

    Args:
        counts: how often each value occurs.
        scale: one that values may be on: few far off it, by more than its width, are strays. A
            judge's scores may pass its ends by a little.
    """
    narrow = narrower_scale(counts)
    if narrow is None and (code := _missing_code(counts)) is not None:
        rest = guess_scale({value: count for value, count in counts.items() if value != code})
        return ScaleGuess(rest.scale, tuple(sorted((*rest.off, code))))
    if narrow is None:
        off = [] if scale is None else sorted(v for v in counts if _is_far_off(v, scale))
        return ScaleGuess(scale, tuple(off)) if scale and off and are_few(off, counts) else None
    off = sorted(value for value in counts if not narrow.holds(value))
    return ScaleGuess(narrow, tuple(off), is_mixed=True)


def narrower_scale(counts: Mapping[float, int]) -> Scale | None:
    """Return the narrower of two scales that seem to be mixed, such as 0-1 where half of the
    ratings are on 0-100; None where values seem to be on one scale.

    Args:
        counts: how often each value occurs.
    """
    low, high = min_and_max(counts)
    total = sum(counts.values())
    if low < 0:
        return None
    whole = usual_scale_for((low, high))

    def number(above: float, most: float) -> int:
        return sum(n for value, n in counts.items() if above < value <= most + ROUNDING)

    def is_much(count: int) -> bool:
        return count >= max(FEWEST, LEAST * total)

    shares = sum(n for value, n in counts.items() if 0 < value < 1)
    others = {value: n for value, n in counts.items() if value > 1 + ROUNDING}
    points, count = (
        sum(n for value, n in others.items() if value == int(value)),
        sum(others.values()),
    )
    if is_much(shares) and is_much(count) and points >= WHOLE * count:
        return Scale(0, 1)
    for top, most in _NARROW_SCALES:
        # The lowest point of a wide scale is also on the narrow one, so it is no evidence.
        inside, above = number(whole.lowest, top), number(top, GAP * top)
        beyond = number(GAP * top, high)
        if (
            whole.highest >= 10 * top
            and is_much(inside)
            and is_much(beyond)
            and inside > most * above
            and (top > 1 or high > 10)
        ):
            return usual_scale_for(value for value in counts if value <= top + ROUNDING)
    return None


def min_and_max(values: Iterable[float]) -> tuple[float, float]:
    listed = list(values)
    if not listed:
        raise ValueError("no values")
    return min(listed), max(listed)
