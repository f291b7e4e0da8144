"""Documents by people's and judges' scores and by the distance between them: their order in the
list, and those with the largest differences behind a number.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from geval.reports.data import ReportData
from geval.statistics.arrays import Outputs, complete, mean_of
from geval.statistics.cache import remembered_as
from geval.statistics.correlation import coefficients_by_document, ranks_by_document
from geval.statistics.types import FloatArray, IntArray
from geval.texts.subjects import CriterionLike

DISAGREEMENT, PEOPLE = "disagreement", "people"
# A page with more would be slow; the largest differences come first.
MOST_SHOWN = 500


@dataclass(frozen=True)
class DocumentFigures:
    """A project's documents with their means over outputs and criteria; NaN where there is none.

    `document_ids` are ascending; the other arrays are parallel to it. `disagreement` is the mean
    distance of judges' scores from human means, over the judges that rate on the criteria's scales.
    """

    document_ids: IntArray
    human: FloatArray
    judges: dict[int, FloatArray]
    disagreement: FloatArray

    def by(self, sort: str) -> tuple[FloatArray, bool]:
        """Parse a sort: its measure, and whether the highest come first. A judge's sort ends in its
        id."""
        kind, _, judge = sort.partition("-")
        if kind == DISAGREEMENT:
            return self.disagreement, True
        nothing = np.full(len(self.document_ids), np.nan)
        return (self.judges.get(int(judge), nothing) if judge else self.human), kind == "high"

    def order(self, sort: str) -> IntArray:
        """Return document ids in the order of a sort; those without a value are last."""
        values, highest_first = self.by(sort)
        return self.document_ids[np.argsort(-values if highest_first else values, kind="stable")]

    def distance(self, document_id: int) -> float | None:
        """Return a document's disagreement."""
        return self._at(self.disagreement, document_id)

    def judged(self, judge: int, document_id: int) -> float | None:
        """Return a judge's mean on a document."""
        return self._at(self.judges[judge], document_id) if judge in self.judges else None

    @property
    def measures(self) -> tuple[str, ...]:
        """Return the measures by which documents can be sorted."""
        return DISAGREEMENT, PEOPLE, *map(str, self.judges)

    def only(self, measure: str) -> "DocumentFigures":
        """Return only what a list sorted by a measure shows."""
        return replace(
            self,
            human=self.human if measure == PEOPLE else np.empty(0),
            judges={pk: values for pk, values in self.judges.items() if str(pk) == measure},
        )

    def _at(self, values: FloatArray, document_id: int) -> float | None:
        place = int(np.searchsorted(self.document_ids, document_id))
        if (
            place >= len(self.document_ids)
            or self.document_ids[place] != document_id
            or np.isnan(values[place])
        ):
            return None
        return float(values[place])


def measure_of(sort: str) -> str:
    """Parse the measure of a sort: disagreement, people's ratings, or a judge's scores, by its
    id."""
    kind, _, judge = sort.partition("-")
    return DISAGREEMENT if kind == DISAGREEMENT else judge or PEOPLE


def document_figures(
    data: ReportData, criteria: Iterable[CriterionLike], on_scale: set[int]
) -> DocumentFigures:
    """Return the figures of all documents, cached by their inputs.

    Args:
        on_scale: the judges on the criteria's scales, whose scores can be compared with human
            means.
    """
    scales = {
        criterion.pk: (criterion.scale.lowest, criterion.scale.highest) for criterion in criteria
    }
    humans = {pk: human.mean for pk, human in data.humans.items() if pk in scales}
    # Everything that it is computed from; arrays count by their contents.
    parts = [
        data.document_ids,
        data.outputs,
        scales,
        sorted(on_scale),
        *_flat(humans),
        *_flat(data.judges),
    ]
    return remembered_as(
        "document figures",
        parts,
        lambda: compute_figures(data, humans, scales=scales, on_scale=on_scale),
    )


def compute_figures(
    data: ReportData,
    humans: dict[int, FloatArray],
    *,
    scales: dict[int, tuple[float, float]],
    on_scale: set[int],
) -> DocumentFigures:
    """Means by document.

    Args:
        humans: human means by criterion, shape (outputs,).
        scales: the lowest and the highest score of each criterion.
        on_scale: the judges on the criteria's scales, whose scores can be compared with human
            means.
    """
    distances = []
    judges: dict[int, list[FloatArray]] = {}
    for (criterion, judge), scores in data.judges.items():
        judges.setdefault(judge, []).append(scores)
        if judge in on_scale and criterion in humans:
            lowest, highest = scales[criterion]
            comparable = (scores >= lowest) & (scores <= highest)
            distances.append(np.where(comparable, np.abs(scores - humans[criterion]), np.nan))
    # Documents of a session are adjacent in the data, so their ids may not be ascending there.
    order = np.argsort(data.document_ids)
    return DocumentFigures(
        document_ids=data.document_ids[order],
        human=_means(data.outputs, list(humans.values()))[order],
        judges={judge: _means(data.outputs, scores)[order] for judge, scores in judges.items()},
        disagreement=_means(data.outputs, distances)[order],
    )


def _means(outputs: Outputs, sides: list[FloatArray]) -> FloatArray:
    """Return each document's mean over all its values, with several per output."""
    total, count = np.zeros(outputs.documents), np.zeros(outputs.documents)
    for values in sides:
        total += outputs.by_document(np.nan_to_num(values))
        count += outputs.by_document((~np.isnan(values)).astype(float))
    return mean_of(total, count)


def _flat(tables: dict[int, FloatArray] | dict[tuple[int, int], FloatArray]) -> list[object]:
    return [part for key in sorted(tables) for part in (key, tables[key])]  # type: ignore[index]


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
