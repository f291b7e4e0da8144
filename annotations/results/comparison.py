"""Several annotators' answers to one item as text, for comparing and adjudicating."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations.answering.answers import LETTERS, Answer
from annotations.answering.submission import questions_of
from annotations.answering.task_page import READ, in_order
from annotations.models import Assignment, AssignmentState, Campaign, Review
from evaluations.models.improving import is_withheld
from evaluations.people.languages import with_point


@dataclass(frozen=True)
class GivenAnswers:
    """One annotator's answer: a text for each question, and the comment."""

    who: str
    answers: tuple[str, ...]
    comment: str
    flagged: bool


def answers_of_others(assignment: Assignment) -> list[GivenAnswers] | None:
    """Return other annotators' answers to the same item, without names; None while they are
    withheld."""
    if is_withheld(assignment.item.document):
        return None
    others = (
        Assignment.objects.filter(item=assignment.item_id, state=AssignmentState.SUBMITTED)
        .exclude(pk=assignment.pk)
        .order_by("pk")
    )
    named = [(f"{_('Annotator')} {number}", other) for number, other in enumerate(others, start=1)]
    return answers_in_words(assignment.campaign, named, _letters(assignment))


def answer_of(assignment: Assignment) -> GivenAnswers:
    """Return the answer of an assignment's annotator."""
    return answers_in_words(assignment.campaign, [(_("You"), assignment)], _letters(assignment))[0]


def own_answers(
    campaign: Campaign, assignments: Iterable[Assignment]
) -> list[tuple[Assignment, GivenAnswers]]:
    """Return an annotator's own assignments with their answers as text; `review` is the newest step
    of a review, if the annotator reads it."""
    rows, own_answers = list(assignments), []
    steps = Review.objects.filter(assignment__in=rows).newest()
    newest = {step.assignment_id: step for step in steps if step.action in READ}
    for assignment in rows:
        assignment.campaign = campaign
        assignment.review = newest.get(assignment.pk)  # type: ignore[attr-defined]
        own_answers.append((assignment, answer_of(assignment)))
    return own_answers


def _letters(assignment: Assignment) -> dict[int, str]:
    """Return the outputs by the letters under which this annotator sees them."""
    return {pk: LETTERS[index] for index, pk in enumerate(assignment.shown)}


def answers_in_words(
    campaign: Campaign, assignments: Iterable[tuple[str, Assignment]], letters: dict[int, str]
) -> list[GivenAnswers]:
    """Return answers as text; `letters` names the outputs."""
    questions = [str(question.key) for question in questions_of(campaign)]
    return [
        GivenAnswers(
            who=who,
            answers=tuple(in_words(a.answer or {}, key, a.shown, letters) for key in questions),
            comment=(a.answer or {}).get("comment", ""),
            flagged=a.flagged,
        )
        for who, a in assignments
    ]


def in_words(answer: Answer, key: str, shown: Sequence[int], letters: dict[int, str]) -> str:
    """Format an answer to one question, such as "4", "A", "strongly B", "best A, worst C", "B > A =
    C"."""
    if "scores" in answer:
        return with_point(answer["scores"][key]) if key in answer["scores"] else ""
    if "choices" in answer:
        value = answer["choices"].get(key)
        if value is None:
            return ""
        winner = _("tie") if not value else letters.get(shown[0] if value > 0 else shown[1], "?")
        return _("strongly %(winner)s") % {"winner": winner} if abs(value) == 2 else winner
    if "best" in answer:
        best, worst = answer["best"].get(key), answer["worst"].get(key)
        if not (best and worst):
            return ""
        ends = {"best": letters.get(best, "?"), "worst": letters.get(worst, "?")}
        return _("best %(best)s, worst %(worst)s") % ends
    return in_order(answer.get("ranks", {}).get(key, {}), letters)
