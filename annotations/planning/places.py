"""How many more annotators may get an item, and the only ones who do."""

from collections.abc import Iterable

from annotations.models import Campaign
from geval_site.sql import execute_sql, fetch_rows

# Whether the document `d` is one that the named items `r` are of.
IS_WANTED = """r.wanted
    ? CASE r.field WHEN 'doc_id' THEN d.doc_id ELSE d.metadata ->> r.field END"""
# The annotators whom the campaign of the item `i` names for it; NULL for everybody. Who was removed
# from the campaign gets nothing.
_NAMED = f"""(SELECT array_agg(DISTINCT r.annotator_id)
    FROM annotations_nameditems r
    JOIN annotations_seat s ON s.campaign_id = r.campaign_id AND s.annotator_id = r.annotator_id
        AND s.removed_at IS NULL
    JOIN evaluations_document d ON d.id = i.document_id
    WHERE r.campaign_id = i.campaign_id AND {IS_WANTED})"""


def count_places(items: Iterable[int]) -> None:
    """Count the free places of ordinary items: the planned ones less those that are held. An item
    that is kept for some people has places for them, whoever else had it before.

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
        """UPDATE annotations_campaignitem i SET places =
               greatest(0, least(c.overlap, cardinality(i.kept_for)) - (
               SELECT count(*) FROM annotations_assignment a
               WHERE a.item_id = i.id AND a.state IN ('reserved', 'submitted')
                   AND coalesce(a.annotator_id = ANY(i.kept_for), true)))
           FROM annotations_campaign c
           WHERE c.id = i.campaign_id AND i.kind = 'ordinary' AND i.id = ANY(%s)""",
        [ids],
    )


def keep_items(campaign: Campaign) -> None:
    """Keep a campaign's ordinary items for the annotators whom it names for them.

    Call this in a transaction, after items, names or seats have changed.
    """
    if not (campaign.named_items.exists() or campaign.items.exclude(kept_for=None).exists()):
        return
    ids = [
        pk
        for (pk,) in fetch_rows(
            f"""SELECT i.id FROM annotations_campaignitem i WHERE i.campaign_id = %s
                AND i.kind = 'ordinary' AND i.kept_for IS DISTINCT FROM {_NAMED}""",
            [campaign.pk],
        )
    ]
    # Counted before as well, which locks them in their order.
    count_places(ids)
    execute_sql(
        f"UPDATE annotations_campaignitem i SET kept_for = {_NAMED} WHERE i.id = ANY(%s)", [ids]
    )
    count_places(ids)


def keep_items_of(annotators: Iterable[int]) -> None:
    """Do this in every campaign that names these annotators, after their seats have changed."""
    for campaign in Campaign.objects.filter(named_items__annotator__in=annotators).distinct():
        keep_items(campaign)
