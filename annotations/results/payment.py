"""What the participants of an open link did, and their pay."""

from collections.abc import Iterator
from dataclasses import dataclass
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
from annotations.results.progress import campaign_progress
from geval.texts.short_questions import question_of
from geval.texts.spreadsheets import csv_line

COLUMNS = (
    "id", "panel", "study", "session", "annotator", "state", "reason", "items", "active_minutes",
    "checks_passed", "checks", "amount", "bonus",
)  # fmt: skip


@dataclass(frozen=True)
class Payment:
    """One participant: items rated, minutes of active time, and amounts in the owner's currency."""

    participant: Participant
    items: int
    minutes: float
    checks_passed: int
    checks: int
    amount: Decimal
    bonus: Decimal

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
    paid = []
    for participant in link.participants.select_related("annotator"):
        participant.link = link
        row = rows.get(participant.annotator.name) if participant.annotator else None
        checks, passed = (row.checks, row.checks_right) if row else (0, 0)
        amount, bonus = _due(participant, checks, passed)
        paid.append(
            Payment(
                participant,
                row.submitted if row else 0,
                (seconds.get(participant.annotator_id) or 0.0) / 60,
                passed,
                checks,
                amount,
                bonus,
            )
        )
    return paid


def _due(participant: Participant, checks: int, passed: int) -> tuple[Decimal, Decimal]:
    """Return the amount for this ending, plus the bonus if the participant is done and passed
    enough checks."""
    link, nothing = participant.link, Decimal("0.00")
    if participant.state == ParticipantState.SCREENED:
        return link.amount_screened, nothing
    if participant.state != ParticipantState.DONE:
        return nothing, nothing
    earned = checks and 100 * passed >= link.bonus_percent * checks
    return link.amount, link.bonus if earned else nothing


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
        )  # fmt: skip
        yield csv_line(cells)
