"""The formats in which a report is downloaded and printed, MLflow's among them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import orjson

from geval.reports.downloads.latex import as_latex
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_csv, as_markdown, as_text
from geval.reports.report import Report
from geval.statistics.correlation import COEFFICIENTS

# Valid characters in names of metrics, and their maximum length.
_REFUSED = re.compile(r"[^\w\-. :/]")
LONGEST = 250


def as_metrics(report: Report) -> str:
    """`JUDGE/CRITERION/COEFFICIENT/LEVEL`, and at the level of summaries the interval's ends; on
    pass or fail and labels `JUDGE/CRITERION/kappa` and the like with both ends. Undefined values
    are left out.

    For weighted outputs, `JUDGE/CRITERION/outputs of a uniform sample` is their effective number.
    """
    return orjson.dumps(dict(_metrics(report)), option=orjson.OPT_INDENT_2).decode()


def _metrics(report: Report) -> Iterator[tuple[str, float]]:
    for criterion in report.criteria:
        for result in criterion.judges:
            correlations = result.correlations
            about = f"{_part(result.judge)}/{_part(criterion.criterion)}"
            for coefficient in COEFFICIENTS:
                for level in report.levels:
                    value = correlations.estimates[coefficient][level].value
                    if value is not None:
                        yield f"{about}/{coefficient}/{level}"[:LONGEST], value
                interval = result.intervals[coefficient]
                for end, value in (("low", interval.low), ("high", interval.high)):
                    if value is not None:
                        yield f"{about}/{coefficient}/summary {end}"[:LONGEST], value
            yield f"{about}/documents", float(correlations.documents)
            yield f"{about}/outputs", float(correlations.pairs)
            if result.seen:
                yield f"{about}/documents seen by its search", float(result.seen.documents)
            if criterion.weights:
                yield f"{about}/outputs of a uniform sample", criterion.weights.effective
    for name, judge, figures, _documents in report.agreements:
        for figure, estimate in figures.items():
            about = f"{_part(judge)}/{_part(name)}/{figure}"
            ends = {"low": estimate.interval.low, "high": estimate.interval.high}
            for end, value in {"": estimate.estimate.value, **ends}.items():
                if value is not None:
                    yield f"{about} {end}".rstrip()[:LONGEST], value


def _part(name: str) -> str:
    """Return a part of a name without slashes, which separate parts."""
    return _REFUSED.sub("_", name).replace("/", "_")[:100]


@dataclass(frozen=True)
class DownloadFormat:
    """A format: its name in commands and pages, the extension of its files, and its writer."""

    word: str
    name: str
    ending: str
    content_type: str
    write: Callable[[Report], str]


FORMATS = (
    DownloadFormat("csv", "CSV", "csv", "text/csv; charset=utf-8", as_csv),
    DownloadFormat("json", "JSON", "json", "application/json", as_json),
    DownloadFormat("markdown", "Markdown", "md", "text/markdown; charset=utf-8", as_markdown),
    DownloadFormat("latex", "LaTeX", "tex", "application/x-tex; charset=utf-8", as_latex),
    DownloadFormat("mlflow", "MLflow metrics", "mlflow", "application/json", as_metrics),
    DownloadFormat("text", "text", "txt", "text/plain; charset=utf-8", as_text),
)
BY_WORD = {format_.word: format_ for format_ in FORMATS}
BY_ENDING = {format_.ending: format_ for format_ in FORMATS}
