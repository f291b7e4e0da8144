"""How many items an annotator may get, and which people have something to annotate in which open
campaigns."""

from datetime import datetime

from annotations.models import Seat
from geval_site.sql import fetch_rows, fetch_value

# A member's even share of the ordinary items of the campaign `c`; NULL if it is all of them.
EVEN_SHARE = """(SELECT CASE WHEN e.share < e.items THEN e.share::int END FROM (
    SELECT count(*) AS items, ceil(sum(least(c.overlap, cardinality(i.kept_for)))::numeric / (
        SELECT greatest(count(*), 1) FROM annotations_seat o
        WHERE o.campaign_id = c.id AND o.removed_at IS NULL AND o.most_items IS NULL)) AS share
    FROM annotations_campaignitem i WHERE i.campaign_id = c.id AND i.kind = 'ordinary') AS e)"""
# How many ordinary items the seat `s` may get; NULL if all there are.
MOST_ITEMS = """coalesce(s.most_items, c.most_each, CASE WHEN NOT s.takes_more THEN {share} END)"""
_MOST_ITEMS = MOST_ITEMS.format(share=EVEN_SHARE)
_HELD = """(SELECT count(*) FROM annotations_assignment h
    JOIN annotations_campaignitem k ON k.id = h.item_id
    WHERE h.annotator_id = s.annotator_id AND h.campaign_id = s.campaign_id
        AND h.state IN ('reserved', 'submitted') AND k.kind = 'ordinary')"""
# A step `v` in the review of an answer that waits for its annotator's correction.
RETURNED = """v.action = 'returned' AND NOT EXISTS (
    SELECT FROM annotations_review w WHERE w.assignment_id = v.assignment_id AND w.id > v.id)"""
# From their seats `s`, with the campaign `c`, its project `r`, the annotator `n` and the user `u`.
HAVE_WORK = f"""
    FROM annotations_seat s
    JOIN annotations_campaign c ON c.id = s.campaign_id
    JOIN evaluations_project r ON r.id = c.project_id
    JOIN annotations_annotator n ON n.id = s.annotator_id
    JOIN auth_user u ON u.id = n.user_id
    JOIN evaluations_membership m ON m.project_id = r.id AND m.user_id = u.id
    LEFT JOIN evaluations_personalsettings p ON p.user_id = u.id
    WHERE s.removed_at IS NULL AND c.state = 'open' AND r.archived_at IS NULL
        AND (c.deadline IS NULL OR c.deadline > %(now)s) AND u.is_active
        AND (EXISTS (
            SELECT FROM annotations_campaignitem i
            LEFT JOIN annotations_assignment a ON a.item_id = i.id AND a.annotator_id = n.id
            WHERE i.campaign_id = c.id
                AND (a.state = 'reserved' OR a.id IS NULL AND i.kind = 'ordinary' AND i.places > 0
                    AND CASE WHEN i.kept_for IS NULL
                        THEN coalesce({_HELD} < {_MOST_ITEMS}, true)
                        ELSE n.id = ANY(i.kept_for) END))
            OR EXISTS (
                SELECT FROM annotations_assignment a
                JOIN annotations_review v ON v.assignment_id = a.id
                WHERE a.campaign_id = c.id AND a.annotator_id = n.id AND {RETURNED}))
"""


def most_items(seat: Seat) -> int | None:
    """Return how many ordinary items an annotator may get: their own number, the campaign's, or an
    even share until they take more; None means all there are. Items that are kept for them count,
    and come whatever the number is."""
    most: int | None = fetch_value(
        f"SELECT {_MOST_ITEMS} FROM annotations_seat s"
        " JOIN annotations_campaign c ON c.id = s.campaign_id WHERE s.id = %s",
        [seat.pk],
    )
    return most


def waiting_campaigns(user_id: int, *, now: datetime) -> list[tuple[str, int]]:
    """Return the campaigns in which a user has something to annotate, as the short name of the
    project and the campaign's id, oldest first."""
    rows: list[tuple[str, int]] = fetch_rows(
        f"SELECT r.slug, c.id {HAVE_WORK} AND u.id = %(user)s ORDER BY c.id",
        {"now": now, "user": user_id},
    )
    return rows
