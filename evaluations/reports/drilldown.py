"""The documents behind a number, ordered by how much people and a judge differ."""

from dataclasses import dataclass

import numpy as np

from evaluations.reports.data import ReportData
from evaluations.statistics.correlation import coefficients_by_document, rank_rows


@dataclass(frozen=True)
class DocumentGap:
    """A document behind a number.

    `rho` is Spearman's within it; `distance` the mean distance of the judge's ranks from people's,
    in places; `worst` names the system on which they differ most, with both values.
    """

    pk: int
    doc_id: str
    outputs: int
    rho: float | None
    distance: float
    worst: str
    human: float
    judge: float


def documents_behind(data: ReportData, criterion: int, judge: int) -> list[DocumentGap]:
    """All documents with a rating and a score, the most different first."""
    human, scores = data.humans[criterion].mean, data.judges.get((criterion, judge))
    if scores is None:
        return []
    missing = np.isnan(human) | np.isnan(scores)
    x, y = np.where(missing, np.nan, human), np.where(missing, np.nan, scores)
    gaps = np.abs(rank_rows(x) - rank_rows(y))
    found = []
    rho = coefficients_by_document(x, y, "spearman") if len(x) else np.empty(0)
    for row in np.flatnonzero((~missing).any(axis=1)):
        worst = int(np.nanargmax(gaps[row]))
        found.append(
            DocumentGap(
                pk=int(data.document_ids[row]),
                doc_id=data.doc_ids[row],
                outputs=int((~missing[row]).sum()),
                rho=None if np.isnan(rho[row]) else float(rho[row]),
                distance=float(np.nanmean(gaps[row])),
                worst=data.system_names[worst],
                human=float(x[row, worst]),
                judge=float(y[row, worst]),
            )
        )
    return sorted(found, key=lambda gap: -gap.distance)
