"""What annotators wrote in their own words."""

from collections.abc import Collection

from django.contrib.postgres.fields import ArrayField
from django.db.models import F, Func, JSONField, Model, Q, TextField, Value

from annotations.models import AnswerChange, Assignment, Preference, Rating, Review, ReviewAction

_TEXTS: tuple[tuple[type[Model], str, str], ...] = (
    (Rating, "comment", "annotator"),
    (Preference, "comment", "annotator"),
    (Assignment, "skip_reason", "annotator"),
    (Review, "skip_reason", "assignment__annotator"),
)
_ANSWERS: tuple[tuple[type[Model], str, str], ...] = (
    (Assignment, "answer", "annotator"),
    (AnswerChange, "before", "assignment__annotator"),
    (AnswerChange, "after", "assignment__annotator"),
    (Review, "answer", "assignment__annotator"),
)


def empty_free_texts(annotators: Collection[int]) -> tuple[int, int]:
    """Empty all comments and reasons of annotators, and their drafts; ratings stay. Return how many
    comments, in all their copies, and how many drafts there were."""
    comments = 0
    for model, column, owner in _TEXTS:
        rows = model._default_manager.filter(**{f"{owner}__in": annotators})
        comments += rows.exclude(**{column: ""}).update(**{column: ""})
    asked = Review.objects.filter(assignment__annotator__in=annotators, action=ReviewAction.ASKED)
    comments += asked.exclude(reason="").update(reason="")
    for model, column, owner in _ANSWERS:
        rows = model._default_manager.filter(
            ~Q(**{f"{column}__comment": ""}),
            **{f"{owner}__in": annotators, f"{column}__has_key": "comment"},
        )
        comments += rows.update(**{column: _without_comment(column)})
    drafts = Assignment.objects.filter(annotator__in=annotators, draft__isnull=False)
    return comments, drafts.update(draft=None)


def _without_comment(column: str) -> Func:
    path = Value(["comment"], ArrayField(TextField()))
    return Func(F(column), path, Value("", JSONField()), function="jsonb_set")
