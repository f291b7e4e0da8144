"""Figures as Plotly takes them: plain dictionaries, which the page draws and also shows as tables."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluations.models import Project
from evaluations.reports.report import score_tables
from evaluations.scales import short

# A browser draws some thousand points with ease; of more a fixed random sample is shown, and the page says so.
MOST_POINTS = 3000
TABLE_ROWS = 200


@dataclass(frozen=True)
class Figure:
    """A chart: its id on the page, a sentence that says what it shows, Plotly's data, and the same numbers as rows."""

    id: str
    title: str
    caption: str
    plotly: dict[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int


def scatter_figures(project: Project) -> list[Figure]:
    """For each criterion: human mean against judge score, one mark an output, one series a judge."""
    criteria = list(project.criteria.all())
    judges = list(project.judges.all())
    tables = score_tables(project, judges, criteria)
    documents = dict(project.documents.values_list("pk", "doc_id"))
    systems = dict(project.systems.values_list("pk", "name"))
    figures = []
    for criterion in criteria:
        human = tables.humans[criterion.pk].mean
        series: list[dict[str, Any]] = []
        rows: list[tuple[str, ...]] = []
        left_out = 0
        for index, judge in enumerate(judges):
            scores = tables.judges[criterion.pk].get(judge.pk)
            if scores is None:
                continue
            at = np.argwhere(~np.isnan(human) & ~np.isnan(scores))
            shown = _sample(at)
            left_out += len(at) - len(shown)
            names = [
                f"{documents[tables.document_ids[row]]} · {systems[tables.system_ids[column]]}" for row, column in shown
            ]
            x = [round(float(human[row, column]), 4) for row, column in shown]
            y = [round(float(scores[row, column]), 4) for row, column in shown]
            series.append({"name": judge.label, "x": x, "y": y, "text": names, "series": index})
            rows.extend(
                (judge.label, *name.split(" · ", 1), f"{a:.2f}", f"{b:.2f}")
                for name, a, b in zip(names, x, y, strict=True)
            )
        if series:
            scale = criterion.scale
            figures.append(
                Figure(
                    id=f"scatter-{criterion.pk}",
                    title=criterion.name,
                    caption=f"Each mark is an output: mean human rating of {criterion.name} and judge's score.",
                    plotly={
                        "series": series,
                        "x_title": f"mean human rating ({short(scale.lowest)}-{short(scale.highest)})",
                        "y_title": "judge's score",
                        "range": [scale.lowest, scale.highest],
                    },
                    columns=("judge", "document", "system", "human mean", "judge's score"),
                    rows=tuple(rows[:TABLE_ROWS]),
                    left_out=left_out,
                )
            )
    return figures


def _sample(places: np.ndarray) -> np.ndarray:
    if len(places) <= MOST_POINTS:
        return places
    chosen = np.random.default_rng(0).choice(len(places), MOST_POINTS, replace=False)
    return np.asarray(places[np.sort(chosen)])
