"""The pass mark of practice in open campaigns: who is below it is screened out."""

from annotations.errors import AnnotationError
from annotations.models import Participant, ParticipantState, ScreenedFor, Seat
from annotations.open_links.places import end, end_overdue
from annotations.planning.assignment import practice_outcome, queue_of


def items_of(participant: Participant, seat: Seat) -> list[int] | None:
    """Ids of a participant's next assignments; none where the campaign was closed or its deadline
    is over, so that they come to the end. None if they were screened out now, after practice."""
    # Whoever has got ordinary items has passed.
    if not seat.handed and practice_outcome(seat) is False:
        end(participant, ParticipantState.SCREENED, ScreenedFor.PRACTICE)
        return None
    try:
        queue = queue_of(seat)
        # Nobody ends for want of items that people hold whose time is over.
        return queue_of(seat) if not queue and end_overdue(participant.link) else queue
    except AnnotationError:
        return []
