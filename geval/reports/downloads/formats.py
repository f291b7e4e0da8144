"""The formats in which a report is downloaded and printed."""

from collections.abc import Callable
from dataclasses import dataclass

from geval.reports.downloads.latex import as_latex
from geval.reports.downloads.mlflow_metrics import as_metrics
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_csv, as_markdown, as_text
from geval.reports.report import Report


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
