"""A report as JSON, CSV, Markdown, or a text table for the terminal."""

import csv
import io
from typing import Any

import orjson

from evaluations.reports.report import Agreement, CriterionResult, JudgeResult, Report
from evaluations.standin import HONEST_NAME
from evaluations.statistics.correlation import COEFFICIENTS, LEVELS
from evaluations.statistics.results import Estimate

SYMBOLS = {"pearson": "r", "spearman": "rho", "kendall": "tau"}


def as_json(report: Report) -> str:
    """The report as JSON; an undefined value is null with its reason beside it."""
    content = {
        "project": report.project,
        "criteria": {result.criterion: _criterion_json(result) for result in report.criteria},
    }
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()


def as_csv(report: Report) -> str:
    """One row a value, for spreadsheets and data frames."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "criterion",
            "judge",
            "level",
            "coefficient",
            "value",
            "reason",
            "documents",
            "documents_used",
            "pairs",
        ]
    )
    for criterion in report.criteria:
        for result in criterion.judges:
            found = result.correlations
            for level in LEVELS:
                for coefficient in COEFFICIENTS:
                    estimate = found.estimates[coefficient][level]
                    value = "" if estimate.value is None else repr(estimate.value)
                    writer.writerow(
                        [
                            harmless_cell(criterion.criterion), harmless_cell(result.judge), level, coefficient, value,
                            estimate.reason, found.documents, found.documents_used, found.pairs,
                        ]
                    )  # fmt: skip
    return out.getvalue()


def as_markdown(report: Report) -> str:
    """One table a criterion: judges by levels and coefficients."""
    parts = [f"# {report.name}: scores and human ratings"]
    for criterion in report.criteria:
        header = [
            "judge",
            *(f"{level} {SYMBOLS[c]}" for level in LEVELS for c in COEFFICIENTS),
            "documents",
            "missing",
        ]
        parts.append(f"\n## {criterion.criterion}\n")
        parts.append("| " + " | ".join(header) + " |")
        parts.append("|---" + "|---:" * (len(header) - 1) + "|")
        parts.extend(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in _cells(result)) + " |" for result in criterion.judges
        )
    if report.stand_ins:
        parts.append(f"\n{stand_in_note(report)}")
    return "\n".join(parts) + "\n"


def stand_in_note(report: Report) -> str:
    """What a reader must know of scores that no LLM gave."""
    return f"{' and '.join(report.stand_ins)}: {HONEST_NAME}."


def as_text(report: Report) -> str:
    """One table a criterion in columns, for the terminal."""
    if not report.judges:
        return (
            f"{report.name}: no judge has scores yet; load some, or run one with `manage.py judge {report.project}`.\n"
        )
    parts = [f"{report.name}: how judges go with the mean human rating (r Pearson, rho Spearman, tau Kendall's tau-b)"]
    symbols = [SYMBOLS[coefficient] for _level in LEVELS for coefficient in COEFFICIENTS]
    name_width = max(len(judge) for judge in report.judges)
    number = 5
    group = len(COEFFICIENTS) * (number + 1) - 1
    for criterion in report.criteria:
        rows = [_cells(result) for result in criterion.judges]
        parts.append(f"\n{criterion.criterion}")
        levels = "  ".join(level.center(group, "·") for level in LEVELS)
        parts.append(f"{'':{name_width}}  {levels}")
        for name, *cells in [["judge", *symbols, "documents", "missing"], *rows]:
            numbers, counts = cells[: len(symbols)], cells[len(symbols) :]
            groups = (
                " ".join(cell.rjust(number) for cell in numbers[start : start + len(COEFFICIENTS)])
                for start in range(0, len(symbols), len(COEFFICIENTS))
            )
            line = "  ".join([name.ljust(name_width), *groups, counts[0].rjust(10), counts[1].rjust(7)])
            parts.append(line.rstrip())
    parts.append(
        "\ndocuments: those the summary level stands on; in the others a side is the same for all outputs. "
        "missing: outputs without a score. -: undefined, `--format json` says why."
    )
    if report.stand_ins:
        parts.append(stand_in_note(report))
    return "\n".join(parts) + "\n"


def shown(estimate: Estimate) -> str:
    """Two decimals, or a dash for an undefined value."""
    return "-" if estimate.value is None else f"{estimate.value:.2f}"


def harmless_cell(text: str) -> str:
    """A name as a CSV cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _cells(result: JudgeResult) -> list[str]:
    """A judge's row: name, coefficients level by level, documents used of all, outputs without a score."""
    found = result.correlations
    numbers = [shown(found.estimates[coefficient][level]) for level in LEVELS for coefficient in COEFFICIENTS]
    return [result.judge, *numbers, f"{found.documents_used} of {found.documents}", str(result.missing or "")]


def _criterion_json(result: CriterionResult) -> dict[str, Any]:
    return {
        "documents": result.documents,
        "rated_outputs": result.rated_outputs,
        "judges": {judge.judge: _judge_json(judge) for judge in result.judges},
        "agreement": _agreement_json(result.agreement),
    }


def _judge_json(result: JudgeResult) -> dict[str, Any]:
    found = result.correlations
    values: dict[str, Any] = {
        coefficient: {level: _estimate_json(found.estimates[coefficient][level]) for level in LEVELS}
        for coefficient in COEFFICIENTS
    }
    counts = {
        "stand_in": result.is_stand_in,
        "documents": found.documents,
        "documents_used": found.documents_used,
        "pairs": found.pairs,
        "missing_scores": result.missing,
    }
    return counts | values


def _agreement_json(agreement: Agreement) -> dict[str, Any]:
    return {
        "krippendorff_alpha": {name: _estimate_json(value) for name, value in agreement.alpha.items()},
        "leave_one_out_summary_spearman": {
            name: _estimate_json(found.estimate) | {"documents_used": found.documents_used}
            for name, found in agreement.leave_one_out.items()
        },
    }


def _estimate_json(estimate: Estimate) -> dict[str, Any]:
    return {"value": estimate.value} if estimate.value is not None else {"value": None, "reason": estimate.reason}
