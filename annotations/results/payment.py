"""What the participants of an open link did, and their pay."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.db.models import Sum

from annotations.models import (
    Assignment,
    AssignmentState,
    OpenLink,
    Participant,
    ParticipantState,
    ScreenedFor,
)
from annotations.open_links.places import end_overdue
from annotations.open_links.work import Work, is_beyond_skips, work_of
from annotations.results.progress import campaign_progress
from geval.texts.short_questions import question_of
from geval.texts.spreadsheets import csv_line

COLUMNS = (
    "id", "panel", "study", "session", "annotator", "state", "reason", "items", "active_minutes",
    "checks_passed", "checks", "amount", "bonus", "skipped",
    "fast_answers", "marks", "guidelines_versions",
)  # fmt: skip

# People who are banned, or still at work, get nothing for their answers.
PAID_BY_ITEM = (
    ParticipantState.DONE,
    ParticipantState.INCOMPLETE,
    ParticipantState.RETURNED,
    ParticipantState.TIMED_OUT,
)


@dataclass(frozen=True)
class Payment:
    """One participant: items rated, minutes of active time, amounts in the owner's currency, and
    marks: why an owner should look at the answers before paying, in words. `guidelines_versions`
    are the numbers that the answers have."""

    participant: Participant
    items: int
    minutes: float
    checks_passed: int
    checks: int
    amount: Decimal
    bonus: Decimal
    work: Work = field(default_factory=Work)
    marks: tuple[str, ...] = ()
    guidelines_versions: Sequence[int] = ()

    @property
    def groups(self) -> list[str]:
        """The answers to the questions that have quotas."""
        return [
            str(self.participant.before[question.name])
            for question in map(question_of, self.participant.link.before)
            if question.quotas and question.name in self.participant.before
        ]


def payments(link: OpenLink) -> list[Payment]:
    """Return the payments of everybody who agreed to take part, in order of arrival."""
    end_overdue(link)
    rows = {row.annotator: row for row in campaign_progress(link.campaign).annotators}
    seconds = dict(
        Assignment.objects.filter(campaign=link.campaign, state=AssignmentState.SUBMITTED)
        .values_list("annotator")
        .annotate(total=Sum("seconds"))
    )
    works, paid = work_of(link.campaign_id), []
    for participant in link.participants.select_related("annotator"):
        participant.link = link
        row = rows.get(participant.annotator.name) if participant.annotator else None
        checks, passed = (row.checks, row.checks_right) if row else (0, 0)
        work = works.get(participant.annotator_id or 0, Work())
        amount, bonus = _due(participant, work, checks, passed)
        paid.append(
            Payment(
                participant,
                row.submitted if row else 0,
                (seconds.get(participant.annotator_id) or 0.0) / 60,
                passed,
                checks,
                amount,
                bonus,
                work,
                marks_of(work, link.skip_percent, row.warnings if row else ()),
                row.guidelines_versions if row else (),
            )
        )
    return paid


def marks_of(work: Work, skip_percent: int, warnings: Sequence[str]) -> tuple[str, ...]:
    """Return what is suspicious about a participant's answers, in words.

    Args:
        warnings: those of the campaign's page, of which signs together count here.
    """
    marks = [warning for warning in warnings if warning.startswith("signs together:")]
    if is_beyond_skips(work.skipped, work.answered, skip_percent):
        marks.append(f"skips: {work.skipped} of {work.skipped + work.answered} items")
    if work.is_too_fast:
        marks.append(f"speed: {work.fast} of {work.answered} answers")
    return tuple(marks)


def _due(participant: Participant, work: Work, checks: int, passed: int) -> tuple[Decimal, Decimal]:
    """Return the amount for this ending, plus the bonus if the participant is done and passed
    enough checks. Answers that nobody can have read for are paid in no ending."""
    link, nothing = participant.link, Decimal("0.00")
    if participant.state == ParticipantState.SCREENED:
        return link.amount_screened, nothing
    if work.is_too_fast:
        return nothing, nothing
    is_done = participant.state == ParticipantState.DONE
    amount = link.amount if is_done else nothing
    if link.pays_by_item and participant.state in PAID_BY_ITEM:
        amount = link.amount * work.answered
    earned = is_done and checks and 100 * passed >= link.bonus_percent * checks
    return amount, link.bonus if earned else nothing


def payment_file(link: OpenLink) -> Iterator[str]:
    """Return CSV with a row per participant; ids are those of the panel."""
    yield csv_line(COLUMNS)
    for row in payments(link):
        participant = row.participant
        reason = participant.screened_for and ScreenedFor(participant.screened_for).label
        cells = (
            participant.external_id, participant.source, participant.study, participant.session,
            participant.annotator and participant.annotator.name, participant.state, reason,
            row.items, f"{row.minutes:.1f}", row.checks_passed, row.checks, row.amount, row.bonus,
            row.work.skipped, row.work.fast, "; ".join(row.marks),
            "; ".join(map(str, row.guidelines_versions)),
        )  # fmt: skip
        yield csv_line(cells)
