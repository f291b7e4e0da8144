"""The pass mark of an open link: who is below it after practice is screened out."""

from django.db import connection

from annotations.errors import AnnotationError
from annotations.models import Participant, ParticipantState, ScreenedFor, Seat
from annotations.open_links.places import end, end_overdue
from annotations.planning.assignment import queue_of
from annotations.results.progress import RIGHT

# The first answer counts: after it, the expected answer is on the page.
_PRACTICE = f"""
    SELECT count(*), count(*) FILTER (WHERE a.state IN ('reserved', 'expired')),
        count(*) FILTER (WHERE a.state = 'submitted' AND {RIGHT})
    FROM (
        SELECT a.item_id, a.state, a.shown,
            coalesce((SELECT h.before FROM annotations_answerchange h WHERE h.assignment_id = a.id
                      ORDER BY h.id LIMIT 1), a.answer) AS answer
        FROM annotations_assignment a
        WHERE a.campaign_id = %(campaign)s AND a.annotator_id = %(annotator)s
    ) AS a JOIN annotations_campaignitem i ON i.id = a.item_id WHERE i.kind = 'practice'"""


def items_of(participant: Participant, seat: Seat) -> list[int] | None:
    """Ids of a participant's next assignments; none where the campaign was closed or its deadline
    is over, so that they come to the end. None if they were screened out now, after practice."""
    if _is_below_mark(participant, seat):
        end(participant, ParticipantState.SCREENED, ScreenedFor.PRACTICE)
        return None
    try:
        queue = queue_of(seat)
        # Nobody ends for want of items that people hold whose time is over.
        return queue_of(seat) if not queue and end_overdue(participant.link) else queue
    except AnnotationError:
        return []


def _is_below_mark(participant: Participant, seat: Seat) -> bool:
    """Whether all practice items are answered and too few of them right; what was skipped is not.
    Whoever has got ordinary items has passed."""
    mark = participant.link.pass_percent
    if mark is None or seat.handed:
        return False
    with connection.cursor() as cursor:
        cursor.execute(_PRACTICE, {"campaign": seat.campaign_id, "annotator": seat.annotator_id})
        items, left, right = cursor.fetchone()
    return bool(items and not left and 100 * right < mark * items)
