"""Rows of files become the arrays that a report is computed from."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from geval.files.rows import JudgeScoreRow, OutputRow, RatingRow, Row, ScoreRow
from geval.files.seen_values import SeenValues, guess_of_values
from geval.reports.data import ReportData
from geval.reports.human_scores import Rater, human_scores_of
from geval.scales import Scale
from geval.statistics.bias import Family
from geval.statistics.layout import Outputs
from geval.statistics.types import FloatArray, rounded

# Systems whose kind nobody said.
OTHER = "other"


@dataclass(frozen=True)
class Criterion:
    """A criterion of files: its position from 1, its name and its scale."""

    pk: int
    name: str
    scale: Scale


@dataclass(frozen=True)
class ImportedJudge:
    """A judge whose scores were computed elsewhere."""

    pk: int
    name: str
    model: str = ""
    family: str = ""
    is_stand_in: bool = False
    compares_pairs: bool = False

    @property
    def label(self) -> str:
        return self.name


@dataclass
class _Values:
    """Ratings, or a judge's scores, on a criterion: positions of outputs and raters."""

    output: list[int] = field(default_factory=list)
    rater: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    seen: SeenValues = field(default_factory=SeenValues)


class Gatherer:
    """Takes rows in turn. Documents, systems, raters, judges and criteria are numbered as they
    first come, which is the order in which a site stores them."""

    def __init__(self) -> None:
        self.documents: dict[str, int] = {}
        self.systems: dict[str, int] = {}
        self.outputs: dict[tuple[int, int], int] = {}
        self.texts: dict[int, str] = {}
        self.raters: dict[str, Rater] = {}
        self.judges: dict[str, int] = {}
        self.criteria: dict[str, str] = {}  # by its name in small letters
        self.ratings: dict[str, _Values] = {}
        self.scores: dict[tuple[str, int], _Values] = {}
        self.unread: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Take a row; of kinds that no correlation is about only their number is kept."""
        if isinstance(row, OutputRow):
            at = self._output(row.doc_id or row.source, row.system_id)
            self.texts[at] = row.output
        elif isinstance(row, RatingRow):
            self._add_rating(row)
        elif isinstance(row, JudgeScoreRow):
            self._add_score(row)
        else:
            self.unread[type(row).__name__] += 1

    def _output(self, document: str, system: str) -> int:
        at = (
            self.documents.setdefault(document, len(self.documents)),
            self.systems.setdefault(system, len(self.systems)),
        )
        return self.outputs.setdefault(at, len(self.outputs))

    def _of(self, row: ScoreRow) -> int:
        return self._output(row.doc_id or row.source, row.system_id)

    def _criterion(self, name: str) -> str:
        self.criteria.setdefault(name.lower(), name)
        return name.lower()

    def _add_rating(self, row: RatingRow) -> None:
        rater = self.raters.setdefault(
            row.rater, Rater(len(self.raters) + 1, row.rater, is_mean=row.is_mean)
        )
        values = self.ratings.setdefault(self._criterion(row.criterion), _Values())
        values.output.append(self._of(row))
        values.rater.append(rater.pk - 1)
        values.value.append(row.score)
        values.seen.add(row.score)

    def _add_score(self, row: JudgeScoreRow) -> None:
        judge = self.judges.setdefault(row.rater, len(self.judges) + 1)
        about = self._criterion(row.criterion) if row.criterion else ""
        values = self.scores.setdefault((about, judge), _Values())
        values.output.append(self._of(row))
        values.value.append(row.score)
        values.seen.add(row.score)


@dataclass(frozen=True)
class Gathered:
    """What files hold, as a report takes it. `texts` are those of outputs, "" where there is
    none."""

    data: ReportData
    criteria: tuple[Criterion, ...]
    judges: tuple[ImportedJudge, ...]
    texts: tuple[str, ...]


def gathered(rows: Iterable[Row], scales: Mapping[str, Scale]) -> Gathered:
    """The arrays of some rows.

    Args:
        scales: of criteria by their names in small letters; others are guessed from the ratings.
    """
    gatherer = Gatherer()
    for row in rows:
        gatherer.add(row)
    order, outputs = _in_order(gatherer)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    criteria = tuple(_criteria(gatherer, scales))
    texts = tuple(gatherer.texts.get(at, "") for at in order.tolist())
    systems = tuple(gatherer.systems)
    data = ReportData(
        document_ids=np.arange(1, len(gatherer.documents) + 1),
        system_ids=np.arange(1, len(systems) + 1),
        doc_ids=tuple(gatherer.documents),
        system_names=systems,
        system_kinds=(OTHER,) * len(systems),
        system_families=tuple(Family.of("", name) for name in systems),
        outputs=outputs,
        output_ids=np.arange(1, len(order) + 1),
        words=_words(texts),
    )
    raters = list(gatherer.raters.values())
    for criterion in criteria:
        values = gatherer.ratings.get(criterion.name.lower(), _Values())
        data.humans[criterion.pk] = human_scores_of(
            place[np.array(values.output, dtype=np.int64)],
            np.array(values.rater, dtype=np.int64),
            np.array(values.value, dtype=float),
            outputs=len(order),
            raters=raters,
        )
    _fill_judges(data, gatherer, criteria, place)
    judges = tuple(ImportedJudge(pk, name) for name, pk in gatherer.judges.items())
    return Gathered(data, criteria, judges, texts)


def _words(texts: Sequence[str]) -> FloatArray:
    """How many words each text has; NaN where no text was given."""
    if not any(texts):
        return np.full(len(texts), np.nan)
    return np.array([len(text.split()) for text in texts], dtype=float)


def _in_order(gatherer: Gatherer) -> tuple[np.ndarray, Outputs]:
    """Outputs by document, then by system, as a report has them."""
    keys = np.array(list(gatherer.outputs), dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    document, system = keys[order].T
    return order, Outputs(document, system, len(gatherer.documents), len(gatherer.systems))


def _criteria(gatherer: Gatherer, scales: Mapping[str, Scale]) -> Iterator[Criterion]:
    for pk, (key, name) in enumerate(gatherer.criteria.items(), start=1):
        scale = scales.get(key)
        if scale is None:
            ratings = gatherer.ratings[key].seen if key in gatherer.ratings else SeenValues()
            scores = SeenValues()
            for (about, _judge), values in gatherer.scores.items():
                if about == key:
                    scores.extend(values.seen)
            scale = guess_of_values(ratings, scores).scale
        yield Criterion(pk, name, scale)


def _fill_judges(
    data: ReportData, gatherer: Gatherer, criteria: Sequence[Criterion], place: np.ndarray
) -> None:
    """A score on no criterion counts for every one, unless the criterion has its own."""
    for criterion in criteria:
        for judge in gatherer.judges.values():
            scores: FloatArray = np.full(len(place), np.nan)
            for about in ("", criterion.name.lower()):
                values = gatherer.scores.get((about, judge))
                if values is not None:
                    scores[place[np.array(values.output, dtype=np.int64)]] = values.value
            if not np.isnan(scores).all():
                data.judges[criterion.pk, judge] = rounded(scores)
