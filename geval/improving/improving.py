"""`geval.improve`: from ratings and scores in files or tables to a better judge, and its proof."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from geval.files.cells import cell_of
from geval.files.rows import RatingRow, Row
from geval.improving.changes import FreeChange
from geval.improving.ground import ground_in
from geval.improving.improvement import Improvement, improvement_of
from geval.improving.lock_file import lock_file
from geval.measuring.gathering import Criterion, Gathered, ImportedJudge, gathered
from geval.measuring.inputs import InputError, Source, named_columns
from geval.measuring.measurement import Measurement
from geval.measuring.measuring import Words, read_source
from geval.measuring.reading import ROW_NAME, Ask, Naming, nobody
from geval.statistics.locked_rule import can_lock_groups

EVERYTHING = tuple(FreeChange)


def improve(
    source: Source,
    *,
    locked: str | PathLike[str],
    human: str | Sequence[str] | None = None,
    judge: str | None = None,
    judges: str | Sequence[str] | None = None,
    criterion: str | None = None,
    document: str | None = None,
    system: str | None = None,
    group: str | None = None,
    scale: Mapping[str, tuple[float, float]] | tuple[float, float] | None = None,
    labels: Words = (),
    order: Words = (),
    changes: Sequence[str] = EVERYTHING,
    share: float | None = None,
    looks: int | None = None,
    prove: bool = False,
    sheet: str = "",
    ask: Ask = nobody,
) -> Improvement:
    """Search for a change that makes a judge better, on documents that are not locked.

    It tries another judge, a panel of all judges, and a map of today's scores to people's scale,
    like a site; no model is called. The proposed change can then be tested on the locked documents.
    Pass or fail is improved by balanced accuracy, and labels without an order by kappa: only
    another judge can have better ones.

    Args:
        source: as for `measure`; or a result of `measure` or `evaluate`.
        locked: the file with the locked documents and every look at them, or its folder; it is
            created if missing.
        human: the columns with people's ratings, or the people who count.
        judge: the judge used today; by default the only one, or the evaluated one.
        judges: the columns with judges' scores, or the judges that may replace it; by default all
            in the source; required where `human` names columns.
        criterion: its name; the only one by default.
        document: the column that names what was written about.
        system: the column that names who wrote an output.
        group: the column that names what documents share, such as their topic: documents of a group
            are locked together.
        scale: lowest and highest rating, by criterion or of all.
        labels, order: words in place of numbers, as for `measure`.
        changes: some of `choice`, `panel` and `calibration`.
        share: the share of documents to lock, when they are drawn; 0.4 by default.
        looks: the number of looks allowed at them, when they are drawn; 5 by default.
        prove: take a look immediately, like `Improvement.prove`.
        sheet: of a workbook.
        ask: answers open questions about a file; by default these are errors.

    Raises:
        ImproveError: too few documents were rated, or all looks are used.
        InputError: something cannot be read, or must be given; the message says what.

    >>> from tempfile import TemporaryDirectory
    >>> table = [{"doc": d, "system": s, "ann": s, "bob": s, "near": s, "far": (s + d) % 4}
    ...          for d in range(60) for s in range(4)]
    >>> with TemporaryDirectory() as folder:
    ...     result = improve(table, human=["ann", "bob"], judge="far", judges=["near", "far"],
    ...                      document="doc", system="system", locked=folder, prove=True)
    >>> result.looked_at.title, result.look.outcome
    ('near on quality', 'proven')
    """
    if not changes:
        raise InputError(f"Name a change that may be tried: {', '.join(EVERYTHING)}.")
    if unknown := [name for name in changes if name not in EVERYTHING]:
        raise InputError(f"There is no change {unknown[0]!r}; choose from {', '.join(EVERYTHING)}.")
    if not isinstance(given := getattr(source, "with_others", source), Measurement):
        given = source
    elif given is not source:  # an evaluation
        judge = judge or source.judge
    given, names = named_columns(
        given, human=human, judge=judge, judges=judges, criterion=criterion, document=document,
        system=system, group=group,
    )  # fmt: skip
    members, today_name = names.pop("judges"), "".join(names["judge"][:1])
    if isinstance(given, Measurement):
        columns = (names[role] for role in ("human", "document", "system", "group"))
        if any(columns) or scale or labels or order or sheet:
            raise InputError("These outputs are measured already: name their columns there.")
        parts = given.gathered
    else:
        named = (*names["judge"], *members) if members or names["human"] else ()
        naming = Naming.of(names | {"judge": tuple(dict.fromkeys(named))})
        rows, scales, *_others = read_source(
            given, naming, scale=scale, labels=labels, order=order, sheet=sheet, ask=ask,
            every_judge=not members,
        )  # fmt: skip
        if names["human"] and not members and any(map(_is_cell, rows)):
            raise InputError(
                "Where columns of people are named, those of judges are, too: say judges=[…], with"
                " all that may take its place."
            )
        parts = gathered(rows, scales)
    refuse_unnamed(parts, "".join(names["document"]))
    chosen = criterion_in(parts, criterion or "")
    today = judge_in(parts, today_name or (members[0] if len(members) == 1 else ""))
    for name in members:
        judge_named(parts.judges, name)
    data = parts.data
    lock = lock_file(
        Path(locked),
        data.names_of_units,
        by_group=can_lock_groups(data.unit_names, data.groups if data.are_groups_given else ()),
        share=share,
        looks=looks,
    )
    ground = ground_in(
        parts.data,
        [each for each in parts.judges if not members or each.name in members or each == today],
        today,
        parts.criteria,
        chosen,
        lock.among,
    )
    result = improvement_of(ground, list(dict.fromkeys(changes)), lock)
    return result.prove() if prove else result


def refuse_unnamed(parts: Gathered, document: str | None) -> None:
    """Refuse documents that are named by their rows' numbers."""
    if not document and all(map(ROW_NAME.fullmatch, parts.data.doc_ids)):
        raise InputError(
            "Locked documents need names that stay, whatever the order of rows: pass document=…,"
            " the column that names what was written about."
        )


def _is_cell(row: Row) -> bool:
    """Return whether a row is a cell of a table with a column for each person or judge."""
    return isinstance(row, RatingRow) and cell_of(row.column) is not None


def criterion_in(parts: Gathered, name: str) -> Criterion:
    """Return the criterion with a name; by default the only one with ratings and scores."""
    scored = {pk for pk, _judge in parts.data.judges}
    rated = {pk for pk, human in parts.data.humans.items() if not np.isnan(human.mean).all()}
    criteria = [each for each in parts.criteria if each.pk in scored & rated]
    if not name and len(criteria) == 1:
        return criteria[0]
    named = [each for each in criteria if each.name.lower() == name.lower()]
    if not named:
        names = ", ".join(each.name for each in criteria) or "none"
        raise InputError(
            f"Name a criterion with ratings and scores: criterion=… (there are: {names}). Where the"
            " column that names it has to be said, pass what geval.measure gives."
        )
    return named[0]


def judge_in(parts: Gathered, name: str) -> ImportedJudge:
    if name:
        return judge_named(parts.judges, name)
    with_scores = {pk for _criterion, pk in parts.data.judges}
    judges = [each for each in parts.judges if each.pk in with_scores]
    if len(judges) != 1:
        names = ", ".join(each.name for each in judges) or "none"
        raise InputError(f"Say which judge is used today: judge=… (there are: {names}).")
    return judges[0]


def judge_named(judges: Sequence[ImportedJudge], name: str) -> ImportedJudge:
    for judge in judges:
        if judge.name == name:
            return judge
    names = ", ".join(each.name for each in judges) or "none"
    raise InputError(f"There is no judge {name!r} (there are: {names}).")
