"""The pass mark of practice in open campaigns: participants below it are screened out."""

from annotations.errors import AnnotationError
from annotations.models import Participant, ParticipantState, ScreenedFor, Seat
from annotations.open_links.places import end, end_overdue
from annotations.planning.assignment import practice_outcome, queue_of


def items_of(participant: Participant, seat: Seat) -> list[int] | None:
    """Return the ids of a participant's next assignments; empty if the campaign was closed or its
    deadline has passed, so that they reach the end. None if they have just been screened out after
    practice."""
    # Annotators with ordinary items have passed.
    if not seat.handed and practice_outcome(seat) is False:
        end(participant, ParticipantState.SCREENED, ScreenedFor.PRACTICE)
        return None
    try:
        queue = queue_of(seat)
        # Release overdue items first, so that nobody is sent away while items are held by people
        # whose time is over.
        return queue_of(seat) if not queue and end_overdue(participant.link) else queue
    except AnnotationError:
        return []
