"""One document with all systems' outputs, their differences, ratings and scores."""

from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import fmean

import orjson
from django.db import connection

from annotations.models import Annotator
from evaluations.models import CandidateOutput, Criterion, Document, System
from evaluations.models.improving import is_withheld
from evaluations.models.newest_scores import newest_scores
from geval.statistics.scales import Scale, short
from geval.texts.word_differences import Piece, word_differences
from geval_site.joined_query import JoinedQuery

# Prebuilt statements that return no records: a document with many systems has a thousand scores.
_OUTPUTS = JoinedQuery(
    {"o": CandidateOutput, "s": System},
    "FROM evaluations_candidateoutput o JOIN evaluations_system s ON s.id = o.system_id"
    " WHERE o.document_id = %s ORDER BY o.system_id",
)
_RATINGS = """
    SELECT r.output_id, r.criterion_id, a.name, r.score, a.kind
    FROM annotations_rating r JOIN annotations_annotator a ON a.id = r.annotator_id
    JOIN evaluations_candidateoutput o ON o.id = r.output_id WHERE o.document_id = %s
        ORDER BY r.annotator_id"""
_OF_DOCUMENT = newest_scores(
    "o.document_id = %s", joins="JOIN evaluations_candidateoutput o ON o.id = s.output_id"
)
_SCORES = f"""
    SELECT n.output_id, n.criterion_id, n.judge_id, n.value, n.distribution
    FROM ({_OF_DOCUMENT}) AS n ORDER BY n.judge_id"""
SORTS = {"human": "human mean", "disagreement": "disagreement", "system": "system"}


@dataclass(frozen=True)
class Bar:
    """A scale point's share of a distribution, with its bar's place in a drawing 8 units wide a bar
    and 20 high."""

    point: str
    share: float
    x: int

    @property
    def height(self) -> float:
        return round(max(0.4, 20 * self.share), 1)

    @property
    def y(self) -> float:
        return round(20 - self.height, 1)


@dataclass(frozen=True)
class ScoreOf:
    """What a page needs of a score."""

    value: float
    criterion_id: int | None
    distribution: dict[str, float]
    rates_on_scale: bool


@dataclass(frozen=True)
class JudgeCell:
    """A judge's score of an output on a criterion, and how far it is from the human mean."""

    judge: str
    value: float
    bars: tuple[Bar, ...]
    difference: float | None

    @property
    def words(self) -> str:
        """The difference in words; within half a point it is no difference worth a word."""
        if self.difference is None or abs(self.difference) < 0.5:
            return ""
        return (
            f"{abs(self.difference):.1f} {'higher' if self.difference > 0 else 'lower'} than people"
        )

    @property
    def width(self) -> int:
        return 8 * len(self.bars)


@dataclass(frozen=True)
class CriterionRow:
    """What an output got on one criterion. `ratings` are (annotator, score)."""

    criterion: Criterion
    human_mean: float | None
    ratings: tuple[tuple[str, float], ...]
    judges: tuple[JudgeCell | None, ...]

    # Words for the page, which has hundreds of them: a template would take several times as long to
    # put them together.

    @property
    def mean(self) -> str:
        return "–" if self.human_mean is None else f"{self.human_mean:.2f}"

    @property
    def each(self) -> str:
        """Every rating, in the order of `by_whom`."""
        return " · ".join(f"{score:.4g}" for _name, score in self.ratings)

    @property
    def by_whom(self) -> str:
        return ", ".join(f"{name}: {score:.4g}" for name, score in self.ratings)


@dataclass(frozen=True)
class OutputCard:
    """One system's output with all its rows."""

    output: CandidateOutput
    system: System
    rows: tuple[CriterionRow, ...]
    pieces: tuple[Piece, ...] = ()

    @property
    def human_mean(self) -> float | None:
        means = [row.human_mean for row in self.rows if row.human_mean is not None]
        return fmean(means) if means else None

    @property
    def rows_said(self) -> bool:
        """Whether anybody has said anything of it, person or judge."""
        return any(row.ratings or any(row.judges) for row in self.rows)

    @property
    def disagreement(self) -> float:
        """Mean distance of judges from people, on the criteria where both spoke."""
        distances = [
            abs(cell.difference)
            for row in self.rows
            for cell in row.judges
            if cell is not None and cell.difference is not None
        ]
        return fmean(distances) if distances else 0.0


@dataclass(frozen=True)
class SideBySide:
    """The cards of a document in the order asked for, and the judges that scored any of them."""

    judges: tuple[str, ...]
    cards: tuple[OutputCard, ...]
    against: str
    bases: dict[str, str]
    withheld: bool = False

    @property
    def has_sessions(self) -> bool:
        """Whether whole sessions are shown, of which no words are marked."""
        return any(card.output.is_session for card in self.cards)

    @property
    def may_go(self) -> bool:
        """Whether nothing was said of any output, as far as this page knows."""
        return not self.withheld and not any(card.rows_said for card in self.cards)


def side_by_side(document: Document, *, sort: str, against: str = "") -> SideBySide:
    """Everything a document's page shows, in a fixed number of queries.

    Args:
        sort: a key of SORTS.
        against: what outputs are compared with word by word, a key of `bases`; the first output,
            where it is none.
    """
    criteria = [(criterion, criterion.scale) for criterion in document.project.criteria.all()]
    hidden = is_withheld(document)
    ratings = defaultdict(list) if hidden else _ratings(document)
    means = {} if hidden else document.outputs.human_means()
    judges, scores = _scores(document)
    cards = [
        OutputCard(
            output=output,
            system=system,
            rows=tuple(
                _row(
                    output,
                    criterion,
                    scale,
                    ratings[output.pk, criterion.pk],
                    means,
                    scores,
                    judges,
                )
                for criterion, scale in criteria
            ),
        )
        for output, system in _OUTPUTS.all([document.pk])
    ]
    ordered = _sorted(cards, sort)
    texts = _bases(document, cards)
    first = f"system-{ordered[0].system.pk}" if ordered else "none"
    chosen = against if against in texts else first
    marked = tuple(
        replace(card, pieces=_pieces(card, chosen, texts.get(chosen, ("", ""))[1]))
        for card in ordered
    )
    return SideBySide(
        judges, marked, chosen, {key: label for key, (label, _text) in texts.items()}, hidden
    )


def _ratings(document: Document) -> dict[tuple[int, int], list[tuple[str, float, str]]]:
    """Annotator, score and kind of annotator by output and criterion."""
    ratings: dict[tuple[int, int], list[tuple[str, float, str]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_RATINGS, [document.pk])
        for output, criterion, name, score, kind in cursor:
            ratings[output, criterion].append((name, score, kind))
    return ratings


def _scores(
    document: Document,
) -> tuple[tuple[str, ...], dict[tuple[int, int | None, str], ScoreOf]]:
    """The judges that scored anything, and the newest score of each by output, criterion and
    judge."""
    by_id = {
        judge.pk: (judge.label, judge.rates_on_scale) for judge in document.project.judges.all()
    }
    scores: dict[tuple[int, int | None, str], ScoreOf] = {}
    judges: dict[str, None] = {}
    with connection.cursor() as cursor:
        cursor.execute(_SCORES, [document.pk])
        for output, criterion, judge_id, value, stored in cursor:
            label, on_scale = by_id[judge_id]
            distribution = orjson.loads(stored) if stored else None  # Django takes JSON for text
            scores[output, criterion, label] = ScoreOf(
                value, criterion, distribution or {}, on_scale
            )
            judges[label] = None
    return tuple(judges), scores


def _bases(document: Document, cards: list[OutputCard]) -> dict[str, tuple[str, str]]:
    """What outputs can be compared with: a label and a text by key."""
    bases = {"none": ("nothing", "")}
    if document.references:
        bases["reference"] = ("the reference", document.references[0])
    bases["source"] = ("the source", document.source)
    return bases | {
        f"system-{card.system.pk}": (card.system.name, card.output.text) for card in cards
    }


def _pieces(card: OutputCard, against: str, base: str) -> tuple[Piece, ...]:
    if against in ("none", f"system-{card.system.pk}"):
        return (Piece(card.output.text, False),)
    return tuple(word_differences(base, card.output.text)[1])


def _row(
    output: CandidateOutput,
    criterion: Criterion,
    scale: Scale,
    ratings: list[tuple[str, float, str]],
    means: dict[tuple[int, int], float],
    scores: dict[tuple[int, int | None, str], ScoreOf],
    judges: tuple[str, ...],
) -> CriterionRow:
    people = [(name, score) for name, score, kind in ratings if kind == Annotator.Kind.PERSON]
    counted = people or [(name, score) for name, score, _kind in ratings]
    mean = means.get((output.pk, criterion.pk))
    found = (
        scores.get((output.pk, criterion.pk, judge)) or scores.get((output.pk, None, judge))
        for judge in judges
    )
    cells = tuple(
        judge_cell(judge, score, mean, scale) if score else None
        for judge, score in zip(judges, found, strict=True)
    )
    return CriterionRow(criterion, mean, tuple(counted), cells)


def judge_cell(judge: str, score: ScoreOf, mean: float | None, scale: Scale) -> JudgeCell:
    """A judge's score of an output beside people's mean, with its distribution as bars."""
    bars = tuple(
        Bar(point, share, 8 * index) for index, (point, share) in enumerate(_shares(score, scale))
    )
    # A score on another scale (ROUGE) has no distance from a rating.
    on_scale = score.criterion_id is not None and score.rates_on_scale
    comparable = mean is not None and on_scale and scale.holds(score.value)
    return JudgeCell(
        judge, score.value, bars, score.value - mean if comparable and mean is not None else None
    )


def _shares(score: ScoreOf, scale: Scale) -> list[tuple[str, float]]:
    """The distribution over every point of the scale, empty points included; nothing on long
    scales."""
    stored = score.distribution
    if len(stored) < 2 or len(scale.points) > 11:
        return []
    return [(short(point), float(stored.get(short(point), 0.0))) for point in scale.points]


def _sorted(cards: list[OutputCard], sort: str) -> list[OutputCard]:
    if sort == "disagreement":
        return sorted(cards, key=lambda card: -card.disagreement)
    if sort == "human":
        return sorted(
            cards, key=lambda card: -(card.human_mean if card.human_mean is not None else -1e9)
        )
    return cards
