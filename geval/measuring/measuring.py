"""`geval.measure`: find out from ratings and scores in a file or a table what a judge may rate."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from geval.files.fields import written_number
from geval.files.readers import InputFile
from geval.files.rows import (
    JudgeScoreRow,
    NotApplicableRow,
    PreferenceRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
)
from geval.files.unused import Unused
from geval.files.word_ratings import UnknownWords
from geval.measuring.gathering import Criterion, Gathered, Rubrics, gathered
from geval.measuring.inputs import (
    InputError,
    Source,
    as_names,
    input_files,
    named_columns,
    side_by_side,
)
from geval.measuring.measurement import Measurement
from geval.measuring.reading import (
    Ask,
    Naming,
    QuestionError,
    column_names,
    criterion_named,
    no_column,
    nobody,
    rows_of,
    unnamed_judges,
    values_by_document,
)
from geval.reports.leaderboard import OVERALL, Leaderboard, leaderboard
from geval.reports.options import NO_SESSIONS, ReportOptions
from geval.reports.report import Records, report_of
from geval.statistics.correlation import COEFFICIENTS, LEVELS, Coefficient, Level
from geval.statistics.expert_bar import ExpertBar, bar_of
from geval.statistics.scales import (
    Scale,
    names_of_points,
    pair_of,
    scale_of_words,
    short,
    value_in_pair,
)
from geval.statistics.scales import scale_of as scale_by
from geval.texts.sentences import listed

PERSON, JUDGE = "person", "judge"
# Words of all criteria, or by criterion.
Words = Sequence[str] | Mapping[str, Sequence[str]]
# The lowest and highest rating, and optionally the step between ratings.
Ends = tuple[float, float] | tuple[float, float, float]


def measure(
    source: Source,
    scores: Source = None,
    *,
    human: str | Sequence[str] | None = None,
    judge: str | Sequence[str] | None = None,
    criterion: str | None = None,
    document: str | None = None,
    system: str | None = None,
    group: str | None = None,
    output: str | None = None,
    text: str | None = None,
    scale: Ends | Mapping[str, Ends] | None = None,
    labels: Words = (),
    order: Words = (),
    level: Level | None = None,
    coefficient: Coefficient = "spearman",
    by: str | Sequence[str] | None = None,
    find: str = "",
    rubric: Rubrics | None = None,
    sheet: str = "",
    ask: Ask = nobody,
) -> Measurement:
    """Measure whether a judge's scores may stand in for people's ratings.

    Args:
        source: files (CSV, JSON Lines, Parquet, xlsx, and files of other tools), a data frame of
            pandas or polars (also several, or a lazy one), an Arrow table, a list of dictionaries,
            a dictionary of columns, or the result of `pull`; or a person's ratings as a list,
            array or series. Named indexes of pandas are columns, too.
        scores: a judge's scores of the same outputs, in the same way and order.
        human: the columns with people's ratings, one for each person; or, where each row is one
            rating, the people who count; or, for a table, the ratings themselves as a series or
            array.
        judge: the columns with judges' scores; or the judges that count; or the scores themselves.
        criterion: the column that names it; or one of the criteria that rows name, or a rubric,
            which is then the only one measured; or the name of the only one, where they name none.
        document: the column that names what was written about; outputs of one document are
            compared with each other.
        system: the column that names who wrote an output.
        group: the column that names what documents share, such as their topic: intervals and tests
            take groups as units.
        output, text: the columns with outputs and with what they were written about.
        scale: lowest and highest rating (and the step, 1 by default), of all criteria or by
            criterion; guessed from ratings by default.
        labels: the names of labels without an order, such as kinds of failures, of all criteria or
            by criterion; recognised by default where most ratings are other words.
        order: words from the lowest rating to the highest, in the same way.
        level: `summary` compares outputs of one document, `system` systems, `dataset` all outputs;
            by default summary, or dataset where documents have one output each.
        coefficient: of correlations.
        by: fields of documents, such as their language, or `system`: the best judge is measured on
            the outputs of each value, too.
        find: on pass or fail, the answer that the judge has to find: of it `sensitivity` and
            `precision` are; by default the lower one, "fail" or 0.
        rubric: criteria of pass or fail with their weights, by the name of the criterion that is
            their total: `{"quality": {"cites sources": 2, "polite": 1}}`. The total is on the scale
            1-5, or on that of `scale`.
        sheet: of a workbook.
        ask: answers open questions about a file; by default these are errors.

    Raises:
        QuestionError: the meaning of a column must be given; the message says what to pass.
        InputError: something cannot be read; the message says what and where.

    >>> table = [
    ...     {"doc": d, "system": s, "ann": 1 + (d * s) % 5, "bob": 1 + (d * s + d) % 5, "gpt": s}
    ...     for d in range(30) for s in range(4)
    ... ]
    >>> result = measure(table, human=["ann", "bob"], judge="gpt", document="doc", system="system")
    >>> result.criteria[0].criterion, result.criteria[0].outputs, result.criteria[0].raters
    ('quality', 120, 2)
    """
    if scores is not None:
        source = side_by_side(source, scores)
    site_rubrics = _from_site(source, "rubrics")
    rubrics = site_rubrics if rubric is None else rubric
    is_total = (criterion or "").lower() in map(str.lower, rubrics)
    table, columns = named_columns(
        source, human=human, judge=judge, criterion=None if is_total else criterion,
        document=document, system=system, group=group, output=output, source=text,
    )  # fmt: skip
    totals = {}
    if rubric and isinstance(scale, Mapping):
        names = {name.lower() for name in rubric}
        totals = {
            name.lower(): _scale_between(ends)
            for name, ends in scale.items()
            if name.lower() in names
        }
        scale = {name: scale[name] for name in scale if name.lower() not in totals} or None
    content = read_source(
        table,
        Naming.of(columns),
        scale=scale,
        labels=labels,
        order=order,
        sheet=sheet,
        ask=ask,
        by_column=True,
        fields=as_names(by),
        rubrics=[*rubrics],
    )
    _refuse_the_other_side(content, columns)
    if rubric is None:
        settings = _from_site(source, "criteria")
        totals = {name.lower(): scale_by(settings[name]) for name in site_rubrics}
    only = criterion if is_total else content.criterion
    result = measure_rows(
        # The items of a rubric are looked at whichever criterion is asked for.
        content.rows if rubrics else [*_about(content.rows, content.criterion)],
        content.scales | totals,
        level=level,
        coefficient=coefficient,
        compared=content.judges,
        unused=content.unused,
        fields=content.fields,
        find=find,
        rubrics=rubrics,
        only=only or "",
        bars={name: bar_of(own) for name, own in _from_site(source, "criteria").items()},
    )
    _refuse_empty_totals(result.gathered, [*(rubric or {}), only or ""])
    return result


def _from_site(source: Source, name: str) -> Any:
    """Return what `geval.pull` gave beside its rows, by name; empty for other sources, of which a
    frame may have a column of that name."""
    return getattr(source, name, {}) if isinstance(source, list) else {}


class SourceContent(NamedTuple):
    """The rows of a source that count, the given scales by lower-case name, how many judges it
    has, also those that were not named, the criterion that was named ("" for a column), what of
    its files was not used, and the documents' values of fields, by name."""

    rows: list[Row]
    scales: dict[str, Scale]
    judges: int
    criterion: str
    unused: Unused
    fields: Mapping[str, Mapping[str, str]] = {}


def read_source(
    source: Source,
    naming: Naming,
    *,
    scale: Ends | Mapping[str, Ends] | None = None,
    labels: Words = (),
    order: Words = (),
    sheet: str = "",
    ask: Ask = nobody,
    every_judge: bool = False,
    by_column: bool = False,
    fields: Sequence[str] = (),
    rubrics: Sequence[str] = (),
) -> SourceContent:
    """Read a source, from arguments as for `measure`.

    Args:
        every_judge: in a table with a row per score, judges count even if they are not named.
        by_column: as for `rows_of`.
        fields: of which documents have values.
        rubrics: names that are criteria, too.
    """
    by_words = _words_of(labels, is_ordered=False), _words_of(order, is_ordered=True)
    scale_of, unused, unknown = _scale_of(scale, by_words), Unused(), UnknownWords()
    answers = names_of_points(each for named in by_words for each in named.values())
    with input_files(source, sheet=sheet) as files:

        def read() -> list[Row]:
            return [
                *rows_of(
                    files,
                    naming,
                    ask,
                    scale_of=scale_of,
                    unused=unused,
                    by_column=by_column,
                    unknown=unknown,
                    answers=answers,
                )
            ]

        recognised: dict[str, Scale] = {}
        try:
            rows = read()
        except InputError as error:
            recognised = unknown.scales()
            if not recognised and unknown.remedy:
                raise InputError(f"{error}\n{unknown.remedy}") from None
            if not recognised:
                raise
            given, unused = scale_of, Unused()

            def scale_of(name: str) -> Scale | None:
                return given(name) or recognised.get(name.lower())

            rows = read()
        by_document = {
            name: values_by_document(name, rows, files, naming, ask, scale_of) for name in fields
        }
        unused.rows = {key: count for key, count in unused.rows.items() if key[1] not in fields}
        others = unnamed_judges(files, naming)
        criterion = criterion_named(files, naming)
        columns = columns_of(files, naming)
    rows += _from_site(source, "choices")
    _refuse_nothing(rows)
    refuse_unknown_criterion(rows, criterion, rubrics)
    for stated in (scale, labels, order):
        if isinstance(stated, Mapping):
            _check_names(stated, _criteria_of(rows))
    if scale is None and not labels and not order and not recognised:
        # From a site's project, whose scales may have changed since texts were rated.
        settings = _from_site(source, "criteria")
        scale_of = {name.lower(): scale_by(own) for name, own in settings.items()}.get
    names = map(str.lower, _criteria_of(rows))
    scales = {name: own for name in names if (own := scale_of(name)) is not None}
    counting = replace(naming, judge=()) if every_judge else naming
    judges = {name for kind, name in map(_rater_of, rows) if kind == JUDGE} | others
    return SourceContent(
        list(counting_rows(rows, counting, columns)),
        scales,
        len(judges),
        criterion,
        unused,
        by_document,
    )


def _refuse_the_other_side(content: SourceContent, named: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse named judges without any person's ratings, or people without any judge's scores, where
    other columns are left that may be theirs."""
    sides = {kind for kind, _name in map(_rater_of, content.rows)}
    columns = [each.column for each in content.unused.columns()]
    for own, other, kind, what in (
        ("judge", "human", PERSON, "people's ratings"),
        ("human", "judge", JUDGE, "a judge's scores"),
    ):
        if named.get(own) and not named.get(other) and kind not in sides and columns:
            raise QuestionError(
                f"No column was read as {what}. Pass {other}= with the names of theirs; not used:"
                f" {listed(columns)}."
            )


def _refuse_empty_totals(parts: Gathered, names: Sequence[str]) -> None:
    """Refuse named rubrics of which no output has a total, as where each row is an output."""
    totals = {each.pk: each.name for each in parts.criteria}
    wanted = [name.lower() for name in names if name]
    for name, pk in ((totals.get(each.pk, ""), each.pk) for each in parts.data.rubrics):
        if name.lower() in wanted and np.isnan(parts.data.humans[pk].mean).all():
            raise InputError(
                f"No output has ratings of all items of the rubric {name}. Where they are in"
                " several rows, pass document=…, the column that names what was rated."
            )


def refuse_unknown_criterion(rows: Sequence[Row], name: str, rubrics: Sequence[str] = ()) -> None:
    """Refuse a criterion that rows do not have, which would otherwise be ignored silently.

    Raises:
        InputError: there is none of that name; the message lists those that can be measured.
    """
    rated, scored = (
        {
            each.lower(): each
            for each in _criteria_of([row for row in rows if _rater_of(row)[0] == kind])
        }
        for kind in (PERSON, JUDGE)
    )
    # A table without criteria gives its scores any name, which ratings may not have.
    names = {each: rated[each] for each in rated if each in scored} or rated or scored
    if name and names and name.lower() not in names:
        having = " and ".join(["ratings"] * bool(rated) + ["scores"] * bool(scored))
        raise InputError(
            f"There is no column {name!r} and no criterion of that name with {having} (there are:"
            f" {', '.join([*names.values(), *rubrics])})."
        )


def _about(rows: Sequence[Row], criterion: str) -> Iterator[Row]:
    """Return the rows without those on other criteria; all if none is named."""
    for row in rows:
        of = getattr(row, "criterion", "")
        if not criterion or not of or of.lower() == criterion.lower():
            yield row


def measure_rows(
    rows: Sequence[Row],
    scales: Mapping[str, Scale],
    *,
    level: Level | None = None,
    coefficient: Coefficient = "spearman",
    compared: int = 0,
    unused: Unused | None = None,
    fields: Mapping[str, Mapping[str, str]] | None = None,
    find: str = "",
    rubrics: Rubrics | None = None,
    only: str = "",
    bars: Mapping[str, ExpertBar] | None = None,
) -> Measurement:
    """Measure judges from rows of files.

    Args:
        scales: scales of criteria by lower-case name; others are guessed from the ratings.
        compared: from how many judges these were chosen; they themselves by default.
        unused: what of the files was not used.
        fields: the documents' values of fields, by name.
        find: as for `measure`.
        rubrics: as for `gathered`.
        only: the only criterion of the result; all if empty.
        bars: what criteria require of judges by an expert's labels, by name.

    Raises:
        InputError: there are no ratings and no scores, no such level or coefficient, no session
            for that level, or no such answer to find.
    """
    for kind, value, values in (
        ("level", level or LEVELS[0], LEVELS),
        ("coefficient", coefficient, COEFFICIENTS),
    ):
        if value not in values:
            raise InputError(f"There is no {kind} {value!r} (there are: {', '.join(values)}).")
    parts = gathered(rows, scales, rubrics)
    if only:
        criteria = [each for each in parts.criteria if each.name.lower() == only.lower()]
        parts = replace(parts, criteria=tuple(criteria))
    if bars:
        criteria = [replace(each, bar=bars.get(each.name, each.bar)) for each in parts.criteria]
        parts = replace(parts, criteria=tuple(criteria))
    if find:
        parts = replace(parts, criteria=_finding(parts.criteria, find))
    _refuse_nothing(parts.data.humans, parts.data.judges, parts.compared, parts.verdicts)
    if level == "session" and not any(parts.data.sessions):
        raise InputError(NO_SESSIONS)
    options = ReportOptions(level=level or _usual_level(parts), coefficient=coefficient)
    judges = list(parts.judges)
    return Measurement(
        report_of(
            ("", "Measurement"),
            parts.data.selected(options),
            parts.criteria,
            judges,
            options,
            Records(compared=max(compared, len(judges)), repeats=parts.repeats),
            boards=_boards(parts),
        ),
        parts,
        () if unused is None else tuple(unused.columns()),
        fields or {},
    )


def _finding(criteria: tuple[Criterion, ...], answer: str) -> tuple[Criterion, ...]:
    """Return criteria whose judges have to find an answer of pass or fail.

    Raises:
        InputError: no criterion has two points of which one is that answer.
    """
    two = [each for each in criteria if each.scale.is_pass_fail]
    turned = {}
    for criterion in two:
        scale = criterion.scale
        named = scale.point_named(answer)
        point = written_number(answer) if named is None else named
        if point in scale.points:
            highest = replace(scale, finds_highest=point == scale.highest)
            turned[criterion.pk] = replace(criterion, scale=highest)
    if not turned:
        answers = dict.fromkeys(name for each in two for name in _answers(each.scale))
        there = f"its answers are {listed([*answers])}" if two else "no criterion is pass or fail"
        raise InputError(f"There is no answer {answer!r} to find: {there}.")
    return tuple(turned.get(each.pk, each) for each in criteria)


def _answers(scale: Scale) -> list[str]:
    return [*map(short, scale.points), *scale.words]


def _refuse_nothing(*rated: Sequence[object] | Mapping[Any, object]) -> None:
    if not any(rated):
        raise InputError(
            "There is nothing to measure in this: no ratings and no scores. Name the"
            " columns human and judge."
        )


def _boards(parts: Gathered) -> tuple[tuple[str, Leaderboard], ...]:
    """Compute leaderboards from comparisons by people and judges, overall and by criterion."""
    names = {criterion.pk: criterion.name for criterion in parts.criteria}
    return tuple(
        (
            OVERALL if pk is None else names[pk],
            leaderboard(
                parts.data,
                parts.judges,
                pk,
                parts.compared.get(pk, ()),
                parts.verdicts.get(pk, {}),
            ),
        )
        for pk in sorted({*parts.compared, *parts.verdicts}, key=lambda pk: pk or 0)
    )


def columns_of(files: Sequence[InputFile], naming: Naming) -> set[str]:
    """Return the names of all columns, where people or judges are named."""
    wanted = files if naming.human or naming.judge else ()
    return {name for file in wanted for name in column_names(file)}


def counting_rows(rows: Sequence[Row], naming: Naming, columns: set[str]) -> Iterator[Row]:
    """Return the rows by people and judges that count, where some of them were named.

    Args:
        columns: that might have been meant.
    """
    raters = [_rater_of(row) for row in rows]
    wanted = {
        kind: _named(names, {name for own, name in raters if own == kind}, kind, columns)
        for kind, names in ((PERSON, naming.human), (JUDGE, naming.judge))
    }
    for row, (kind, name) in zip(rows, raters, strict=True):
        if not wanted.get(kind) or name in wanted[kind]:
            yield row


def _rater_of(row: Row) -> tuple[str, str]:
    """Return whether a person or a judge made a row, and their name; "" for an output."""
    if isinstance(row, PreferenceRow):
        return (JUDGE if row.by_judge else PERSON), row.annotator
    if isinstance(row, RepliesRow):
        return JUDGE, row.judge
    if isinstance(row, NotApplicableRow):
        return (JUDGE if row.by_judge else PERSON), row.rater
    if isinstance(row, ScoreRow):
        return (PERSON if isinstance(row, RatingRow) else JUDGE), row.rater
    return "", ""


def _named(wanted: Sequence[str], raters: set[str], kind: str, columns: set[str]) -> set[str]:
    """Return the named raters; without this check an unknown name would make everybody count.

    Raises:
        InputError: there is no column and no such rater of that name.
    """
    if unknown := [name for name in wanted if name not in raters]:
        message = no_column(f"{kind} and no column", unknown[0], columns | raters)
        others = sorted(raters - columns)
        raise InputError(f"{message} There are: {', '.join(others)}." if others else message)
    return {*wanted}


def _criteria_of(rows: Sequence[Row]) -> list[str]:
    """Return the names of criteria in order of first occurrence."""
    of_criteria = RatingRow | JudgeScoreRow | RepliesRow | PreferenceRow
    names = (row.criterion for row in rows if isinstance(row, of_criteria))
    return list(dict.fromkeys(name for name in names if name))


def _check_names(scales: Mapping[str, object], criteria: Sequence[str]) -> None:
    """Refuse a scale of a criterion that does not exist, which would otherwise be ignored
    silently."""
    names = {name.lower() for name in criteria}
    if unknown := [name for name in scales if name.lower() not in names]:
        raise InputError(
            f"There is no criterion {unknown[0]!r} to have a scale (there are:"
            f" {', '.join(criteria) or 'none'})."
        )


def _scale_of(
    scale_ends: Ends | Mapping[str, Ends] | None, by_words: Sequence[Mapping[str, Scale]] = ()
) -> Callable[[str], Scale | None]:
    """Return a function from a criterion's name to its scale, given for all or by criterion.

    Args:
        by_words: the scales of labels, and of words with an order, as `_words_of` returns them.

    Raises:
        InputError: a scale is invalid.
    """
    if any(by_words):
        by_ends = _scale_of(scale_ends)

        def scale_of(criterion: str) -> Scale | None:
            given = [of.get(criterion.lower()) or of.get("") for of in by_words]
            return next(filter(None, given), None) or by_ends(criterion)

        return scale_of
    if isinstance(scale_ends, Mapping):
        scales = {name.lower(): _scale_between(ends) for name, ends in scale_ends.items()}
        return lambda criterion: scales.get(criterion.lower())
    scale = None if scale_ends is None else _scale_between(scale_ends)
    return lambda _criterion: scale


def _words_of(words: Words, *, is_ordered: bool) -> dict[str, Scale]:
    """Return the scales of words by the lower-case name of their criterion, "" for all of them."""
    if isinstance(words, str):
        raise InputError(f"Labels are a list of words, not the text {words[:40]!r}.")
    of_criteria = words if isinstance(words, Mapping) else {"": words} if words else {}
    if is_ordered:
        for named in of_criteria.values():
            _refuse_passes_first([str(word) for word in named])
    try:
        return {
            name.lower(): scale_of_words([str(word) for word in named], is_ordered=is_ordered)
            for name, named in of_criteria.items()
        }
    except ValueError as error:
        raise InputError(f"{str(error).capitalize()}.") from None


def _refuse_passes_first(words: Sequence[str]) -> None:
    """Refuse two words whose order is known, in the other order.

    Raises:
        InputError: the first one is known to pass, such as "yes" and "no".
    """
    if len(words) == 2 and pair_of(words[0]) and pair_of(words[0]) == pair_of(words[1]):
        first, last = map(value_in_pair, words)
        if (first or 0) > (last or 0):
            raise InputError(
                f"{words[0]!r} is better than {words[1]!r}: name the better one last in order=."
                f" If the judge has to find {words[0]!r}, pass find={words[0]!r}."
            )


def _scale_between(ends: Ends) -> Scale:
    """Return the scale with a lowest and highest rating, and optionally a step."""
    if len(ends) not in (2, 3) or not all(isinstance(end, int | float) for end in ends):
        raise InputError(
            f"A scale is the lowest and the highest rating, and perhaps the step, not {ends!r}."
        )
    try:
        return Scale(*ends)
    except ValueError as error:
        raise InputError(f"There is no such scale: {error}.") from None


def _usual_level(parts: Gathered) -> Level:
    """Return the default level: documents, or sessions, with one output each have no ranking within
    them."""
    most = int(parts.data.units.by_document().max(initial=0))
    return "summary" if most > 1 else "dataset"
