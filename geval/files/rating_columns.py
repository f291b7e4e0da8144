"""Read criterion and rater from the names of rating columns: `Coherence_Anna`, `gpt-4o (fluency)`.
Pure.

A name is interpreted by its known parts, then by neighbouring names. What stays unclear becomes a
question; nothing is decided without evidence.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from geval.files.cells import DOCUMENTS, NUMBERED, OVERALL, SYSTEMS, CellColumn, separate_outputs
from geval.files.questions import UploadAnswer, UploadQuestion, listed
from geval.files.rater_names import (
    JUDGED,
    KnownNames,
    NameKind,
    folded,
    is_mean,
    without_noise,
)
from geval.texts.numbers import counted

SEPARATORS = re.compile(r"[\s_\-:./|]+|(?<=[a-zà-ÿ])(?=[A-ZÀ-Þ])")
# Longer names are ignored, as each name is split at every position.
LONGEST_NAME = 200
_PART, _GAP = rf".{{1,{LONGEST_NAME}}}?", r"\s{0,9}"
IN_BRACKETS = re.compile(rf"({_PART}){_GAP}[(\[]{_GAP}([^()\[\]]{{1,200}}?){_GAP}[)\]]")
BY = re.compile(
    rf"({_PART})[\s_]{{1,9}}(?:by|von|par|por|from)[\s_]{{1,9}}(.{{1,200}})", re.IGNORECASE
)
RATERS = (NameKind.PERSON, NameKind.JUDGE)


@dataclass(frozen=True)
class _Split:
    """A name split in two parts, and the characters between them."""

    left: str
    right: str
    mark: str


@dataclass
class RatingColumns:
    """The columns that were understood (None: a mean, which is ignored), and the questions to
    ask."""

    decided: dict[str, CellColumn | None] = field(default_factory=dict)
    questions: list[UploadQuestion] = field(default_factory=list)


def read_rating_columns(
    names: Sequence[str],
    project_names: KnownNames,
    *,
    has_rater: bool = False,
    has_criterion: bool = False,
    words: Collection[str] = (),
) -> RatingColumns:
    """Find criterion and rater of columns of numbers, and of words such as pass and fail.

    Args:
        has_rater: another column names each row's rater, so that these are criteria.
        has_criterion: another column names each row's criterion, so that these are raters.
        words: the columns of words, which may be about something else, unless their names say it.
    """
    rating_columns = RatingColumns()
    for name in names:
        if (cell := _by_known_names(name, project_names)) is not None:
            rating_columns.decided[name] = cell
    _by_neighbours(names, project_names, rating_columns)
    _leave_out_means(names, rating_columns)
    numbers = [n for n in names if n not in rating_columns.decided and n not in words]
    if has_rater:
        rating_columns.decided |= {name: CellColumn(without_noise(name), "") for name in numbers}
    elif has_criterion:
        rating_columns.decided |= {
            name: _rated_by(without_noise(name), "", project_names) for name in numbers
        }
    if unclear := [name for name in names if name not in rating_columns.decided]:
        _decide_or_ask(unclear, project_names, rating_columns)
    _name_the_criterion(rating_columns, project_names, has_criterion=has_criterion)
    return rating_columns


def may_be_ratings(name: str, names: KnownNames) -> bool:
    """Return whether the name of a column of words is a rater's, or has a part that is a criterion
    or a word for ratings. A part that is a rater's says too little: `user_verified`."""
    parts = [name, *SEPARATORS.split(name)]
    return bool(names.kind_of(name)) or any(
        folded(part) in JUDGED or names.kind_of(part) == NameKind.CRITERION for part in parts
    )


def _by_known_names(name: str, names: KnownNames) -> CellColumn | None:
    """Read a column with known parts: a criterion and a rater, or one of them."""
    whole = without_noise(name)
    if names.kind_of(whole) == NameKind.CRITERION:
        return CellColumn(whole, "")
    for split in _splits(name):
        kinds = names.kind_of(split.left), names.kind_of(split.right)
        if kinds[0] == NameKind.CRITERION and kinds[1] in RATERS:
            return _rated_by(split.right, split.left, names)
        if kinds[1] == NameKind.CRITERION and kinds[0] in RATERS:
            return _rated_by(split.left, split.right, names)
    return _rated_by(whole, "", names) if names.kind_of(whole) in RATERS else None


def _by_neighbours(names: Sequence[str], project_names: KnownNames, reading: RatingColumns) -> None:
    """Read columns like their neighbours: `Coherence_Q7` like `Coherence_Anna`, and `Anna_Depth`
    like `Anna_Coherence`."""
    criteria = {folded(cell.criterion) for cell in _cells(reading) if cell.criterion and cell.rater}
    raters = {folded(cell.rater) for cell in _cells(reading) if cell.criterion and cell.rater}
    for name in names:
        for split in _splits(name) if name not in reading.decided else ():
            left, right = folded(split.left), folded(split.right)
            if is_mean(split.left) or is_mean(split.right):
                continue
            if left in criteria or right in raters:
                reading.decided[name] = _rated_by(split.right, split.left, project_names)
                break
            if right in criteria or left in raters:
                reading.decided[name] = _rated_by(split.left, split.right, project_names)
                break


def _leave_out_means(names: Iterable[str], reading: RatingColumns) -> None:
    """Ignore columns that are means of their neighbours: they are not another rater's."""
    criteria = {folded(cell.criterion) for cell in _cells(reading)}
    raters = any(cell.rater for cell in _cells(reading))
    for name in names:
        parts = [(split.left, split.right) for split in _splits(name)]
        is_theirs = is_mean(name) or any(
            (is_mean(part) and folded(other) in criteria)
            or (is_mean(other) and folded(part) in criteria)
            for part, other in parts
        )
        if is_theirs and raters:
            reading.decided[name] = None


def _decide_or_ask(unclear: list[str], names: KnownNames, reading: RatingColumns) -> None:
    grid = _grid(unclear)
    if grid is None:
        reading.questions.append(_about_single_names(unclear, names))
        return
    lefts = [names.kind_of(split.left) for split in grid.values()]
    rights = [names.kind_of(split.right) for split in grid.values()]
    criterion_first = NameKind.CRITERION in lefts or any(kind in RATERS for kind in rights)
    rater_first = NameKind.CRITERION in rights or any(kind in RATERS for kind in lefts)
    different = [
        len({folded(getattr(s, side)) for s in grid.values()}) for side in ("left", "right")
    ]
    # A complete grid, such as two criteria by two raters; or known raters.
    is_full = min(different) > 1 or (criterion_first and any(kind in RATERS for kind in rights))
    if is_full and criterion_first != rater_first:
        reading.decided |= _as_grid(grid, names, criterion_first=criterion_first)
    else:
        reading.questions.append(_about_grid(grid, names))


def _grid(names: Sequence[str]) -> dict[str, _Split] | None:
    """Return a way to split all names so that parts repeat, or None."""
    if len(names) < 2:
        return None
    options = [{split.mark: split for split in reversed(list(_splits(name)))} for name in names]
    for mark in options[0]:
        if not all(mark in option for option in options):
            continue
        grid = {name: option[mark] for name, option in zip(names, options, strict=True)}
        lefts = {folded(split.left) for split in grid.values()}
        rights = {folded(split.right) for split in grid.values()}
        if len(lefts) * len(rights) == len(names) and min(len(lefts), len(rights)) < len(names):
            return grid
        if len(lefts) < len(names) and len(rights) < len(names):
            return grid
    return None


def _about_grid(grid: dict[str, _Split], names: KnownNames) -> UploadQuestion:
    first, second = (
        _as_grid(grid, names, criterion_first=True),
        _as_grid(grid, names, criterion_first=False),
    )
    apart = {name: CellColumn(name, "") for name in grid}
    return UploadQuestion(
        f"What do the parts of {listed(grid)} name?",
        (
            _choice("First the criterion, then the rater", first),
            _choice("First the rater, then the criterion", second),
            _choice("Each column is a criterion of its own", apart),
            UploadAnswer(
                "They are not ratings", "nothing is read from them", dict.fromkeys(grid, "")
            ),
        ),
    )


def _about_single_names(names: Sequence[str], project_names: KnownNames) -> UploadQuestion:
    criteria = {name: CellColumn(without_noise(name), "") for name in names}
    raters = {name: _rated_by(without_noise(name), OVERALL, project_names) for name in names}
    verb = "contains" if len(names) == 1 else "contain"
    return UploadQuestion(
        f"What {'does' if len(names) == 1 else 'do'} {listed(names)} {verb.rstrip('s')}?",
        (
            _choice("Ratings, one criterion per column", criteria),
            _choice("Ratings, one rater per column", raters),
            UploadAnswer(
                "No ratings", "kept as metadata of the documents", dict.fromkeys(names, "metadata")
            ),
        ),
    )


def _name_the_criterion(reading: RatingColumns, names: KnownNames, *, has_criterion: bool) -> None:
    """Ask which criterion was rated in columns that name only raters; people beside a judge, where
    no criterion is known, rated *overall*."""
    nameless = {name: cell for name, cell in reading.decided.items() if cell and not cell.criterion}
    if not nameless or has_criterion:
        return
    criteria = list(dict.fromkeys(cell.criterion for cell in _cells(reading) if cell.criterion))
    are_beside = len({cell.by_judge for cell in nameless.values()}) == 2
    if are_beside and not (criteria or names.criteria or reading.questions):
        for name, cell in nameless.items():
            reading.decided[name] = replace(cell, criterion=OVERALL)
        return
    options = [*criteria, *names.criteria, OVERALL]
    choices = []
    for criterion in list(dict.fromkeys(options))[:5]:
        cells = {name: replace(cell, criterion=criterion) for name, cell in nameless.items()}
        choices.append(_choice(f"The criterion {criterion}", cells))
    apart = {name: CellColumn(name, "") for name in nameless}
    choices.append(_choice("Each column is a criterion of its own", apart))
    left_out = dict.fromkeys(nameless, "")
    choices.append(UploadAnswer("No ratings", f"nothing is read from {listed(nameless)}", left_out))
    who = listed(cell.rater for cell in nameless.values())
    text = f"Which criterion did {who} rate?"
    reading.questions.append(UploadQuestion(text, tuple(choices), names_criterion=True))
    for name in nameless:
        del reading.decided[name]


def about_repeated_rows(columns: dict[str, CellColumn], most: int) -> UploadQuestion:
    """Ask about several rows per output without a column of raters."""
    numbered = {name: replace(cell, rater=NUMBERED) for name, cell in columns.items()}
    return UploadQuestion(
        f"Outputs have up to {most} rows, and no column names a rater. Whose are they?",
        (
            UploadAnswer(
                "Each row is by another rater",
                f"raters “rater 1” to “rater {most}”, in the order of the rows",
                {name: cell.target for name, cell in numbered.items()},
            ),
            UploadAnswer(
                "All are by the same rater",
                "rows that contradict each other are errors",
                {name: cell.target for name, cell in columns.items()},
            ),
        ),
    )


def about_several_outputs(column: str, most: int) -> UploadQuestion:
    """Ask about several outputs per text without a column of systems."""
    return UploadQuestion(
        f"Texts have up to {most} outputs, and no column names a system. What are they?",
        (
            UploadAnswer(
                "Outputs of several systems",
                f"systems “output 1” to “output {most}”, in the order in which they first occur",
                {column: separate_outputs(SYSTEMS)},
            ),
            UploadAnswer(
                "Each output is a document of its own",
                "one system; the documents are numbered",
                {column: separate_outputs(DOCUMENTS)},
            ),
        ),
    )


def _choice(label: str, cells: dict[str, CellColumn]) -> UploadAnswer:
    return UploadAnswer(
        label, describe_cells(cells.values()), {name: cell.target for name, cell in cells.items()}
    )


def describe_cells(cells: Iterable[CellColumn]) -> str:
    """Return which criteria, raters and judges some columns contain, in words."""
    listed_cells = list(cells)
    criteria = dict.fromkeys(cell.criterion for cell in listed_cells if cell.criterion)
    people = dict.fromkeys(c.rater for c in listed_cells if c.rater and not c.by_judge)
    judges = dict.fromkeys(c.rater for c in listed_cells if c.rater and c.by_judge)
    phrases = []
    nouns = (("criterion", "criteria"), ("rater", "raters"), ("judge", "judges"))
    for noun, names in zip(nouns, (criteria, people, judges), strict=True):
        if names:
            phrases.append(f"{counted(len(names), *noun)} ({', '.join(names)})")
    if any(not cell.rater for cell in listed_cells) and not people and not judges:
        phrases.append("1 rater")
    return ", ".join(phrases)


def _as_grid(
    grid: dict[str, _Split], names: KnownNames, *, criterion_first: bool
) -> dict[str, CellColumn]:
    return {
        name: _rated_by(split.right, split.left, names)
        if criterion_first
        else _rated_by(split.left, split.right, names)
        for name, split in grid.items()
    }


def _rated_by(rater: str, criterion: str, names: KnownNames) -> CellColumn:
    rater, criterion = without_noise(rater), without_noise(criterion) if criterion else ""
    return CellColumn(criterion, rater, by_judge=names.kind_of(rater) == NameKind.JUDGE)


def _cells(reading: RatingColumns) -> Iterator[CellColumn]:
    return (cell for cell in reading.decided.values() if cell is not None)


def _splits(name: str) -> Iterator[_Split]:
    """Yield the plausible splits of a name in two parts."""
    if len(name) > LONGEST_NAME:
        return
    for pattern, mark in ((IN_BRACKETS, "()"), (BY, "by")):
        if match := pattern.fullmatch(name.strip()):
            yield _Split(without_noise(match[1].strip()), without_noise(match[2].strip()), mark)
    for number, match in enumerate(SEPARATORS.finditer(name)):
        left = without_noise(name[: match.start()].strip())
        right = without_noise(name[match.end() :].strip())
        if left and right:
            yield _Split(left, right, f"{match[0].strip() or ' '}{number}")
