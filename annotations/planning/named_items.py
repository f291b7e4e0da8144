"""Items of a campaign that go to named annotators, and to nobody else."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from annotations.errors import AnnotationError
from annotations.models import Annotator, Campaign, NamedItems
from annotations.planning.places import IS_WANTED, keep_items
from evaluations.models import Project
from evaluations.reports.ratings.exported import metadata_names
from geval.texts.sentences import did_you_mean, shortened, unknown_field
from geval_site.sql import fetch_rows

DOC_ID = "doc_id"
# So many values are looked through for the one that was meant.
MOST_NAMES = 10_000
_VALUES = """
    SELECT DISTINCT value FROM (
        SELECT CASE %(field)s WHEN 'doc_id' THEN d.doc_id ELSE d.metadata ->> %(field)s END AS value
        FROM evaluations_document d WHERE d.project_id = %(project)s) AS v
    WHERE value = ANY(%(wanted)s::text[]) OR %(wanted)s::text[] IS NULL AND value IS NOT NULL
    LIMIT %(most)s"""
_COUNTS = f"""
    SELECT r.id, count(i.id), count(a.id) FROM annotations_nameditems r
    JOIN annotations_campaignitem i ON i.campaign_id = r.campaign_id AND i.kind = 'ordinary'
    JOIN evaluations_document d ON d.id = i.document_id AND {IS_WANTED}
    LEFT JOIN annotations_assignment a ON a.item_id = i.id AND a.annotator_id = r.annotator_id
        AND a.state = 'submitted'
    WHERE r.campaign_id = %s GROUP BY r.id"""


@dataclass(frozen=True)
class NamedCount:
    """Named items with the number of the campaign's ordinary items that they are, and how many of
    these their annotator has answered; 0 in a draft."""

    row: NamedItems
    items: int
    done: int

    @property
    def wanted(self) -> str:
        return shortened(", ".join(self.row.wanted), 120)


def fields_of_documents(project: Project) -> list[str]:
    """Return the fields of documents by which items are chosen."""
    return [DOC_ID, *(name for name in metadata_names(project) if name != DOC_ID)]


def named_counts(campaign: Campaign) -> list[NamedCount]:
    """Return a campaign's named items with their counts."""
    counts = {pk: (items, done) for pk, items, done in fetch_rows(_COUNTS, [campaign.pk])}
    rows = campaign.named_items.select_related("annotator")
    return [NamedCount(row, *counts.get(row.pk, (0, 0))) for row in rows]


@transaction.atomic
def name_items(campaign: Campaign, rows: Sequence[NamedItems]) -> None:
    """Keep a campaign's items for the annotators of these rows, in place of earlier ones. Who has
    an item already keeps it.

    Raises:
        AnnotationError: an annotator is none of the campaign, or no document has a field or value.
    """
    # Not FOR UPDATE: reservations refer to the campaign while they hold items.
    Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    seated = Annotator.objects.filter(seats__campaign=campaign, seats__removed_at=None)
    people, fields = set(seated.values_list("pk", flat=True)), fields_of_documents(campaign.project)
    earlier = list(campaign.named_items.all())
    for row in (row for row in rows if row not in earlier):
        if row.annotator_id not in people:
            raise AnnotationError(f"{row.annotator} is no annotator of {campaign}; add them first.")
        if row.field not in fields:
            raise AnnotationError(unknown_field(row.field, fields))
        _refuse_unknown(row, campaign.project)
    campaign.named_items.all().delete()
    NamedItems.objects.bulk_create(
        NamedItems(campaign=campaign, annotator=row.annotator, field=row.field, wanted=row.wanted)
        for row in rows
    )
    keep_items(campaign)


def _refuse_unknown(row: NamedItems, project: Project) -> None:
    """
    Raises:
        AnnotationError: a wanted value is that of no document, or there is none.
    """
    about = {"field": row.field, "project": project.pk}
    selected = fetch_rows(_VALUES, about | {"wanted": row.wanted, "most": None})
    values = {value for (value,) in selected}
    unknown = [value for value in row.wanted if value not in values]
    if unknown:
        listed = fetch_rows(_VALUES, about | {"wanted": None, "most": MOST_NAMES})
        meant = did_you_mean(unknown[0], [value for (value,) in listed])
        raise AnnotationError(f"No document has the {row.field} {unknown[0][:80]!r}.{meant}")
    if not row.wanted:
        raise AnnotationError(f"Enter at least one {row.field}.")
