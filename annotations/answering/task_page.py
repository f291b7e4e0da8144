"""The page of one item: texts, questions with their options, and the initial answer."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from django.utils.translation import gettext as _

from annotations.answering.answers import LETTERS
from annotations.answering.progress import TaskProgress, task_progress
from annotations.answering.submission import criteria_of, draft_fields
from annotations.models import (
    Assignment,
    AssignmentState,
    Campaign,
    CampaignItem,
    CampaignKind,
    ItemKind,
    Review,
    ReviewAction,
    Seat,
)
from annotations.planning.selection import scores_on_scale
from evaluations.models import Criterion, Document
from evaluations.people.languages import with_point
from geval.files.answers.checks import is_near, winner_of
from geval.statistics.scales import NOT_APPLICABLE, Scale, short
from geval.texts.turns import Turn, turns_from
from geval.texts.word_differences import Piece, word_differences
from geval_site.sql import JoinedQuery, fetch_rows

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


# Steps of a review that the annotator reads, and those after which they may ask back.
ANSWERABLE = (ReviewAction.RETURNED, ReviewAction.REJECTED)
READ = (*ANSWERABLE, ReviewAction.FIXED, ReviewAction.ASKED)


@dataclass(frozen=True)
class Option:
    """An option of a question; `key` has the keys that choose it, pressed in turn, `end` the
    meaning of the first or last point of a scale without point names."""

    value: str
    label: str
    name: str
    key: str
    chosen: bool
    end: str = ""


@dataclass(frozen=True)
class QuestionRow:
    """A question: a form field with its options, or a number field if there are too many
    options."""

    field: str
    title: str
    options: tuple[Option, ...]
    typed: str
    scale: Scale | None
    criterion: Criterion | None
    hints: tuple[str, ...] = ()
    is_not_applicable: bool = False

    @property
    def ends(self) -> tuple[str, str] | None:
        """The meanings of both ends of a scale: of a typed one with their names, of another only
        if its points have no names."""
        if self.scale is None:
            return None
        if not self.options:
            names = {point: name for name, point in self.scale.labels.items()}
            lowest, highest = names.get(self.scale.lowest), names.get(self.scale.highest)
            return lowest or _("low"), highest or _("high")
        return (self.options[0].end, self.options[-1].end) if self.options[0].end else None


@dataclass(frozen=True)
class ShownOutput:
    """An output as this annotator sees it; `system` is empty if hidden."""

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
        """Whether the output is a whole session rather than one turn."""
        return len(self.turns) > 1


@dataclass(frozen=True)
class TaskPage:
    """Everything that a task's template needs; `ranked_one_by_one` are the criteria of a ranking
    with several criteria, which are ranked by dragging one at a time."""

    assignment: Assignment
    campaign: Campaign
    document: Document
    outputs: tuple[ShownOutput, ...]
    rows: tuple[QuestionRow, ...]
    fields: dict[str, str]
    progress: TaskProgress
    feedback: tuple[str, ...]
    reviews: tuple[Review, ...] = ()
    ranked_one_by_one: tuple[Criterion, ...] = ()

    @property
    def has_turns(self) -> bool:
        """Whether an output is shown as turns, in which different words are not marked."""
        return any(output.turns for output in self.outputs)

    @property
    def is_submitted(self) -> bool:
        return self.assignment.state == AssignmentState.SUBMITTED

    @property
    def may_ask(self) -> bool:
        """Whether the annotator may ask the reviewer about the answer."""
        return bool(self.reviews) and self.reviews[-1].action in ANSWERABLE

    @property
    def is_practice(self) -> bool:
        return self.assignment.item.kind == ItemKind.PRACTICE


def task_page(
    seat: Seat, assignment: Assignment, *, fields: dict[str, str] | None = None
) -> TaskPage:
    """Return the page of an assignment; `fields` replace the draft when a form with errors is shown
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
        reviews=reviews_of(assignment) if assignment.answer else (),
        ranked_one_by_one=(
            tuple(criteria) if campaign.kind == CampaignKind.RANKING and len(criteria) > 1 else ()
        ),
    )


def reviews_of(assignment: Assignment) -> tuple[Review, ...]:
    """Return the steps of an answer's review that its annotator reads; other steps settle those
    before them."""
    steps: tuple[Review, ...] = ()
    for step in Review.objects.filter(assignment=assignment):
        steps = (*steps, step) if step.action in READ else ()
    return steps


def returned_to(seat: Seat) -> list[Review]:
    """Return the newest step of each answer that waits for its annotator's correction."""
    own = Review.objects.filter(
        assignment__campaign=seat.campaign_id, assignment__annotator=seat.annotator_id
    )
    return [step for step in own.newest() if step.action == ReviewAction.RETURNED]


def own_assignment(seat: Seat, pk: int) -> Assignment | None:
    """Return one of the annotator's assignments with its item, document and campaign."""
    row = _ASSIGNMENTS.first([pk, seat.campaign_id, seat.annotator_id])
    if row is None:
        return None
    assignment: Assignment
    assignment, assignment.item, assignment.item.document = row
    assignment.campaign = seat.campaign
    return assignment


def item_texts(
    item: CampaignItem, shown: list[int] | None = None, *, show_systems: bool
) -> tuple[ShownOutput, ...]:
    """Return the outputs of an item in the order of an annotator, or in the item's."""
    assignment = Assignment(campaign=item.campaign, item=item, shown=shown or item.outputs)
    return _outputs(assignment, list(item.campaign.criteria.all()), show_systems=show_systems)


def item_rows(
    campaign: Campaign, outputs: tuple[ShownOutput, ...], fields: dict[str, str]
) -> tuple[QuestionRow, ...]:
    """Return the questions of a campaign about some outputs."""
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
        rows = fetch_rows(_TEXTS, [list(assignment.shown)])
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
    about = _("This is an attention check, not a system’s text.")
    if campaign.is_rating:
        scores = {criterion.pk: criterion.name for criterion in criteria}
        ratings = ", ".join(
            f"{scores[int(key)]} {with_point(point)}" for key, point in expected["scores"].items()
        )
        return f"{about} {_('Please give these ratings:')} {ratings}."
    if "places" in expected:
        ends = {end: LETTERS[expected["places"][end]] for end in ("best", "worst")}
        wanted = (
            _("Please choose %(best)s as the best and %(worst)s as the worst everywhere.")
            if campaign.kind == CampaignKind.BEST_WORST
            else _("Please rank %(best)s first and %(worst)s last everywhere.")
        )
        return f"{about} {wanted % ends}"
    if expected["side"] == "left":
        return f"{about} {_('Please choose A everywhere.')}"
    return f"{about} {_('Please choose B everywhere.')}"


def _rows(
    campaign: Campaign,
    criteria: list[Criterion],
    outputs: tuple[ShownOutput, ...],
    begun: dict[str, str],
    hints: dict[int, list[str]],
) -> Iterator[QuestionRow]:
    rows: list[Criterion | None] = [*criteria] if criteria else [None]
    for criterion in rows:
        key, name = (criterion.pk, criterion.name) if criterion else (0, _("Overall"))
        if campaign.is_rating and criterion:
            field = f"score-{key}"
            points = criterion.scale.points
            few = len(points) <= MOST_BUTTONS
            chosen = begun.get(field, "")
            is_none = chosen == NOT_APPLICABLE or bool(begun.get(f"na-{key}"))
            options = _points(criterion.scale, chosen) if few else ()
            typed = "" if few or is_none else chosen
            yield QuestionRow(
                field,
                name,
                options,
                typed,
                criterion.scale,
                criterion,
                tuple(hints.get(key, ())),
                is_not_applicable=is_none,
            )
        elif campaign.kind == CampaignKind.PAIRWISE:
            yield _row(f"choice-{key}", name, _sides(strength=campaign.strength), begun, criterion)
        elif campaign.kind == CampaignKind.BEST_WORST:
            letters = [
                (str(output.pk), output.letter, "", str(n))
                for n, output in enumerate(outputs, start=1)
            ]
            yield _row(f"best-{key}", f"{name}: {_('best')}", letters, begun, criterion)
            yield _row(f"worst-{key}", f"{name}: {_('worst')}", letters, begun, None)
        else:
            ranks = [(str(rank), str(rank), "", str(rank)) for rank in range(1, len(outputs) + 1)]
            for output in outputs:
                title = f"{name}: {_('rank of')} {output.letter}"
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
    """Return a scale's points as options. The keys of a whole point are those of its number (1 and
    0 for 10, - and 2 for -2); a point between two whole numbers has none."""
    names = {point: name for name, point in scale.labels.items()}
    ends = {} if names else {1: _("low"), len(scale.points): _("high")}
    return tuple(
        Option(
            value=short(point),
            label=with_point(point),
            name=names.get(point, ""),
            key=short(point) if point.is_integer() else "",
            chosen=short(point) == chosen,
            end=ends.get(number, ""),
        )
        for number, point in enumerate(scale.points, start=1)
    )


def _sides(*, strength: bool) -> list[tuple[str, str, str, str]]:
    if strength:
        return [
            ("2", "A", _("much better"), "1"),
            ("1", "A", _("better"), "2"),
            ("0", _("tie"), "", "3"),
            ("-1", "B", _("better"), "4"),
            ("-2", "B", _("much better"), "5"),
        ]
    return [("1", "A", "", "1"), ("0", _("tie"), "", "0"), ("-1", "B", "", "2")]


def _judge_scores(
    campaign: Campaign, assignment: Assignment, outputs: tuple[ShownOutput, ...]
) -> dict[int, list[str]]:
    """Return judges' scores by criterion as text; with several outputs, each names its output.
    Judges have numbers where systems' names are hidden: a model may be judge and system."""
    letters = {output.pk: output.letter for output in outputs}
    of_these = scores_on_scale("AND s.output_id = ANY(%(outputs)s)")
    name = """CASE WHEN %(named)s THEN j.name ELSE 'LLM ' || (SELECT count(*)
        FROM evaluations_judge o WHERE o.project_id = j.project_id AND o.id <= j.id) END"""
    query = f"""SELECT s.criterion_id, {name}, s.output_id, s.value FROM ({of_these}) AS s
                JOIN evaluations_judge j ON j.id = s.judge_id ORDER BY j.id"""
    values: dict[str, Any] = {
        "project": campaign.project_id,
        "criteria": [],
        "outputs": list(assignment.shown),
        "named": campaign.show_systems,
    }
    judge_scores: dict[int, list[str]] = defaultdict(list)
    for criterion, judge, output, value in fetch_rows(query, values):
        of = f" ({letters[output]})" if letters[output] else ""
        judge_scores[criterion].append(f"{judge}{of}: {with_point(round(value, 1))}")
    return judge_scores


def in_order(ranks: Mapping[str, int], letters: Mapping[int, str]) -> str:
    """Format a ranking such as "B > A = C"; empty without ranks."""
    by_rank: dict[int, list[str]] = {}
    for pk, rank in ranks.items():
        by_rank.setdefault(rank, []).append(letters.get(int(pk), "?"))
    return " > ".join(" = ".join(sorted(names)) for _, names in sorted(by_rank.items()))


def _feedback(assignment: Assignment, criteria: list[Criterion]) -> tuple[str, ...]:
    """Return the feedback on a practice item: the expected answer next to the given one."""
    if assignment.item.kind != ItemKind.PRACTICE or not assignment.answer:
        return ()
    expected = assignment.item.expected or {}
    names = {str(criterion.pk): criterion.name for criterion in criteria}
    lines = []
    for key, point in expected.get("scores", {}).items():
        given = assignment.answer["scores"].get(key)
        is_enough = is_near(given, point, assignment.campaign.check_tolerance)
        near = f" ({_('near enough')})" if is_enough and given != point else ""
        line = _compared(names.get(key), with_point(given), with_point(point), given == point)
        lines.append(f"{line}{near}")
    if "reason" in expected:
        lines.append(expected["reason"])
    letters = {pk: LETTERS[index] for index, pk in enumerate(assignment.shown)} | {0: _("tie")}
    for key, winner in expected.get("winners", {}).items():
        given = winner_of(assignment.answer["choices"].get(key, 0), assignment.shown)
        lines.append(_compared(names.get(key), letters[given], letters[winner], given == winner))
    for end, name in (("best", _("best")), ("worst", _("worst"))):
        for key, wanted in expected.get(end, {}).items():
            given = assignment.answer[end].get(key)
            title = f"{names.get(key, _('Overall'))}: {name}"
            lines.append(_compared(title, letters[given], letters[wanted], given == wanted))
    for key, ranks in expected.get("ranks", {}).items():
        order = in_order(assignment.answer["ranks"].get(key, {}), letters)
        wanted_order = in_order(ranks, letters)
        lines.append(_compared(names.get(key), order, wanted_order, order == wanted_order))
    return tuple(lines)


def _compared(title: str | None, given: str, expected: str, is_right: bool) -> str:
    """Return a line of feedback: the given and the expected answer."""
    line = (
        _("%(question)s: you gave %(given)s, as expected.")
        if is_right
        else _("%(question)s: you gave %(given)s, expected was %(expected)s.")
    )
    return line % {"question": title or _("Overall"), "given": given, "expected": expected}
