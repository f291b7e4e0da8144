"""The page of one item: texts, questions with their options, and the initial answer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.db import connection

from annotations.answering.answers import LETTERS
from annotations.answering.checks import ROUNDING, winner_of
from annotations.answering.progress import TaskProgress, task_progress
from annotations.answering.submission import criteria_of, draft_fields
from annotations.models import (
    Assignment,
    AssignmentState,
    Campaign,
    CampaignItem,
    CampaignKind,
    ItemKind,
    Seat,
)
from annotations.planning.selection import scores_on_scale
from evaluations.models import Criterion, Document
from geval.scales import Scale, short
from geval.texts.turns import Turn, turns_from
from geval.texts.word_differences import Piece, word_differences
from geval_site.joined_query import JoinedQuery

# On scales with more points than this, the number is typed, not chosen.
MOST_BUTTONS = 11
_ASSIGNMENTS = JoinedQuery(
    {"a": Assignment, "i": CampaignItem, "d": Document},
    """FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
       JOIN evaluations_document d ON d.id = i.document_id
       WHERE a.id = %s AND a.campaign_id = %s AND a.annotator_id = %s""",
)
_TEXTS = """SELECT o.id, o.text, s.name, o.turns FROM evaluations_candidateoutput o
            JOIN evaluations_system s ON s.id = o.system_id WHERE o.id = ANY(%s)"""


@dataclass(frozen=True)
class Option:
    """An option of a question; `key` is the key on the keyboard that chooses it."""

    value: str
    label: str
    name: str
    key: str
    chosen: bool


@dataclass(frozen=True)
class QuestionRow:
    """A question: a form field with its options, or a number to type if there are too many."""

    field: str
    title: str
    options: tuple[Option, ...]
    typed: str
    scale: Scale | None
    criterion: Criterion | None
    hints: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[str, str] | None:
        """What the ends of a scale mean, where its points have no names of their own."""
        if self.scale is None or any(option.name for option in self.options):
            return None
        return "low", "high"


@dataclass(frozen=True)
class ShownOutput:
    """An output as this annotator sees it; `system` is empty when it is hidden."""

    pk: int
    letter: str
    pieces: tuple[Piece, ...]
    system: str
    turns: tuple[Turn, ...] = ()

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def is_session(self) -> bool:
        """Whether it is a whole session, not a turn of one."""
        return len(self.turns) > 1


@dataclass(frozen=True)
class TaskPage:
    """Everything a task's template needs."""

    assignment: Assignment
    campaign: Campaign
    document: Document
    outputs: tuple[ShownOutput, ...]
    rows: tuple[QuestionRow, ...]
    fields: dict[str, str]
    progress: TaskProgress
    feedback: tuple[str, ...]

    @property
    def has_turns(self) -> bool:
        """Whether an output is shown as turns, of which no words are marked as different."""
        return any(output.turns for output in self.outputs)

    @property
    def is_submitted(self) -> bool:
        return self.assignment.state == AssignmentState.SUBMITTED

    @property
    def is_practice(self) -> bool:
        return self.assignment.item.kind == ItemKind.PRACTICE


def task_page(
    seat: Seat, assignment: Assignment, *, fields: dict[str, str] | None = None
) -> TaskPage:
    """The page of an assignment; `fields` replace the draft if a form with errors is shown
    again."""
    campaign = seat.campaign
    criteria = criteria_of(campaign)
    begun = fields if fields is not None else draft_fields(assignment)
    outputs = _outputs(assignment, criteria, show_systems=campaign.show_systems)
    hints = _judge_scores(campaign, assignment, outputs) if assignment.sees_scores else {}
    return TaskPage(
        assignment=assignment,
        campaign=campaign,
        document=assignment.item.document,
        outputs=outputs,
        rows=tuple(_rows(campaign, criteria, outputs, begun, hints)),
        fields=begun,
        progress=task_progress(seat, assignment),
        feedback=_feedback(assignment, criteria),
    )


def own_assignment(seat: Seat, pk: int) -> Assignment | None:
    """One of the annotator's assignments with its item, document and campaign."""
    row = _ASSIGNMENTS.first([pk, seat.campaign_id, seat.annotator_id])
    if row is None:
        return None
    assignment: Assignment
    assignment, assignment.item, assignment.item.document = row
    assignment.campaign = seat.campaign
    return assignment


def item_texts(item: CampaignItem, *, show_systems: bool) -> tuple[ShownOutput, ...]:
    """The outputs of an item in the item's own order, for its adjudicator."""
    assignment = Assignment(campaign=item.campaign, item=item, shown=item.outputs)
    return _outputs(assignment, list(item.campaign.criteria.all()), show_systems=show_systems)


def item_rows(
    campaign: Campaign, outputs: tuple[ShownOutput, ...], fields: dict[str, str]
) -> tuple[QuestionRow, ...]:
    """The questions of a campaign about some outputs."""
    return tuple(_rows(campaign, list(campaign.criteria.all()), outputs, fields, {}))


def _outputs(
    assignment: Assignment, criteria: list[Criterion], *, show_systems: bool
) -> tuple[ShownOutput, ...]:
    campaign, item = assignment.campaign, assignment.item
    if item.kind == ItemKind.ATTENTION:
        texts = dict.fromkeys(
            assignment.shown, _attention_text(campaign, criteria, item.expected or {})
        )
        systems: dict[int, str] = {}
        turns: dict[int, tuple[Turn, ...]] = {}
    else:
        with connection.cursor() as cursor:
            cursor.execute(_TEXTS, [list(assignment.shown)])
            rows = cursor.fetchall()
        texts = {pk: text for pk, text, _, _ in rows}
        systems = {pk: system for pk, _, system, _ in rows} if show_systems else {}
        turns = {pk: turns_from(orjson.loads(stored)) for pk, _, _, stored in rows}
    pieces = {pk: [Piece(text, False)] for pk, text in texts.items()}
    if campaign.kind == CampaignKind.PAIRWISE and item.kind != ItemKind.ATTENTION:
        left, right = assignment.shown
        pieces[left], pieces[right] = word_differences(texts[left], texts[right])
    several = len(assignment.shown) > 1
    return tuple(
        ShownOutput(
            pk,
            LETTERS[index] if several else "",
            tuple(pieces[pk]),
            systems.get(pk, ""),
            turns.get(pk, ()),
        )
        for index, pk in enumerate(assignment.shown)
    )


def _attention_text(campaign: Campaign, criteria: list[Criterion], expected: dict[str, Any]) -> str:
    if campaign.is_rating:
        scores = {criterion.pk: criterion.name for criterion in criteria}
        ratings = ", ".join(
            f"{scores[int(key)]} {short(point)}" for key, point in expected["scores"].items()
        )
        return (
            "This is an attention check, not a system's text. Please give these ratings:"
            f" {ratings}."
        )
    if "places" in expected:
        best, worst = (LETTERS[expected["places"][end]] for end in ("best", "worst"))
        wanted = (
            f"choose {best} as the best and {worst} as the worst"
            if campaign.kind == CampaignKind.BEST_WORST
            else f"rank {best} first and {worst} last"
        )
        return f"This is an attention check, not a system's text. Please {wanted} everywhere."
    side = "A, on the left" if expected["side"] == "left" else "B, on the right"
    return f"This is an attention check, not a system's text. Please choose {side} everywhere."


def _rows(
    campaign: Campaign,
    criteria: list[Criterion],
    outputs: tuple[ShownOutput, ...],
    begun: dict[str, str],
    hints: dict[int, list[str]],
) -> Iterator[QuestionRow]:
    rows: list[Criterion | None] = [*criteria] if criteria else [None]
    for criterion in rows:
        key, name = (criterion.pk, criterion.name) if criterion else (0, "Overall")
        if campaign.is_rating and criterion:
            field = f"score-{key}"
            points = criterion.scale.points
            few = len(points) <= MOST_BUTTONS
            options = _points(criterion.scale, begun.get(field, "")) if few else ()
            typed = "" if few else begun.get(field, "")
            yield QuestionRow(
                field, name, options, typed, criterion.scale, criterion, tuple(hints.get(key, ()))
            )
        elif campaign.kind == CampaignKind.PAIRWISE:
            yield _row(f"choice-{key}", name, _sides(strength=campaign.strength), begun, criterion)
        elif campaign.kind == CampaignKind.BEST_WORST:
            letters = [
                (str(output.pk), output.letter, "", str(n))
                for n, output in enumerate(outputs, start=1)
            ]
            yield _row(f"best-{key}", f"{name}: best", letters, begun, criterion)
            yield _row(f"worst-{key}", f"{name}: worst", letters, begun, None)
        else:
            ranks = [(str(rank), str(rank), "", str(rank)) for rank in range(1, len(outputs) + 1)]
            for output in outputs:
                title = f"{name}: rank of {output.letter}"
                first = output is outputs[0]
                yield _row(
                    f"rank-{key}-{output.pk}", title, ranks, begun, criterion if first else None
                )


def _row(
    field: str,
    title: str,
    options: list[tuple[str, str, str, str]],
    begun: dict[str, str],
    criterion: Criterion | None,
) -> QuestionRow:
    chosen = begun.get(field, "")
    made = tuple(
        Option(value, label, name, key, value == chosen) for value, label, name, key in options
    )
    return QuestionRow(field, title, made, "", None, criterion)


def _points(scale: Scale, chosen: str) -> tuple[Option, ...]:
    """A point's key is its digit (0 for 10), or its position in the row if it is not a digit."""
    names = {point: name for name, point in scale.labels.items()}
    digits = (
        scale.is_integral
        and scale.points[-1] <= 10
        and not (scale.points[0] == 0 and scale.points[-1] == 10)
    )
    return tuple(
        Option(
            value=short(point),
            label=short(point),
            name=names.get(point, ""),
            key=(
                short(point % 10)
                if digits
                else str(number)
                if number < 10
                else "0"
                if number == 10
                else ""
            ),
            chosen=short(point) == chosen,
        )
        for number, point in enumerate(scale.points, start=1)
    )


def _sides(*, strength: bool) -> list[tuple[str, str, str, str]]:
    if strength:
        return [
            ("2", "A", "much better", "1"),
            ("1", "A", "better", "2"),
            ("0", "tie", "", "3"),
            ("-1", "B", "better", "4"),
            ("-2", "B", "much better", "5"),
        ]
    return [("1", "A", "", "1"), ("0", "tie", "", "0"), ("-1", "B", "", "2")]


def _judge_scores(
    campaign: Campaign, assignment: Assignment, outputs: tuple[ShownOutput, ...]
) -> dict[int, list[str]]:
    """Judges' scores by criterion, in words; with several outputs, each names its output."""
    letters = {output.pk: output.letter for output in outputs}
    of_these = scores_on_scale("AND s.output_id = ANY(%(outputs)s)")
    query = f"""SELECT s.criterion_id, j.name, s.output_id, s.value FROM ({of_these}) AS s
                JOIN evaluations_judge j ON j.id = s.judge_id ORDER BY j.id"""
    values: dict[str, Any] = {
        "project": campaign.project_id,
        "criteria": [],
        "outputs": list(assignment.shown),
    }
    judge_scores: dict[int, list[str]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        for criterion, judge, output, value in cursor.fetchall():
            of = f" of {letters[output]}" if letters[output] else ""
            judge_scores[criterion].append(f"{judge}{of}: {value:.1f}")
    return judge_scores


def in_order(ranks: Mapping[str, int], letters: Mapping[int, str]) -> str:
    """A ranking such as "B > A = C"; empty without ranks."""
    by_rank: dict[int, list[str]] = {}
    for pk, rank in ranks.items():
        by_rank.setdefault(rank, []).append(letters.get(int(pk), "?"))
    return " > ".join(" = ".join(sorted(names)) for _, names in sorted(by_rank.items()))


def _feedback(assignment: Assignment, criteria: list[Criterion]) -> tuple[str, ...]:
    """After a practice item: the expected answer next to the given one."""
    if assignment.item.kind != ItemKind.PRACTICE or not assignment.answer:
        return ()
    expected = assignment.item.expected or {}
    names = {str(criterion.pk): criterion.name for criterion in criteria}
    lines = []
    for key, point in expected.get("scores", {}).items():
        given = assignment.answer["scores"].get(key)
        is_near = abs(given - point) <= assignment.campaign.check_tolerance + ROUNDING
        verdict = (
            "as expected"
            if given == point
            else f"expected {short(point)}{', near enough' * is_near}"
        )
        lines.append(f"{names.get(key, 'Overall')}: you gave {short(given)}, {verdict}.")
    letters = {pk: LETTERS[index] for index, pk in enumerate(assignment.shown)} | {0: "a tie"}
    for key, winner in expected.get("winners", {}).items():
        given = winner_of(assignment.answer["choices"].get(key, 0), assignment.shown)
        verdict = "as expected" if given == winner else f"expected {letters[winner]}"
        lines.append(f"{names.get(key, 'Overall')}: you preferred {letters[given]}, {verdict}.")
    for end in ("best", "worst"):
        for key, wanted in expected.get(end, {}).items():
            given = assignment.answer[end].get(key)
            verdict = "as expected" if given == wanted else f"expected {letters[wanted]}"
            lines.append(f"{names.get(key, 'Overall')}: your {end} is {letters[given]}, {verdict}.")
    for key, ranks in expected.get("ranks", {}).items():
        lines.append(
            f"{names.get(key, 'Overall')}: you ranked"
            f" {in_order(assignment.answer['ranks'].get(key, {}), letters)},"
            f" expected {in_order(ranks, letters)}."
        )
    return tuple(lines)
