"""Submit an answer: it is checked and stored once, and every later change is recorded."""

import json
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotations.answering.answers import Answer, Question, Shape, fields_of, read_answer
from annotations.answering.counting import count_again
from annotations.errors import AnnotationError
from annotations.models import (
    AnswerChange,
    Assignment,
    AssignmentState,
    Campaign,
    GuidelinesVersion,
    ItemKind,
    Review,
    ReviewAction,
    Seat,
    Span,
)
from annotations.planning.assignment import locked_assignment, refuse_if_not_open, reserve_again
from evaluations.models import CandidateOutput, Criterion
from evaluations.models.changes import note_change
from geval.files.answers.checks import is_as_expected
from geval.files.answers.pairs import preference_pairs
from geval_site.sql import JoinedQuery, execute_sql, fetch_rows

_CRITERIA = JoinedQuery(
    {"c": Criterion},
    """FROM evaluations_criterion c JOIN annotations_campaign_criteria m ON m.criterion_id = c.id
       WHERE m.campaign_id = %s ORDER BY c.position, c.id""",
)
# A single statement, so that the replaced values are read from the snapshot in which the new ones
# are written. Once scores were visible, the rating stays marked.
_STORE_RATINGS = """
    WITH given AS (
        SELECT * FROM unnest(%(criteria)s::bigint[], %(scores)s::float8[]) AS u(criterion_id, score)
    ), earlier AS (
        SELECT r.criterion_id, r.score
        FROM annotations_rating r JOIN given g ON r.criterion_id = g.criterion_id
        WHERE r.output_id = %(output)s AND r.annotator_id = %(annotator)s
    ), stored AS (
        INSERT INTO annotations_rating
            (output_id, criterion_id, annotator_id, score, scores_in_sight, comment,
             guidelines_version)
        SELECT %(output)s, criterion_id, %(annotator)s, score, %(in_sight)s, %(comment)s,
            %(guidelines)s
        FROM given
        ON CONFLICT (output_id, criterion_id, annotator_id) DO UPDATE
        SET score = EXCLUDED.score, comment = EXCLUDED.comment, created_at = now(),
            guidelines_version = EXCLUDED.guidelines_version,
            scores_in_sight = annotations_rating.scores_in_sight OR EXCLUDED.scores_in_sight
    )
    SELECT criterion_id, score FROM earlier
"""
# A preference may lack a criterion. Plain equality of the other keys can use the index.
_STORE_PREFERENCES = """
    WITH given AS (
        SELECT * FROM unnest(
            %(outputs_a)s::bigint[], %(outputs_b)s::bigint[], %(criteria)s::bigint[],
            %(values)s::smallint[], %(a_was_left)s::boolean[]
        ) AS u(output_a_id, output_b_id, criterion_id, value, a_was_left)
    ), earlier AS (
        SELECT p.output_a_id, p.output_b_id, p.criterion_id, p.annotator_id, p.value
        FROM annotations_preference p
        JOIN given g ON p.output_a_id = g.output_a_id AND p.output_b_id = g.output_b_id
            AND p.criterion_id IS NOT DISTINCT FROM g.criterion_id
        WHERE p.annotator_id = %(annotator)s
    ), stored AS (
        INSERT INTO annotations_preference
            (output_a_id, output_b_id, criterion_id, annotator_id, value, a_was_left,
             scores_in_sight, comment, guidelines_version)
        SELECT output_a_id, output_b_id, criterion_id, %(annotator)s, value, a_was_left,
               %(in_sight)s, %(comment)s, %(guidelines)s
        FROM given
        ON CONFLICT (output_a_id, output_b_id, criterion_id, annotator_id) DO UPDATE
        SET value = EXCLUDED.value, a_was_left = EXCLUDED.a_was_left,
            comment = EXCLUDED.comment, created_at = now(),
            guidelines_version = EXCLUDED.guidelines_version,
            scores_in_sight = annotations_preference.scores_in_sight OR EXCLUDED.scores_in_sight
    )
    SELECT * FROM earlier
"""


@dataclass(frozen=True)
class Submitted:
    """The result of a submission; `repeated` if the same answer was already stored, `corrected` if
    it replaced one that was returned."""

    assignment: Assignment
    repeated: bool
    corrected: bool = False


def questions_of(campaign: Campaign) -> tuple[Question, ...]:
    """Return a campaign's questions: its criteria, or "overall" for comparisons without
    criteria."""
    questions = tuple(
        Question(criterion.pk, criterion.name, criterion.scale)
        for criterion in criteria_of(campaign)
    )
    return questions or (Question(0, _("overall")),)


def criteria_of(campaign: Campaign) -> list[Criterion]:
    """Return the criteria of a campaign in order."""
    return [criterion for (criterion,) in _CRITERIA.all([campaign.pk])]


def shape_of(assignment: Assignment, *, text: str = "") -> Shape:
    """Return what the answer to an assignment must contain."""
    campaign = assignment.campaign
    return Shape(
        kind=campaign.kind,
        questions=questions_of(campaign),
        shown=tuple(assignment.shown),
        strength=campaign.strength,
        categories=tuple(campaign.span_categories) if campaign.is_rating else (),
        severities=tuple(campaign.span_severities),
        text=text,
    )


@transaction.atomic
def submit(
    seat: Seat, assignment_id: int, fields: dict[str, str], *, user: Any, version: int,
    seconds: float | None,
    draft_number: int = 0,
) -> Submitted:  # fmt: skip
    """Store an answer and the ratings, preferences and spans derived from it.

    The same answer sent twice is stored once. A second, different one is accepted as a change only
    if its form showed the first (`version`), so that a stale window overwrites nothing. The answer
    gets the version of the guidelines that the annotator had been shown, also if a newer one was
    saved while its page was open.

    Args:
        version: the assignment's version that the form showed.
        seconds: active time as the page measured it.
        draft_number: drafts up to this number are part of the answer; one that arrives late is
            discarded.

    Raises:
        AnnotationError: the answer is incomplete or off the scale, the assignment is not the
            annotator's or was reassigned, or the campaign is not open. Nothing is stored then.
    """
    assignment = locked_assignment(seat, assignment_id)
    refuse_if_not_open(seat.campaign)
    answer = read_answer(shape_of(assignment, text=_text_for_spans(assignment)), fields)
    before = assignment.answer
    if assignment.state == AssignmentState.SUBMITTED:
        if before == answer:
            return Submitted(assignment, repeated=True)
        if version != assignment.version:
            raise AnnotationError(
                _(
                    "This item was already submitted with a different answer, perhaps in another"
                    " window. Reload the page to see and change that answer; your input here is"
                    " kept as a draft."
                )
            )
        if assignment.reviews.is_fixed():
            raise AnnotationError(
                _("A reviewer has corrected this answer, so it cannot be changed."),
                keeps_place=False,
            )
    elif assignment.state == AssignmentState.REJECTED:
        raise AnnotationError(
            _(
                "The campaign’s owner rejected this answer, so it cannot be changed. Continue with"
                " the next item."
            ),
            keeps_place=False,
        )
    elif assignment.state != AssignmentState.RESERVED:
        reserve_again(assignment)
    assignment.guidelines_version = (
        seat.guidelines_seen or GuidelinesVersion.objects.current(seat.campaign.project).number
    )
    replaced = _store(assignment, answer) if before is None else None
    if before is not None or replaced:
        AnswerChange.objects.create(
            assignment=assignment,
            user=user,
            before=before if before is not None else replaced,
            after=answer,
        )
    corrected = before is not None and _note_correction(assignment, user)
    now = timezone.now()
    assignment.answer, assignment.draft = answer, None
    assignment.state = AssignmentState.SUBMITTED
    assignment.version += 1
    if before is None and assignment.item.kind != ItemKind.ORDINARY and assignment.passed is None:
        # The first answer counts: later ones may be influenced by the feedback.
        assignment.passed = is_as_expected(
            answer,
            assignment.item.expected or {},
            assignment.shown,
            tolerance=seat.campaign.check_tolerance,
        )
    assignment.draft_number = max(assignment.draft_number, draft_number)
    assignment.flagged = answer["flagged"]
    assignment.submitted_at = assignment.submitted_at or now
    if seconds is not None and seconds >= 0:
        assignment.seconds = min(seconds, (now - assignment.reserved_at).total_seconds())
    _save(assignment)
    if assignment.item.kind != ItemKind.ORDINARY:
        return Submitted(assignment, repeated=False, corrected=corrected)
    if before is not None:
        # A newer answer to the same question, in another campaign, may be the one that counts.
        count_again(assignment.annotator_id, assignment.shown, project=seat.campaign.project_id)
    else:
        note_change(
            seat.campaign.project_id, [int(key) for key in answer.get("scores", {})] or [None]
        )
    return Submitted(assignment, repeated=False, corrected=corrected)


def _note_correction(assignment: Assignment, user: Any) -> bool:
    """Tell reviewers of a change of an answer that was returned, before the answer is replaced;
    return whether it was."""
    newest = assignment.reviews.order_by("-pk").first()
    if newest is None or newest.action not in (ReviewAction.RETURNED, ReviewAction.ASKED):
        return False
    Review.objects.create(
        assignment=assignment,
        user=user,
        action=ReviewAction.CORRECTED,
        answer=assignment.answer,
    )
    return True


def _save(assignment: Assignment) -> None:
    execute_sql(
        """UPDATE annotations_assignment SET answer = %s, draft = NULL, state = %s,
            version = %s, flagged = %s,
                  submitted_at = %s, seconds = %s, lease_until = %s,
                  draft_number = greatest(draft_number, %s),
                  passed = %s, guidelines_version = %s
                      WHERE id = %s""",
        [
            json.dumps(assignment.answer), assignment.state, assignment.version,
            assignment.flagged,
            assignment.submitted_at, assignment.seconds, assignment.lease_until,
            assignment.draft_number,
            assignment.passed, assignment.guidelines_version,
            assignment.pk,
        ],
    )  # fmt: skip


def _text_for_spans(assignment: Assignment) -> str:
    if not (assignment.campaign.span_categories and assignment.campaign.is_rating):
        return ""
    return CandidateOutput.objects.values_list("text", flat=True).get(pk=assignment.shown[0])


def _store(assignment: Assignment, answer: Answer) -> Answer | None:
    """Store ratings or preferences of an ordinary item; checks and practice items have none.

    Returns:
        The annotator's earlier answer, from an upload or another campaign, if it was replaced.
    """
    if assignment.item.kind != ItemKind.ORDINARY:
        return None
    annotator, campaign = assignment.annotator_id, assignment.campaign
    if not campaign.is_rating:
        replaced = _store_preferences(assignment, answer)
    else:
        output = assignment.shown[0]
        if campaign.span_categories:
            Span.objects.filter(annotator=annotator, output=output).delete()
            Span.objects.bulk_create(
                Span(annotator_id=annotator, output_id=output, **span)
                for span in answer.get("spans", ())
            )
        replaced = _store_ratings(assignment, output, answer)
    return replaced


def _store_ratings(assignment: Assignment, output: int, answer: Answer) -> Answer | None:
    """Insert or replace an annotator's ratings of an output; return the replaced ones, if any."""
    rows = fetch_rows(
        _STORE_RATINGS,
        {
            "output": output,
            "annotator": assignment.annotator_id,
            "criteria": [int(key) for key in answer["scores"]],
            "scores": list(answer["scores"].values()),
            "in_sight": assignment.sees_scores,
            "comment": answer["comment"],
            "guidelines": assignment.guidelines_version,
        },
    )
    earlier = {str(criterion): score for criterion, score in rows}
    return {"scores": earlier} if earlier else None


def _store_preferences(assignment: Assignment, answer: Answer) -> Answer | None:
    """Insert or replace an annotator's preferences; return the replaced ones, if any."""
    pairs = preference_pairs(answer, assignment.shown)
    rows = fetch_rows(
        _STORE_PREFERENCES,
        {
            "annotator": assignment.annotator_id,
            "outputs_a": [pair.output_a for pair in pairs],
            "outputs_b": [pair.output_b for pair in pairs],
            "criteria": [pair.criterion or None for pair in pairs],
            "values": [pair.value for pair in pairs],
            "a_was_left": [pair.a_was_left for pair in pairs],
            "in_sight": assignment.sees_scores,
            "comment": answer["comment"],
            "guidelines": assignment.guidelines_version,
        },
    )
    earlier = [list(row) for row in rows]
    return {"preferences": earlier} if earlier else None


def draft_fields(assignment: Assignment) -> dict[str, str]:
    """Return the initial fields of a form: the draft, or else the submitted answer."""
    if assignment.draft is not None:
        return {str(name): str(value) for name, value in assignment.draft.items()}
    return fields_of(assignment.answer) if assignment.answer else {}


__all__ = ["Submitted", "draft_fields", "questions_of", "shape_of", "submit"]
