"""An annotator's progress: items done, approximately how many are left, and how long they take."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from annotations.models import Assignment, ItemKind, Seat
from annotations.planning.waiting import EVEN_SHARE
from evaluations.models.sizes import read_seldom
from evaluations.people.languages import counted
from geval_site.sql import fetch_row

# A campaign's places are counted at most this often, for all its annotators together.
SECONDS = 15
# The time per item is the median of this many recent items.
LAST = 20
# People need longer for their first items, which would decide the median of fewer.
LEAST_TIMED = 3

_KEPT = """(SELECT count(*) FROM annotations_campaignitem i WHERE i.campaign_id = %(campaign)s
        AND i.kept_for IS NOT NULL AND %(annotator)s = ANY(i.kept_for)"""
_OWN = f"""
    SELECT count(*), count(*) FILTER (WHERE state = 'submitted'),
        count(*) FILTER (WHERE state = 'reserved'),
        count(*) FILTER (WHERE state = 'reserved' AND id < %(this)s),
        {_KEPT}),
        {_KEPT} AND i.places > 0 AND NOT EXISTS (SELECT FROM annotations_assignment o
            WHERE o.item_id = i.id AND o.annotator_id = %(annotator)s AND o.state <> 'expired'))
    FROM annotations_assignment a
    WHERE annotator_id = %(annotator)s AND campaign_id = %(campaign)s AND state <> 'expired'
        AND %(practice)s = EXISTS (SELECT FROM annotations_campaignitem i
            WHERE i.id = a.item_id AND i.kind = 'practice')"""
_TIMED = """
    SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FROM (
        SELECT seconds FROM annotations_assignment
        WHERE annotator_id = %s AND campaign_id = %s AND state = 'submitted'
        ORDER BY id DESC LIMIT %s) AS last
    WHERE seconds > 0"""
_PLACES = f"""
    SELECT (SELECT count(*) FROM annotations_campaignitem
            WHERE campaign_id = %(campaign)s AND kind = 'ordinary' AND kept_for IS NULL),
        (SELECT coalesce(sum(places), 0) FROM annotations_campaignitem
            WHERE campaign_id = %(campaign)s AND kind = 'ordinary' AND kept_for IS NULL),
        {EVEN_SHARE},
        (SELECT count(*) FROM annotations_campaignitem
            WHERE campaign_id = %(campaign)s AND kind = 'practice')
    FROM annotations_campaign c WHERE c.id = %(campaign)s"""


@dataclass(frozen=True)
class TaskProgress:
    """`done` items precede the one on the page; `total` is about how many items this annotator will
    have; `time_left` is empty until a few items have been timed."""

    done: int
    total: int
    time_left: str

    @property
    def share(self) -> float:
        return self.done / self.total if self.total else 1.0


def task_progress(seat: Seat, assignment: Assignment) -> TaskProgress:
    """Return an annotator's progress at one of their items.

    If an item has a place for every annotator, everybody gets every item. Otherwise the places are
    divided evenly, so that the total does not change while others answer: it grows for those who do
    more than their share, and shrinks if fewer places are left. A seat or the campaign may have a
    number of items instead. Items that are kept for the annotator come besides, those for others do
    not count. Practice is counted by itself.
    """
    is_practice = assignment.item.kind == ItemKind.PRACTICE
    about = {
        "annotator": seat.annotator_id, "campaign": seat.campaign_id, "this": assignment.pk,
        "practice": is_practice,
    }  # fmt: skip
    assigned, submitted, reserved, before, kept, kept_left = fetch_row(_OWN, about)
    timed, seconds = fetch_row(_TIMED, [seat.annotator_id, seat.campaign_id, LAST])
    items, places, share, practice = read_seldom(
        ("places", seat.campaign_id), lambda: _places(seat.campaign_id), seconds=SECONDS
    )
    done = submitted if assignment.state == "submitted" else submitted + before
    if is_practice:
        return TaskProgress(done, max(done, practice), "")
    unseen = max(0, items + kept - assigned)
    if seat.most_items is not None:
        unseen = min(unseen, max(0, seat.most_items - seat.handed))
    elif (most := seat.campaign.most_each or share) is not None:
        unseen = min(unseen, places + kept_left, max(kept_left, most - assigned))
    left = reserved + unseen
    time_left = _time_left(seconds * left) if timed >= LEAST_TIMED and left else ""
    return TaskProgress(done, max(done, submitted + left), time_left)


def _time_left(seconds: float) -> str:
    """Format a time in whole minutes."""
    hours, minutes = divmod(max(1, round(seconds / 60)), 60)
    if not hours:
        return _("about %(minutes)s min left") % {"minutes": minutes}
    left = _("about %(hours)s h %(minutes)s min left")
    return left % {"hours": counted(hours), "minutes": minutes}


def _places(campaign: int) -> tuple[int, int, int | None, int]:
    """Return the number of a campaign's items that are open to everybody, their free places, an
    even share of all items (None: all of them), and its practice items."""
    items, places, share, practice = fetch_row(_PLACES, {"campaign": campaign})
    return int(items), int(places), share, int(practice)
