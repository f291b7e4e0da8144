"""The documents behind a number, ordered by the difference between people and a judge."""

from dataclasses import dataclass

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.arrays import complete, mean_of
from geval.statistics.correlation import coefficients_by_document, ranks_by_document

# A page with more would be slow; the largest differences come first.
MOST_SHOWN = 500


@dataclass(frozen=True)
class DocumentGap:
    """A document behind a number.

    `rho` is Spearman's rho within it; `distance` the mean distance of the judge's ranks from
    people's, in places; `worst` names the system with the largest difference and both values, and
    `output` is its output's id.
    """

    pk: int
    doc_id: str
    outputs: int
    rho: float | None
    distance: float
    worst: str
    output: int
    human: float
    judge: float


@dataclass(frozen=True)
class DocumentsBehind:
    """The documents with the largest differences, and the total number."""

    worst: tuple[DocumentGap, ...] = ()
    documents: int = 0


def documents_behind(data: ReportData, criterion: int, judge: int) -> DocumentsBehind:
    """Return the documents with a rating and a score, the largest difference first, up to
    `MOST_SHOWN`."""
    scores = data.judges.get((criterion, judge))
    if scores is None:
        return DocumentsBehind()
    ids = data.output_ids[~np.isnan(data.humans[criterion].mean + scores)]
    outputs, (human, score) = complete(data.outputs, data.humans[criterion].mean, scores)
    gaps = np.abs(ranks_by_document(outputs, human) - ranks_by_document(outputs, score))
    count = outputs.by_document().astype(int)
    distance = mean_of(outputs.by_document(gaps), count)
    rho = coefficients_by_document(outputs, human, score, "spearman")
    begin = np.cumsum(count) - count
    order = np.argsort(-np.nan_to_num(distance, nan=-1), kind="stable")
    behind = int((count > 0).sum())
    documents = []
    for row in order[: min(behind, MOST_SHOWN)]:
        of_document = slice(begin[row], begin[row] + count[row])
        worst = begin[row] + int(np.argmax(gaps[of_document]))
        documents.append(
            DocumentGap(
                pk=int(data.document_ids[row]),
                doc_id=data.doc_ids[row],
                outputs=int(count[row]),
                rho=None if np.isnan(rho[row]) else float(rho[row]),
                distance=float(distance[row]),
                worst=data.system_names[outputs.system[worst]],
                output=int(ids[worst]),
                human=float(human[worst]),
                judge=float(score[worst]),
            )
        )
    return DocumentsBehind(tuple(documents), behind)
