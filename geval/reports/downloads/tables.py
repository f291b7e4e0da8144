"""A report as tables: CSV, Markdown, and columns for the terminal."""

from collections.abc import Iterator, Sequence

from geval.reports.downloads.board_tables import (
    AGREEMENT,
    NOTE,
    STANDINGS,
    agreement_rows,
    boards_text,
    standings_rows,
)
from geval.reports.paper_table import VERDICT_HEADS, verdict_shares
from geval.reports.report import JudgeResult, Report
from geval.reports.words import SYMBOLS, in_a_sentence, notes_of, read_nothing
from geval.statistics.correlation import COEFFICIENTS, Level
from geval.statistics.resampling import Interval
from geval.texts.numbers import shown, thin
from geval.texts.program import command
from geval.texts.spreadsheets import csv_line

CSV_COLUMNS = (
    "criterion", "judge", "level", "coefficient", "value", "reason", "documents", "documents_used",
    "pairs", "ci_low", "ci_high", "human_score", "counted", "seen_by_search",
)  # fmt: skip
SHARE_HEADS = ("judge", *VERDICT_HEADS, "outputs")
RHO_NOTE = (
    "\nrho [low, high]: 95 % interval over documents, from ten documents up. documents: those that"
    " enter the summary-level average; in the rest, people or the judge gave every output the same"
    " score. missing: outputs without a score. –: undefined, `--format json` says why."
)
# Columns of the terminal's tables.
NUMBER_WIDTH, COUNT_WIDTHS = 5, {"documents": 10, "missing": 7}
# Values of the column `counted`: how outputs count in a row's value.
ALIKE, BY_WEIGHTS = "alike", "by weights"


def as_csv(report: Report) -> str:
    """Return one row per value, for spreadsheets and data frames; each names its human score."""
    lines = [csv_line(CSV_COLUMNS)]
    chosen = report.options.level, report.options.coefficient
    for criterion in report.criteria:
        counted = BY_WEIGHTS if criterion.weights else ALIKE
        for result in criterion.judges:
            correlations = result.correlations
            for level in report.levels:
                for coefficient in COEFFICIENTS:
                    estimate = correlations.estimates[coefficient][level]
                    interval = (
                        criterion.interval_of(result)
                        if (level, coefficient) == chosen
                        else result.intervals[coefficient]
                        if level == "summary"
                        else Interval(None, None)
                    )
                    lines.append(
                        csv_line((
                            criterion.criterion, result.judge, level, coefficient, estimate.value,
                            estimate.reason, correlations.documents, correlations.documents_used,
                            correlations.pairs, interval.low, interval.high,
                            report.options.human_score, counted,
                            result.seen.documents if result.seen else 0,
                        ))
                    )  # fmt: skip
    return "".join([*lines, *_agreement_lines(report), *_comparison_lines(report)])


def _agreement_lines(report: Report) -> Iterator[str]:
    """Return rows of agreement in verdicts, or in labels without an order: the name of the share or
    index stands as the coefficient."""
    for criterion, judge, by_name, documents in report.agreements:
        for name, figure in by_name.items():
            yield csv_line((
                criterion, judge, "dataset", name, figure.estimate.value,
                figure.estimate.reason or figure.interval.reason, documents, documents,
                figure.outputs, figure.interval.low, figure.interval.high,
                report.options.human_score, ALIKE, 0,
            ))  # fmt: skip


def _comparison_lines(report: Report) -> Iterator[str]:
    """Return rows of agreement on comparisons: `documents` counts compared documents, `pairs` pairs
    of choices."""
    for name, board in report.boards:
        for side in board.agreement:
            for setup, accuracy in zip(("with ties", "without ties"), side.setups, strict=True):
                yield csv_line((
                    name, side.name, "comparisons", f"agreement {setup}", accuracy.estimate.value,
                    accuracy.estimate.reason, accuracy.documents, accuracy.documents,
                    accuracy.pairs,
                    accuracy.interval.low, accuracy.interval.high, "", ALIKE, 0,
                ))  # fmt: skip


def as_markdown(report: Report) -> str:
    """Return a table per criterion: judges by levels and coefficients."""
    parts, shares = [f"# {report.name}: scores and human ratings"], _rows_of_shares(report)
    for criterion in report.criteria:
        header = [
            "judge",
            *(f"{level} {SYMBOLS[c]}" for level in report.levels for c in COEFFICIENTS),
            "documents",
            "missing",
        ]
        parts.append(f"\n## {criterion.criterion}\n")
        if criterion.has_pass_fail:
            parts += _markdown_table(SHARE_HEADS, shares[criterion.criterion])
        else:
            rows = [_cells(result, report.levels) for result in criterion.judges]
            parts += _markdown_table(header, rows)
        sentence = in_a_sentence(criterion)
        parts.append(f"\n**{criterion.verdict.label}.** {sentence[0].upper()}{sentence[1:]}")
        if nothing := read_nothing(criterion):
            parts.append(f"\n{nothing}")
    for result in report.labels:
        parts.append(f"\n## {result.criterion}\n\n```text\n{result}\n```")
    for name, board in report.boards:
        parts.append(f"\n## Leaderboard by {board.comparisons} comparisons: {name}")
        for names, cells in (
            (STANDINGS, list(standings_rows(board))),
            (AGREEMENT, list(agreement_rows(board))),
        ):
            if cells:
                parts += ["", *_markdown_table(names, cells)]
    if report.boards:
        parts.append(f"\n{NOTE}")
    parts += [f"\n{note}" for note in notes_of(report)]
    return "\n".join(parts) + "\n"


def as_text(report: Report) -> str:
    """Return a table per criterion in columns, for the terminal."""
    if not report.all_judges:
        if report.boards:
            return (
                "\n".join([f"{report.name}: people's comparisons", *boards_text(report.boards)])
                + "\n"
            )
        return (
            f"{report.name}: no judge has scores yet. Load some, or add a judge with"
            f" `{command(f'add_judge {report.project} NAME')}` and start it with"
            f" `{command(f'judge {report.project} --judge NAME')}`.\n"
        )
    ranked = report.of_correlations.judges
    named = " (r Pearson, rho Spearman, tau Kendall's tau-b)" if ranked else ""
    parts = [
        f"{report.name}: how well judges agree with {report.options.human_score_in_words}{named}"
    ]
    shares = _rows_of_shares(report)
    for criterion in report.criteria:
        if criterion.has_pass_fail:
            parts += _table_of_shares(criterion.criterion, shares[criterion.criterion])
        else:
            rows = [_cells(result, report.levels) for result in criterion.judges]
            parts += _text_table(report, criterion.criterion, list(COUNT_WIDTHS), rows)
        sentence = in_a_sentence(criterion)
        parts.append(
            f"Verdict: {criterion.verdict.label.lower()}. {sentence[0].upper()}{sentence[1:]}"
        )
        if criterion.level_to_try:
            parts[-1] += (
                f" Run `{command(f'report {report.project} --level {criterion.level_to_try}')}`."
            )
        if nothing := read_nothing(criterion):
            parts.append(nothing)
    parts += [f"\n{result}" for result in report.labels]
    if ranked:
        parts.append(RHO_NOTE)
    parts += boards_text(report.boards)
    parts += notes_of(report)
    return "\n".join(parts) + "\n"


def _rows_of_shares(report: Report) -> dict[str, list[list[str]]]:
    """Return rows of judges on pass or fail, by criterion."""
    rows: dict[str, list[list[str]]] = {}
    for row in verdict_shares(report):
        rows.setdefault(row.criterion, []).append([row.judge, *row.texts, thin(row.outputs)])
    return rows


def _table_of_shares(title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a title and a row per judge of what it finds and keeps."""
    columns = list(zip(SHARE_HEADS, *rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    lines = (
        [cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])]
        for cells in ([*SHARE_HEADS], *rows)
    )
    return [f"\n{title}", *("  ".join(line).rstrip() for line in lines)]


def _text_table(
    report: Report, title: str, counts: Sequence[str], rows: Sequence[Sequence[str]]
) -> list[str]:
    """Return a title, the levels above their columns, and a row per judge with coefficients and
    counts."""
    symbols = [SYMBOLS[coefficient] for _level in report.levels for coefficient in COEFFICIENTS]
    name_width = max(len(name) for name in ("judge", *(row[0] for row in rows)))
    group_width = len(COEFFICIENTS) * (NUMBER_WIDTH + 1) - 1
    levels = "  ".join(level.center(group_width, "·") for level in report.levels)
    lines = [f"\n{title}", f"{'':{name_width}}  {levels}"]
    for name, *cells in [["judge", *symbols, *counts], *rows]:
        numbers, counted = cells[: len(symbols)], cells[len(symbols) :]
        groups = (
            " ".join(
                cell.rjust(NUMBER_WIDTH) for cell in numbers[start : start + len(COEFFICIENTS)]
            )
            for start in range(0, len(symbols), len(COEFFICIENTS))
        )
        sized = (
            cell.rjust(COUNT_WIDTHS[count]) for cell, count in zip(counted, counts, strict=True)
        )
        lines.append("  ".join([name.ljust(name_width), *groups, *sized]).rstrip())
    return lines


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        "| " + " | ".join(header) + " |",
        "|---" + "|---:" * (len(header) - 1) + "|",
        *("| " + " | ".join(map(_markdown_cell, row)) + " |" for row in rows),
    ]


def _markdown_cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").splitlines())


def _cells(result: JudgeResult, levels: Sequence[Level]) -> list[str]:
    """Return a judge's row: name, coefficients by level, documents used of all, outputs without a
    score."""
    correlations = result.correlations
    numbers = [
        shown(correlations.estimates[coefficient][level])
        for level in levels
        for coefficient in COEFFICIENTS
    ]
    return [
        result.named,
        *numbers,
        f"{correlations.documents_used} of {correlations.documents}",
        str(result.missing or ""),
    ]
