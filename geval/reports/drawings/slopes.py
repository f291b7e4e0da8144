"""A slope chart: systems in people's order and in a judge's, joined by lines."""

from itertools import combinations

import numpy as np

from geval.reports.drawings.numbers import CriterionNumbers, JudgeNumbers, SystemMeans
from geval.reports.drawings.shapes import (
    JUDGE,
    PEOPLE,
    WIDTH,
    Dot,
    Drawing,
    Line,
    Shape,
    Words,
    fitting,
    ordinal,
    width_of,
)
from geval.texts.numbers import counted, two_decimals

# More systems would not fit on a printed page.
MOST_SYSTEMS = 40
STEP, HEAD = 15.0, 30.0
# The least width of the lines between the orders, as a share of the figure's.
LEAST_SLOPE = 0.2
GAP = 8.0
MOST_NAMED = 2
PEOPLES = "people's order"
# A system with its ranks by people and by the judge.
Placed = tuple[SystemMeans, int, int]


def slopes(numbers: CriterionNumbers, judge: JudgeNumbers, width: float = WIDTH) -> Drawing:
    """Return the drawing; equal means share a rank, as in competitions."""
    people = _places([system.human for system in judge.systems])
    judged = _places([system.judge for system in judge.systems])
    rows = list(zip(judge.systems, people, judged, strict=True))
    rows.sort(key=lambda row: (row[1], row[0].system))
    shown = rows[:MOST_SYSTEMS]
    moved = _moved(rows)
    longest = max(width_of(f"{row[0].system} 0.00", is_bold=True) for row in shown)
    label = "'s order"
    longest = max(longest, width_of(PEOPLES), width_of(f"{judge.name}{label}"))
    begin = min((1 - LEAST_SLOPE) / 2 * width, longest + GAP)
    end = width - begin
    name = fitting(judge.name, begin - GAP - width_of(label))
    shapes: list[Shape] = [
        Words(begin - GAP, 12, PEOPLES, PEOPLE, "end"),
        Words(end + GAP, 12, f"{name}{label}", JUDGE),
    ]
    right = _lines([(row[2], index) for index, row in enumerate(shown)])
    # The systems that moved most are drawn over the others.
    for left, row in sorted(enumerate(shown), key=lambda pair: pair[1][0].system in moved):
        places = HEAD + left * STEP, HEAD + right[left] * STEP
        shapes.extend(_slope(row, places, (begin, end), moved))
    some = "" if len(shown) == len(rows) else f" People's best {len(shown)} of {len(rows)}."
    return Drawing(
        kind="systems",
        title=_finding(rows, moved, judge.name),
        caption=(
            f"{numbers.name}: systems by their mean human score (left) and by {judge.name}'s mean"
            f" score (right), over the outputs that both rated, the best on top.{some}"
        ),
        height=HEAD + len(shown) * STEP,
        shapes=tuple(shapes),
        columns=("system", "place by people", "human score", "place by the judge", "judge's mean"),
        rows=tuple(
            (
                point.system,
                str(first),
                two_decimals(point.human),
                str(second),
                two_decimals(point.judge),
            )
            for point, first, second in rows
        ),
        width=width,
    )


def _slope(
    row: Placed, places: tuple[float, float], sides: tuple[float, float], moved: list[str]
) -> list[Shape]:
    system, first, second = row
    (left, right), (begin, end) = places, sides
    is_moved = system.system in moved
    role, width = ("ink", 1.8) if is_moved else ("axis", 0.8)
    name = fitting(system.system, begin - GAP - width_of(" 0.00", is_bold=True), is_bold=is_moved)
    hints = (
        f"{system.system}: {ordinal(first)} by people, mean {two_decimals(system.human)}",
        f"{system.system}: {ordinal(second)} by the judge, mean {two_decimals(system.judge)}",
    )
    return [
        Line(begin, left, end, right, role, width),
        Dot(begin, left, 2.4, PEOPLE, hint=hints[0]),
        Dot(end, right, 2.4, JUDGE, hint=hints[1]),
        Words(
            begin - GAP, left + 4, f"{name} {two_decimals(system.human)}", "ink", "end", is_moved
        ),
        Words(
            end + GAP, right + 4, f"{two_decimals(system.judge)} {name}", "ink", "start", is_moved
        ),
    ]


def _places(means: list[float]) -> list[int]:
    if not means:
        return []
    rounded = np.round(means, 9)
    return [int(place) for place in (rounded[:, None] < rounded).sum(axis=1) + 1]


def _lines(places: list[tuple[int, int]]) -> list[int]:
    """Return the line of each system, from the top, as several can share a rank."""
    order = sorted(range(len(places)), key=lambda index: places[index])
    lines = [0] * len(places)
    for line, index in enumerate(order):
        lines[index] = line
    return lines


def _moved(rows: list[Placed]) -> list[str]:
    """Return the systems that a judge moves furthest, by at least two ranks and a fifth of all."""
    least = max(2, len(rows) / 5)
    far = [row for row in rows if abs(row[1] - row[2]) >= least]
    far.sort(key=lambda row: (-abs(row[1] - row[2]), row[0].system))
    return [row[0].system for row in far[:MOST_NAMED]]


def _finding(rows: list[Placed], moved: list[str], judge: str) -> str:
    by_name = {row[0].system: row for row in rows}
    phrases = [
        f"{name} {'rises' if by_name[name][2] < by_name[name][1] else 'falls'} from"
        f" {ordinal(by_name[name][1])} to {ordinal(by_name[name][2])}"
        for name in moved
    ]
    if phrases:
        return f"With {judge}, {', '.join(phrases)}"
    if all(row[1] == row[2] for row in rows):
        return f"{judge} ranks the systems in the same order as people"
    pairs = list(combinations([(row[1], row[2]) for row in rows], 2))
    signs = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in pairs]
    if all(sign < 0 for sign in signs):
        return f"{judge} ranks the systems in the opposite order"
    alike = sum(sign > 0 for sign in signs)
    return f"{judge} ranks {alike} of {counted(len(pairs), 'pair')} of systems as people do"
