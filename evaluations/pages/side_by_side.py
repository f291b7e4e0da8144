"""One document with all systems' outputs, their differences, ratings and scores."""

from collections import defaultdict
from dataclasses import dataclass, replace
from statistics import fmean

import orjson

from annotations.models import Annotator
from evaluations.models import CandidateOutput, Criterion, Document, System
from evaluations.models.improving import is_withheld, shown_means
from evaluations.models.newest_scores import newest_scores
from geval.reports.score_cells import CriterionRow, ScoreOf, judge_cell
from geval.statistics.scales import Scale
from geval.texts.word_differences import Piece, word_differences
from geval_site.sql import JoinedQuery, fetch_rows

# Compiled statements that return no model instances: a document with many systems has a thousand
# scores.
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
        """Whether any person or judge has assessed the output."""
        return any(row.ratings or any(row.judges) for row in self.rows)

    @property
    def disagreement(self) -> float:
        """The mean distance of judges from people, on the criteria that both assessed."""
        distances = [
            abs(cell.difference)
            for row in self.rows
            for cell in row.judges
            if cell is not None and cell.difference is not None
        ]
        return fmean(distances) if distances else 0.0


@dataclass(frozen=True)
class SideBySide:
    """The cards of a document in the requested order, and the judges that scored any of them."""

    judges: tuple[str, ...]
    cards: tuple[OutputCard, ...]
    against: str
    bases: dict[str, str]
    withheld: bool = False

    @property
    def has_sessions(self) -> bool:
        """Whether whole sessions are shown, in which words are not marked."""
        return any(card.output.is_session for card in self.cards)

    @property
    def may_go(self) -> bool:
        """Whether no output has been assessed, as far as this page knows."""
        return not self.withheld and not any(card.rows_said for card in self.cards)


def side_by_side(document: Document, *, sort: str, against: str = "") -> SideBySide:
    """Return everything that a document's page shows, in a fixed number of queries.

    Args:
        sort: a key of SORTS.
        against: what outputs are compared with word by word: a key of `bases`, or else the first
            output.
    """
    criteria = [(criterion, criterion.scale) for criterion in document.project.criteria.all()]
    hidden = is_withheld(document)
    ratings = defaultdict(list) if hidden else _ratings(document)
    means = shown_means(document.outputs.all(), document.project_id)
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


def _ratings(document: Document) -> dict[tuple[int, int], list[tuple[str, float | None, str]]]:
    """Return annotator, score and kind of annotator by output and criterion."""
    ratings: dict[tuple[int, int], list[tuple[str, float | None, str]]] = defaultdict(list)
    for output, criterion, name, score, kind in fetch_rows(_RATINGS, [document.pk]):
        ratings[output, criterion].append((name, score, kind))
    return ratings


def _scores(
    document: Document,
) -> tuple[tuple[str, ...], dict[tuple[int, int | None, str], ScoreOf]]:
    """Return the judges with scores, and the newest score of each by output, criterion and
    judge."""
    by_id = {
        judge.pk: (judge.label, judge.rates_on_scale) for judge in document.project.judges.all()
    }
    scores: dict[tuple[int, int | None, str], ScoreOf] = {}
    judges: dict[str, None] = {}
    for output, criterion, judge_id, value, stored in fetch_rows(_SCORES, [document.pk]):
        label, on_scale = by_id[judge_id]
        # Django returns JSON as text here
        distribution = orjson.loads(stored) if stored else None
        scores[output, criterion, label] = ScoreOf(value, criterion, distribution or {}, on_scale)
        judges[label] = None
    return tuple(judges), scores


def _bases(document: Document, cards: list[OutputCard]) -> dict[str, tuple[str, str]]:
    """Return what outputs can be compared with: a label and a text by key."""
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
    ratings: list[tuple[str, float | None, str]],
    means: dict[tuple[int, int], float],
    scores: dict[tuple[int, int | None, str], ScoreOf],
    judges: tuple[str, ...],
) -> CriterionRow:
    people = [(name, score) for name, score, kind in ratings if kind == Annotator.Kind.PERSON]
    counted = people or [(name, score) for name, score, _kind in ratings]
    mean = means.get((output.pk, criterion.pk))
    given_scores = (
        scores.get((output.pk, criterion.pk, judge)) or scores.get((output.pk, None, judge))
        for judge in judges
    )
    cells = tuple(
        judge_cell(judge, score, mean, scale) if score else None
        for judge, score in zip(judges, given_scores, strict=True)
    )
    return CriterionRow(criterion, mean, tuple(counted), cells)


def _sorted(cards: list[OutputCard], sort: str) -> list[OutputCard]:
    if sort == "disagreement":
        return sorted(cards, key=lambda card: -card.disagreement)
    if sort == "human":
        return sorted(
            cards, key=lambda card: -(card.human_mean if card.human_mean is not None else -1e9)
        )
    return cards
