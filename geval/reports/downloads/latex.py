"""The paper's table: judges by criteria, for LaTeX with booktabs."""

import re
import unicodedata
from collections.abc import Sequence

from geval.reports.downloads.board_tables import agreement_rows
from geval.reports.drawings.shapes import WIDTH, Drawing
from geval.reports.expert_words import with_brackets
from geval.reports.leaderboard import Leaderboard
from geval.reports.marks import Marks
from geval.reports.paper_table import SHARES_NOTE, JudgeCell, paper_table, verdict_shares
from geval.reports.report import Report
from geval.reports.words import SYMBOLS, chosen_note, same_documents_note, tested_over
from geval.texts.numbers import NARROW, thin
from geval.texts.sentences import WEIGHTED

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip

_MARKS = {"†": r"\dagger", "‡": r"\ddagger", "<=": r"\le"}
# Characters of our sentences that LaTeX cannot print as letters.
_SIGNS = {NARROW: r"\,", "\u2212": "$-$", "±": r"$\pm$"}
# Tables of more criteria span both columns of a page.
MOST_IN_A_COLUMN = 2
_MATHS = {"pearson": "r", "spearman": r"\rho", "kendall": r"\tau"}


def as_latex(report: Report, marks: Marks | None = None) -> str:
    """Table environments that compile with `booktabs`: the paper's table as the page shows it, with
    n, and agreement on comparisons if there are any.

    Args:
        marks: marks of judges that agree better with people than a baseline.
    """
    is_other = (
        report.boards
        or report.labels
        or len(report.of_correlations.criteria) < len(report.criteria)
    )
    ranked = report.of_correlations
    tables = [_correlations(ranked, marks)] if ranked.judges or not is_other else []
    tables += [_verdicts(report)] if any(c.has_pass_fail for c in report.criteria) else []
    tables += [_labels(report)] if any(result.judges for result in report.labels) else []
    return "\n".join(
        [
            *tables,
            *(
                _comparisons(report.project, name, board)
                for name, board in report.boards
                if board.agreement
            ),
        ]
    )


def _verdicts(report: Report) -> str:
    """Return what judges find and keep on pass or fail."""
    rows = [
        " & ".join([
            escaped(row.criterion),
            escaped(row.judge),
            *map(_number, row.texts),
            _number(thin(row.outputs)),
        ])
        for row in verdict_shares(report)
    ]  # fmt: skip
    lines = [
        r"\begin{tabular}{llrrrrr}",
        r"\toprule",
        r"Criterion & Judge & $\kappa$ & Found & Kept & Accuracy & $n$ \\",
        r"\midrule",
        *(rf"{row} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    caption = f"{SHARES_NOTE} $n$ is the number of outputs."
    return _table(lines, caption, f"{report.project}-verdicts", over_both=True)


def _labels(report: Report) -> str:
    """Return the agreement of judges in labels without an order."""
    rows = [
        " & ".join([
            escaped(result.criterion),
            escaped(own.judge),
            *(_number(with_brackets(figure)) for figure in own.figures.by_name.values()),
            _number(thin(own.figures.outputs)),
        ])
        for result in report.labels
        for own in result.judges
    ]  # fmt: skip
    lines = [
        r"\begin{tabular}{llrrr}",
        r"\toprule",
        r"Criterion & Judge & $\kappa$ & Same label & $n$ \\",
        r"\midrule",
        *(rf"{row} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    caption = "Agreement in labels, with 95 % intervals; $n$ is the number of outputs."
    return _table(lines, caption, f"{report.project}-labels")


def _comparisons(project: str, name: str, board: Leaderboard) -> str:
    """Return the agreement of people and judges on comparisons, as in MT-bench's Table 5."""
    lines = [
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r" & With ties (S1) & $n$ & Without ties (S2) & $n$ \\",
        r"\midrule",
        *(
            rf"{first_cell(side)} & {' & '.join(map(_number, cells))} \\"
            for side, *cells in agreement_rows(board)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    caption = (
        f"Agreement on comparisons ({name}), with 95 % intervals over documents; $n$ is the number"
        " of pairs of choices."
    )
    return _table(lines, caption, f"{project}-{label_part(name) or 'all'}-comparisons")


def _correlations(report: Report, marks: Marks | None) -> str:
    options, table = report.options, paper_table(report)
    counts = {cell.outputs for row in table.rows for cell in row.cells if cell}
    # A common n is given in the caption: a column each would not fit on a page.
    has_counts = len(counts) > 1
    per_criterion = 3 if has_counts else 2
    symbols = [f"${_MATHS[coefficient]}$" for coefficient in (options.coefficient, table.second)]
    symbols += ["$n$"] * has_counts
    heads = [
        rf"\multicolumn{{{per_criterion}}}{{c}}{{{escaped(result.criterion)}}}"
        for result in report.criteria
    ]
    lines = [
        rf"\begin{{tabular}}{{l{'r' * per_criterion * len(report.criteria)}}}",
        r"\toprule",
        rf" & {' & '.join(heads)} \\",
        rf"Judge & {' & '.join(symbols * len(report.criteria))} \\",
        r"\midrule",
    ]
    for row in table.rows:
        cells = [
            part
            for criterion, cell in zip(report.criteria, row.cells, strict=True)
            for part in _judge_cells(report, criterion.criterion, row.judge, cell, marks)[
                :per_criterion
            ]
        ]
        lines.append(rf"{first_cell(row.named)} & {' & '.join(cells)} \\")
        lines += _intervals([cell.interval if cell else "" for cell in row.cells], per_criterion)
    lines.append(r"\midrule")
    for other in (*table.nulls, table.rater):
        cells = [
            part
            for value, _interval, beside in other.cells
            for part in (_number(value), _number(beside) if other is table.rater else "", "")[
                :per_criterion
            ]
        ]
        lines.append(rf"{first_cell(other.name)} & {' & '.join(cells)} \\")
        lines += _intervals([interval for _value, interval, _beside in other.cells], per_criterion)
    lines += [r"\bottomrule", r"\end{tabular}"]
    return _table(
        lines,
        _caption(report, marks, None if has_counts else max(counts, default=0)),
        f"{report.project}-correlations",
        over_both=len(report.criteria) > MOST_IN_A_COLUMN,
    )


def _judge_cells(
    report: Report, criterion: str, judge: str, cell: JudgeCell | None, marks: Marks | None
) -> tuple[str, str, str]:
    if cell is None:
        return "--", "--", ""
    options = report.options
    cells = []
    for coefficient, text, is_best, letters in (
        (options.coefficient, cell.value, cell.is_best, cell.letters),
        (options.second, cell.second, cell.second_is_best, ""),
    ):
        sign = marks.by_cell.get((criterion, judge, coefficient), "") if marks else ""
        above = letters + _MARKS.get(sign, "")
        written = rf"\textbf{{{_number(text)}}}" if is_best else _number(text)
        cells.append(rf"{written}$^{{{above}}}$" if above and text != "–" else written)
    return cells[0], cells[1], _number(thin(cell.outputs))


def _intervals(intervals: Sequence[str], per_criterion: int) -> list[str]:
    """Return the line with a row's intervals, if it has any."""
    if not any(intervals):
        return []
    cells = (
        rf"\multicolumn{{{per_criterion}}}{{l}}{{{_small(interval)}}}" for interval in intervals
    )
    return [rf" & {' & '.join(cells)} \\"]


def _small(interval: str) -> str:
    return rf"\scriptsize {_number(interval)}" if interval else ""


# A best judge is above its true value by having been chosen (`CriterionResult.interval_of`).
OF_THE_BEST = " (of the best judge corrected for the choice)"


def _caption(report: Report, marks: Marks | None, outputs: int | None) -> str:
    """Return the caption; `outputs` is n where it is the same for all."""
    options = report.options
    counted = ", and $n$, the number of outputs."
    if outputs is not None:
        counted = f". The number of outputs, $n$, is {thin(outputs)} everywhere."
    first, second = options.coefficient, options.second
    caption = (
        f"{options.level.capitalize()}-level correlation with {options.human_score_in_words}:"
        f" {first.capitalize()} with its 95 % interval over {options.over}{OF_THE_BEST},"
        f" {'' if outputs is None else 'and '}{second.capitalize()}{counted} Judges are sorted by"
        " their mean over criteria; the best of each column is bold."
    )
    if report.has_letters:
        caption += (
            f" Judges that share a letter are not shown to differ in {SYMBOLS[first]}"
            f" ({tested_over(options.over)}, Holm, 5 percent)."
        )
    if marks:
        caption += f" {marks.in_words}"
    if (report.has_letters or marks) and (note := same_documents_note(report)):
        caption += f" {note}"
    if report.weights:
        caption += f" {WEIGHTED}"
    if report.chosen:
        caption += f" {chosen_note(report)}"
    return caption


def _table(lines: Sequence[str], caption: str, label: str, *, over_both: bool = False) -> str:
    """Return a table environment, over both columns of a page if it is wide."""
    table = "table*" if over_both else "table"
    written = _written(caption)
    for sign, command in _MARKS.items():
        written = written.replace(sign, f"${command}$")
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            rf"\begin{{{table}}}",
            r"\centering",
            r"\small",
            *([r"\setlength{\tabcolsep}{3pt}"] if over_both else []),
            *lines,
            rf"\caption{{{written}}}",
            rf"\label{{tab:{label}}}",
            rf"\end{{{table}}}",
            "",
        ]
    )


def _written(text: str) -> str:
    """Escape a text, converting our sentences' characters and keeping `$n$`."""
    written = escaped(text).replace(r"\$n\$", "$n$")
    for sign, command in _SIGNS.items():
        written = written.replace(sign, command)
    return written


def _number(text: str) -> str:
    """Format a number as on pages, for LaTeX."""
    return "--" if text == "–" else _written(text)


def as_latex_figure(drawing: Drawing, name: str) -> str:
    """Return the environment that places a figure in a paper, over both columns if it is wider than
    one.

    Args:
        name: the PDF's name, without its extension.
    """
    caption = _written(f"{drawing.title}. {drawing.caption}")
    over_both = drawing.width > WIDTH
    figure, width = ("figure*", "textwidth") if over_both else ("figure", "columnwidth")
    return "\n".join(
        [
            rf"\begin{{{figure}}}",
            r"\centering",
            rf"\includegraphics[width=\{width}]{{{name}.pdf}}",
            rf"\caption{{{caption}}}",
            rf"\label{{fig:{name}}}",
            rf"\end{{{figure}}}",
            "",
        ]
    )


def escaped(text: str) -> str:
    """Escape a text for LaTeX."""
    return "".join(_SPECIAL.get(letter, letter) for letter in _one_line(text))


def _one_line(text: str) -> str:
    """Join lines: an empty line would end the paragraph, and with it the table."""
    return re.sub(r"[\r\n\v\f\x85\u2028\u2029]+", " ", text)


def first_cell(text: str) -> str:
    """Return a text at the beginning of a row: after `\\\\`, LaTeX would take `*` and `[` for
    arguments of it."""
    return f"{{}}{escaped(text)}" if text.lstrip()[:1] in ("*", "[") else escaped(text)


def label_part(name: str) -> str:
    """Return a name as a part of a `\\label`: small letters of ASCII, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
