"""How many more annotators may get an item."""

from collections.abc import Iterable

from geval_site.sql import execute_sql


def count_places(items: Iterable[int]) -> None:
    """Count the free places of ordinary items: the planned ones less those that are held.

    An item may have more answers than planned, when an owner restores one whose place somebody else
    has taken. Then places that become free are used up by the excess, and adding to the number that
    was free would assign the item again.

    Call this in a transaction, after assignments have changed.
    """
    ids = list(items)
    # Locked by a statement of its own: the next one sees what others committed until then. In
    # the order in which reservations lock them, to prevent deadlocks.
    execute_sql(
        "SELECT 1 FROM annotations_campaignitem WHERE id = ANY(%s) ORDER BY"
        " campaign_id, position FOR NO KEY UPDATE",
        [ids],
    )
    execute_sql(
        """UPDATE annotations_campaignitem i SET places = greatest(0, c.overlap - (
               SELECT count(*) FROM annotations_assignment a
               WHERE a.item_id = i.id AND a.state IN ('reserved', 'submitted')))
           FROM annotations_campaign c
           WHERE c.id = i.campaign_id AND i.kind = 'ordinary' AND i.id = ANY(%s)""",
        [ids],
    )
