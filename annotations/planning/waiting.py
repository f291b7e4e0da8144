"""Which people have something to annotate in which open campaigns."""

from datetime import datetime

from geval_site.sql import fetch_rows

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
                AND (a.state = 'reserved' OR a.id IS NULL AND i.kind = 'ordinary' AND i.places > 0))
            OR EXISTS (
                SELECT FROM annotations_assignment a
                JOIN annotations_review v ON v.assignment_id = a.id
                WHERE a.campaign_id = c.id AND a.annotator_id = n.id AND {RETURNED}))
"""


def waiting_campaigns(user_id: int, *, now: datetime) -> list[tuple[str, int]]:
    """Return the campaigns in which a user has something to annotate, as the short name of the
    project and the campaign's id, oldest first."""
    rows: list[tuple[str, int]] = fetch_rows(
        f"SELECT r.slug, c.id {HAVE_WORK} AND u.id = %(user)s ORDER BY c.id",
        {"now": now, "user": user_id},
    )
    return rows
