"""The paper's table: judges by criteria, for LaTeX with booktabs."""

from collections.abc import Sequence

from evaluations.reports.downloads.board_tables import agreement_rows
from evaluations.reports.leaderboard import Leaderboard
from evaluations.reports.marks import Marks
from evaluations.reports.report import Report
from evaluations.reports.words import SYMBOLS, chosen_note, same_documents_note, tested_over
from geval.drawings.shapes import WIDTH, Drawing
from geval.statistics.correlation import Coefficient
from geval.statistics.null_judges import NULL_NAMES, NullName
from geval.texts.latex import escaped, first_cell
from geval.texts.numbers import NARROW
from geval.texts.sentences import WEIGHTED
from geval.verdicts.null_judges import TITLES

_MARKS = {"†": r"\dagger", "‡": r"\ddagger", "<=": r"\le"}
# Signs of our own sentences that LaTeX does not know as letters.
_SIGNS = {NARROW: r"\,", "\u2212": "$-$", "±": r"$\pm$"}
_MATHS = {"pearson": "r", "spearman": r"\rho", "kendall": r"\tau"}


def as_latex(report: Report, marks: Marks | None = None) -> str:
    """Table environments that compile with `booktabs`: correlations, the best of each column in
    bold, and agreement on comparisons if there are any.

    Args:
        marks: of judges that agree better with people than one of them does.
    """
    tables = [_correlations(report, marks)] if report.judges or not report.boards else []
    return "\n".join(
        [*tables, *(_comparisons(name, board) for name, board in report.boards if board.agreement)]
    )


def _comparisons(name: str, board: Leaderboard) -> str:
    """How often people and judges agree on comparisons, as MT-bench's Table 5."""
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\small",
        r"\begin{tabular}{lrrrr}",
        r"\toprule",
        r" & With ties (S1) & $n$ & Without ties (S2) & $n$ \\",
        r"\midrule",
        *(rf"{first_cell(row[0])} & {' & '.join(row[1:])} \\" for row in agreement_rows(board)),
        r"\bottomrule",
        r"\end{tabular}",
        rf"\caption{{Agreement on comparisons ({escaped(name)}), with 95 percent intervals over "
        r"documents; $n$ is the number of pairs of choices.}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _correlations(report: Report, marks: Marks | None) -> str:
    options = report.options
    second = options.second
    names = [criterion.criterion for criterion in report.criteria]
    columns = "l" + "cc" * len(names) + "cc"
    head = " & ".join(rf"\multicolumn{{2}}{{c}}{{{escaped(name)}}}" for name in [*names, "AVG"])
    symbols = " & ".join(
        [f"${_MATHS[options.coefficient]}$ & ${_MATHS[second]}$"] * (len(names) + 1)
    )
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\small",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        rf" & {head} \\",
        rf"Judge & {symbols} \\",
        r"\midrule",
    ]
    best = _row(
        *(
            (*found.by_criterion, found.average)
            for found in (report.best(options.coefficient), report.best(second))
        )
    )
    for judge in report.judges:
        row = _row(
            *(
                (*report.values(judge, coefficient), report.average(judge, coefficient))
                for coefficient in (options.coefficient, second)
            )
        )
        cells = [_cell(value, best[at]) for at, value in enumerate(row)]
        for at, (criterion, result) in enumerate(
            zip(report.criteria, report.row(judge), strict=True)
        ):
            letters = (result.letters if result else "", "")
            for place, coefficient in enumerate((options.coefficient, second)):
                sign = (
                    marks.by_cell.get((criterion.criterion, judge, coefficient), "")
                    if marks
                    else ""
                )
                above = letters[place] + _MARKS.get(sign, "")
                if above and row[2 * at + place] is not None:
                    cells[2 * at + place] += rf"$^{{{above}}}$"
        lines.append(rf"{first_cell(report.named(judge))} & {' & '.join(cells)} \\")
    lines += [
        r"\midrule",
        *(rf"{first_cell(title)} & {' & '.join(cells)} \\" for title, cells in _nulls(report)),
        rf"Human ceiling & {' & '.join(_ceiling(report, second))} \\",
        r"\bottomrule",
    ]
    caption = (
        f"{options.level.capitalize()}-level correlations with {options.human_score_in_words}"
        f" ({SYMBOLS[options.coefficient]} and {SYMBOLS[second]})."
    )
    if report.has_letters:
        caption += (
            f" Judges that share a letter are not shown to differ in {SYMBOLS[options.coefficient]}"
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
    written = escaped(caption)
    for sign, command in _MARKS.items():
        written = written.replace(sign, f"${command}$")
    return "\n".join([*lines, r"\end{tabular}", rf"\caption{{{written}}}", r"\end{table}"]) + "\n"


def _row(first: Sequence[float | None], second: Sequence[float | None]) -> tuple[float | None, ...]:
    """Two values per column, side by side."""
    return tuple(value for pair in zip(first, second, strict=True) for value in pair)


def _cell(value: float | None, best: float | None) -> str:
    if value is None:
        return "--"
    return rf"\textbf{{{value:.3f}}}" if value == best else f"{value:.3f}"


def _nulls(report: Report) -> list[tuple[str, list[str]]]:
    """A row for each judge that reads nothing and has a correlation somewhere, in the view's
    coefficient, and of the majority, which has none."""
    rows = []
    for name in NULL_NAMES:
        cells: list[str] = []
        for criterion in report.criteria:
            null = next((one for one in criterion.nulls if one.name == name), None)
            value = null.correlation.value if null else None
            cells += ["--" if value is None else f"{value:.3f}", ""]
        is_there = name == "majority" and _has_null(report, name)
        if is_there or any(cell not in ("", "--") for cell in cells):
            rows.append((TITLES[name].capitalize(), [*cells, "", ""]))
    return rows


def _has_null(report: Report, name: NullName) -> bool:
    return any(null.name == name for criterion in report.criteria for null in criterion.nulls)


def _ceiling(report: Report, second: Coefficient) -> list[str]:
    cells = []
    for criterion in report.criteria:
        for coefficient in (report.options.coefficient, second):
            value = criterion.agreement.ceiling[coefficient].value
            cells.append(
                "--" if value is None or report.options.level != "summary" else f"{value:.3f}"
            )
    return [*cells, "", ""]


def as_latex_figure(drawing: Drawing, name: str) -> str:
    """The environment that places a figure in a paper, over both columns where it is wider.

    Args:
        name: of the PDF, without its ending.
    """
    caption = escaped(f"{drawing.title}. {drawing.caption}")
    for sign, written in _SIGNS.items():
        caption = caption.replace(sign, written)
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
