"""Which of a person's answers to some outputs count: for each question the newest answer that is
not rejected.

Reports read ratings, preferences and spans; answers are the record. A first answer is the newest,
so it is stored directly (`submission`). When an answer is changed, rejected or restored, an answer
in another campaign may be the newest, so all are read again here.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from annotations.models import Assignment, AssignmentState, ItemKind, Preference, Rating, Span
from evaluations.models import Criterion
from evaluations.models.changes import note_change
from geval.files.answers.pairs import preference_pairs
from geval_site.sql import execute_sql

_Key = tuple[int, ...]


@dataclass
class _Counting:
    """Rows by their unique keys. `asked_…` has the key of every question that was answered,
    including rejected answers."""

    asked_ratings: set[_Key] = field(default_factory=set)
    ratings: dict[_Key, Rating] = field(default_factory=dict)
    asked_preferences: set[_Key] = field(default_factory=set)
    preferences: dict[_Key, Preference] = field(default_factory=dict)
    asked_spans: set[int] = field(default_factory=set)
    spans: dict[int, list[Span]] = field(default_factory=dict)


def count_again(annotator: int, outputs: Collection[int], *, project: int) -> None:
    """Store the answers of a person to these outputs that count, and remove the others.

    Ratings from a file under the person's name stay if no answer covers them. Call this within a
    transaction.
    """
    counting = _Counting()
    criteria = set(Criterion.objects.filter(project=project).values_list("pk", flat=True))
    rows = (
        Assignment.objects.filter(
            annotator=annotator,
            shown__overlap=list(outputs),
            item__kind=ItemKind.ORDINARY,
            state__in=(AssignmentState.SUBMITTED, AssignmentState.REJECTED),
            answer__isnull=False,
        )
        .select_related("campaign")
        .order_by("submitted_at", "pk")
    )
    for assignment in rows:
        _add(counting, assignment, criteria)
    _store_ratings(annotator, counting)
    _store_preferences(annotator, counting)
    Span.objects.filter(annotator=annotator, output__in=counting.asked_spans).delete()
    Span.objects.bulk_create(span for spans in counting.spans.values() for span in spans)
    changed = {criterion or None for _, criterion in counting.asked_ratings}
    note_change(project, [*changed] or [None])


def _add(counting: _Counting, assignment: Assignment, criteria: set[int]) -> None:
    """Add an answer, which replaces older ones."""
    answer, counts = assignment.answer or {}, assignment.state == AssignmentState.SUBMITTED
    annotator, in_sight = assignment.annotator_id, assignment.sees_scores
    comment, at = answer.get("comment", ""), assignment.submitted_at
    version = assignment.guidelines_version
    for key, score in answer.get("scores", {}).items():
        about = (assignment.shown[0], int(key))
        if about[1] not in criteria:
            continue
        counting.asked_ratings.add(about)
        if counts:
            counting.ratings[about] = Rating(
                output_id=about[0], criterion_id=about[1], annotator_id=annotator, score=score,
                scores_in_sight=in_sight, comment=comment, created_at=_moment(at),
                guidelines_version=version,
            )  # fmt: skip
    for pair in preference_pairs(answer, assignment.shown):
        if pair.criterion and pair.criterion not in criteria:
            continue
        pair_key = (pair.output_a, pair.output_b, pair.criterion)
        counting.asked_preferences.add(pair_key)
        if counts:
            counting.preferences[pair_key] = Preference(
                output_a_id=pair.output_a, output_b_id=pair.output_b,
                criterion_id=pair.criterion or None, annotator_id=annotator, value=pair.value,
                a_was_left=pair.a_was_left, scores_in_sight=in_sight, comment=comment,
                created_at=_moment(at), guidelines_version=version,
            )  # fmt: skip
    if assignment.campaign.is_rating and assignment.campaign.span_categories:
        output = assignment.shown[0]
        counting.asked_spans.add(output)
        if counts:
            counting.spans[output] = [
                Span(annotator_id=annotator, output_id=output, **span)
                for span in answer.get("spans", ())
            ]


def _moment(at: datetime | None) -> datetime:
    assert at is not None, "what was submitted has a time"
    return at


def _store_ratings(annotator: int, counting: _Counting) -> None:
    gone = counting.asked_ratings - counting.ratings.keys()
    execute_sql(
        """DELETE FROM annotations_rating r
           USING unnest(%s::bigint[], %s::bigint[]) AS g(output_id, criterion_id)
           WHERE r.annotator_id = %s AND r.output_id = g.output_id
               AND r.criterion_id = g.criterion_id""",
        [*_columns(gone, 2), annotator],
    )
    Rating.objects.bulk_create(
        counting.ratings.values(),
        update_conflicts=True,
        unique_fields=["output", "criterion", "annotator"],
        update_fields=["score", "comment", "created_at", "guidelines_version"],
        batch_size=1000,
    )


def _store_preferences(annotator: int, counting: _Counting) -> None:
    """Delete and insert preferences: they may lack a criterion, which Django's upserts do not
    support."""
    execute_sql(
        """DELETE FROM annotations_preference p
           USING unnest(%s::bigint[], %s::bigint[], %s::bigint[])
               AS g(output_a_id, output_b_id, criterion_id)
           WHERE p.annotator_id = %s AND p.output_a_id = g.output_a_id
               AND p.output_b_id = g.output_b_id
               AND coalesce(p.criterion_id, 0) = g.criterion_id""",
        [*_columns(counting.asked_preferences, 3), annotator],
    )
    Preference.objects.bulk_create(counting.preferences.values(), batch_size=1000)


def _columns(keys: Collection[_Key], count: int) -> list[list[int]]:
    return [[key[index] for key in keys] for index in range(count)]
