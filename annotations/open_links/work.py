"""What a participant did, and whether it is done: skips, and answers faster than reading."""

from dataclasses import dataclass

from annotations.models import Assignment, AssignmentState, ItemKind, OpenLink, ScreenedFor, Seat
from geval.statistics.thresholds import READING_PACE
from geval_site.sql import fetch_rows

# Seconds are what the browser measured, or an even share of the time that passed where it measured
# none. A script can state any, so that all together are at most what passed on the server.
_WORK = """
    WITH mine AS (
        SELECT a.annotator_id, a.state, a.seconds, a.shown, a.reserved_at, a.submitted_at, i.kind
        FROM annotations_assignment a JOIN annotations_campaignitem i ON i.id = a.item_id
        WHERE a.campaign_id = %(campaign)s AND i.kind <> 'practice'
            AND (%(annotator)s::bigint IS NULL OR a.annotator_id = %(annotator)s)
    ), lengths AS MATERIALIZED (
        SELECT o.id, evaluations_word_count(o.text) AS words
        FROM evaluations_candidateoutput o WHERE o.id IN (SELECT unnest(shown) FROM mine)
    ), answered AS (
        SELECT m.annotator_id, m.seconds, count(*) OVER w AS answers,
            sum(m.seconds) OVER w AS stated,
            extract(epoch FROM max(m.submitted_at) OVER w - min(m.reserved_at) OVER w) AS passed,
            (SELECT sum(l.words) FROM lengths l WHERE l.id = ANY(m.shown)) AS words
        FROM mine m WHERE m.state = 'submitted' AND m.kind = 'ordinary'
        WINDOW w AS (PARTITION BY m.annotator_id)
    ), fast AS (
        SELECT annotator_id, count(*) FILTER (WHERE words > %(pace)s
            * coalesce(seconds * least(1, passed / nullif(stated, 0)), passed / answers)) AS fast
        FROM answered GROUP BY annotator_id
    )
    SELECT m.annotator_id, count(*) FILTER (WHERE m.state = 'submitted' AND m.kind = 'ordinary'),
        count(*) FILTER (WHERE m.state = 'skipped'), coalesce(max(f.fast), 0)
    FROM mine m LEFT JOIN fast f ON f.annotator_id = m.annotator_id GROUP BY m.annotator_id"""


@dataclass(frozen=True)
class Work:
    """A participant's ordinary answers, the skipped items, checks among them, and the answers that
    took less time than reading the rated texts."""

    answered: int = 0
    skipped: int = 0
    fast: int = 0

    @property
    def is_too_fast(self) -> bool:
        return 2 * self.fast > self.answered


def is_beyond_skips(skipped: int, answered: int, percent: int) -> bool:
    """Whether more than a share of the items is skipped; one text may always be unreadable, unless
    no skips are allowed."""
    return skipped > min(1, percent) and 100 * skipped > percent * (skipped + answered)


def why_not_done(work: Work, link: OpenLink) -> ScreenedFor | None:
    """Return why somebody with nothing left to do is not done; None if they are."""
    if is_beyond_skips(work.skipped, work.answered, link.skip_percent):
        return ScreenedFor.SKIPS
    if not work.answered:
        return ScreenedFor.ITEMS
    return ScreenedFor.SPEED if work.is_too_fast else None


def skips_too_much(link: OpenLink, seat: Seat) -> bool:
    """Whether an annotator has skipped too many items to be done, even if they answer all others
    that they are to get."""
    skipped = Assignment.objects.filter(
        campaign=seat.campaign_id, annotator=seat.annotator_id, state=AssignmentState.SKIPPED
    ).exclude(item__kind=ItemKind.PRACTICE)
    return is_beyond_skips(skipped.count(), link.items_each, link.skip_percent)


def work_of(campaign: int, annotator: int | None = None) -> dict[int, Work]:
    """Return what each annotator of a campaign did, or one of them."""
    rows = fetch_rows(_WORK, {"campaign": campaign, "annotator": annotator, "pace": READING_PACE})
    return {pk: Work(*counts) for pk, *counts in rows}
