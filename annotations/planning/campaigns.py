"""Open and close campaigns, and manage their annotators."""

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from annotations.errors import AnnotationError
from annotations.models import (
    ACTIVE,
    Annotator,
    AssignmentState,
    Campaign,
    CampaignGoal,
    CampaignItem,
    CampaignKind,
    CampaignState,
    Exclusion,
    ItemKind,
    ItemOrder,
    NamedItems,
    OpenLink,
    Seat,
    Selection,
)
from annotations.planning.assignment import end_leases
from annotations.planning.places import count_places, keep_items
from annotations.planning.selection import disagreement, likely_errors, pair_values, project_outputs
from evaluations.models import Criterion, Project, Webhook, WebhookEvent
from evaluations.models.row_by_row import for_each
from evaluations.people.webhooks.announcing import announce_campaign
from geval.statistics import designs, item_plan
from geval.statistics.designs import DrawnSample, SamplingUnits
from geval.statistics.item_plan import PlannedItem, PlannedOutputs
from geval_site.sql import execute_sql

# A campaign's items are created in one transaction.
MOST_ITEMS = 5_000_000
MOST_ATTENTION_CHECKS = 100


@transaction.atomic
def open_campaign(campaign: Campaign) -> int:
    """Create the items of a draft campaign and open it for its annotators.

    Returns:
        The number of ordinary items.

    Raises:
        AnnotationError: the campaign is not a draft, has no annotators, or has nothing to annotate.
    """
    # Two requests at the same time would each create the items.
    campaign = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if campaign.state != CampaignState.DRAFT:
        raise AnnotationError(f"{campaign.name} is {campaign.get_state_display().lower()} already.")
    if campaign.is_rating and not campaign.criteria.exists():
        raise AnnotationError("Choose at least one criterion; outputs are rated on criteria.")
    seats = campaign.seats.filter(removed_at=None).count()
    if seats < campaign.overlap and not OpenLink.objects.filter(campaign=campaign).exists():
        raise AnnotationError(
            f"Each item needs {campaign.overlap} annotator{'s' * (campaign.overlap > 1)}, but the"
            f" campaign has {seats}. Edit the campaign to choose annotators, invite people first,"
            " or open it to everybody with a link."
        )
    rng = np.random.default_rng(campaign.seed)
    drawn = _drawn(campaign, rng)
    count = _write_items(campaign, _ordinary(campaign, drawn.outputs, rng))
    if not count:
        raise AnnotationError("There is nothing to annotate: no output matches the selection.")
    _write_probabilities(campaign, drawn)
    _write_checks(campaign, count)
    keep_items(campaign)
    campaign.state, campaign.opened_at = CampaignState.OPEN, timezone.now()
    campaign.save(update_fields=["state", "opened_at"])
    # The table was just filled, and the planner has no statistics until autovacuum runs.
    execute_sql("ANALYZE annotations_campaignitem")
    return count


def close_campaign(campaign: Campaign, *, reason: str = "closed") -> bool:
    """Stop assigning items and accepting answers; submitted answers are kept.

    Args:
        reason: the reason that webhooks report.

    Returns:
        Whether the campaign was open until now.
    """
    with transaction.atomic():
        closed = Campaign.objects.filter(pk=campaign.pk, state=CampaignState.OPEN).update(
            state=CampaignState.CLOSED, closed_at=timezone.now()
        )
        if closed:
            announce_campaign(campaign, reason=reason)
    return bool(closed)


def announce_answered_campaigns() -> None:
    """Notify webhooks of open campaigns that now have all their answers."""
    listened = Webhook.objects.filter(events__contains=[WebhookEvent.CAMPAIGN_FINISHED.value])
    campaigns = Campaign.objects.filter(
        state=CampaignState.OPEN, project__in=listened.values("project")
    )
    for_each(campaigns.select_related("project"), _announce_if_answered, job="answered campaigns")


def _announce_if_answered(campaign: Campaign) -> None:
    items, complete, _places = campaign.item_counts()
    if items and items == complete:
        announce_campaign(campaign, reason="answered")


def reopen_campaign(campaign: Campaign) -> None:
    """Reopen a closed campaign.

    Raises:
        AnnotationError: the campaign has no items because it came from a project's archive.
    """
    if not campaign.items.exists():
        raise AnnotationError(
            f"{campaign.name} came with a project's archive, which has no items of campaigns."
            " Create a new campaign with the same design."
        )
    with transaction.atomic():
        # An archive has the names, without whom each item was kept for.
        keep_items(campaign)
        Campaign.objects.filter(pk=campaign.pk, state=CampaignState.CLOSED).update(
            state=CampaignState.OPEN, closed_at=None, deadline=None
        )


@transaction.atomic
def copy_campaign(campaign: Campaign) -> Campaign:
    """Return a draft with the same design, criteria, known answers, annotators, items for some of
    them, and goal."""
    copy = Campaign.objects.get(pk=campaign.pk)
    copy.pk, copy.state, copy.opened_at, copy.closed_at = None, CampaignState.DRAFT, None, None
    copy._state.adding = True
    copy.deadline = None
    number, stem = 2, campaign.name[:190]
    copy.name = f"{stem} (copy)"
    while campaign.project.campaigns.filter(name=copy.name).exists():
        copy.name, number = f"{stem} (copy {number})", number + 1
    copy.save()
    copy.criteria.set(campaign.criteria.all())
    Seat.objects.bulk_create(
        Seat(campaign=copy, annotator=seat.annotator)
        for seat in campaign.seats.filter(removed_at=None).select_related("annotator")
    )
    NamedItems.objects.bulk_create(
        NamedItems(campaign=copy, annotator_id=row.annotator_id, field=row.field, wanted=row.wanted)
        for row in campaign.named_items.all()
    )
    for goal in CampaignGoal.objects.filter(campaign=campaign):
        goal.pk, goal.campaign, goal.seen = None, copy, ""
        goal.reached_at = goal.documents = goal.low = goal.high = None
        goal._state.adding = True
        goal.save()
    return copy


@transaction.atomic
def delete_campaign(campaign: Campaign) -> None:
    """Delete a campaign that nobody has answered.

    Raises:
        AnnotationError: somebody answered or skipped an item, or has just joined; the record stays.
    """
    # Seats first, as annotators lock theirs and then refer to the campaign.
    locked = [seat.pk for seat in campaign.seats.lock()]
    # From here on nobody can join; a seat that came in between could still submit an answer.
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    if campaign.seats.exclude(pk__in=locked).exists():
        raise AnnotationError(f"Somebody has just joined {campaign.name}; try again.")
    kept = campaign.assignments.exclude(
        state__in=(AssignmentState.RESERVED, AssignmentState.EXPIRED), reviews=None
    )
    if kept.exists():
        raise AnnotationError(
            f"Somebody has answered in {campaign.name}, so it cannot be deleted. Close it instead."
        )
    campaign.delete()


@transaction.atomic
def raise_overlap(campaign: Campaign, overlap: int) -> None:
    """Assign each item to more annotators than planned, while the campaign is open.

    Raises:
        AnnotationError: the campaign is not open, has fewer annotators, or the number is not
            higher.
    """
    # Not FOR UPDATE: reservations refer to the campaign while they hold items.
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if campaign.state != CampaignState.OPEN:
        raise AnnotationError(f"{campaign.name} is not open; edit it instead.")
    if overlap <= campaign.overlap:
        raise AnnotationError(f"Items have {campaign.overlap} annotators; choose a higher number.")
    seats = campaign.seats.filter(removed_at=None).count()
    if seats < overlap:
        raise AnnotationError(
            f"Each item would need {overlap} annotators, but the campaign has {seats}. Edit the"
            " campaign to choose more first."
        )
    campaign.overlap = overlap
    campaign.save(update_fields=["overlap"])
    count_places(campaign.items.values_list("pk", flat=True))


@transaction.atomic
def seat_annotators(campaign: Campaign, users: Iterable[Any]) -> None:
    """Make exactly these members annotators, except those who are excluded; removed annotators keep
    their work and get no new items."""
    excluded = Exclusion.objects.filter(annotator__project=campaign.project_id, lifted_at=None)
    out = set(excluded.values_list("annotator__user", flat=True))
    wanted = {user.pk: user for user in users if user.pk not in out}
    # All at once, by id: the updates below would lock them in the order of users.
    campaign.seats.lock()
    for user in wanted.values():
        Seat.objects.update_or_create(
            campaign=campaign,
            annotator=annotator_of(campaign.project, user),
            defaults={"removed_at": None},
        )
    leaving = campaign.seats.filter(removed_at=None).exclude(annotator__user__in=wanted)
    count_places(end_leases(leaving))
    leaving.update(removed_at=timezone.now())
    keep_items(campaign)


def annotator_of(project: Project, user: Any) -> Annotator:
    """Return a user's annotator in a project, created on first use with a unique name.

    An uploaded file may name a rater like the user. It is unknown whether they are the same person,
    so the user becomes "ada (on this site)" next to the file's "ada".
    """
    annotator = Annotator.objects.filter(project=project, user=user).first()
    if annotator:
        return annotator
    username = user.get_username()
    name, number = username, 1
    while Annotator.objects.filter(project=project, name=name).exists():
        name = f"{username} (on this site{f', {number}' if number > 1 else ''})"
        number += 1
    return Annotator.objects.create(project=project, name=name, user=user)


# Planning


def _drawn(campaign: Campaign, rng: np.random.Generator) -> DrawnSample:
    """Draw the outputs of a campaign, except those with known answers, which are checks."""
    outputs = project_outputs(campaign.project)
    gold = np.array([pk for row in campaign.gold for pk in row["outputs"]], dtype=np.int64)
    if campaign.is_rating:
        outputs = outputs.at(np.flatnonzero(~np.isin(outputs.ids, gold)))
    size = campaign.sample_size
    if not campaign.is_rating or size is None or campaign.selection == Selection.ALL:
        return DrawnSample(outputs, outputs)
    units = SamplingUnits.of(outputs, whole_documents=campaign.whole_documents)
    match campaign.selection:
        case Selection.STRATIFIED:
            return designs.stratified(outputs, size, rng)
        case Selection.DISAGREEMENT:
            return designs.active(outputs, disagreement(campaign, outputs), size, units, rng)
        case Selection.NEEDED:
            error, is_rated = likely_errors(campaign, outputs)
            return designs.active(outputs, error, size, units, rng, is_known=is_rated)
        case Selection.TOP:
            top = item_plan.highest(outputs, disagreement(campaign, outputs), size)
            return DrawnSample(top, outputs)
    return designs.uniform(outputs, size, units, rng)


def _ordinary(
    campaign: Campaign, outputs: PlannedOutputs, rng: np.random.Generator
) -> Iterator[PlannedItem]:
    """Yield the ordinary items in order. All queries are done when this returns, because the items
    are read during a COPY, when the connection can do nothing else."""
    in_documents = campaign.order == ItemOrder.DOCUMENT
    if campaign.is_rating:
        ordered = _in_order(campaign, outputs, rng)
        pairs = zip(ordered.documents.tolist(), ordered.ids.tolist(), strict=True)
        return (PlannedItem(document, (pk,)) for document, pk in pairs)
    most = campaign.sample_size if campaign.selection != Selection.ALL else None
    if campaign.kind != CampaignKind.PAIRWISE:
        return islice(item_plan.groups(outputs, campaign.group_size, rng), most)
    if campaign.selection in (*ACTIVE, Selection.TOP):
        pairs_planned = list(item_plan.pairs_connected_early(outputs, rng))
        order = np.argsort(-pair_values(campaign, outputs, pairs_planned), kind="stable")[:most]
        return (pairs_planned[index] for index in order)
    by_document = in_documents and campaign.selection == Selection.ALL
    plan = item_plan.pairs_by_document if by_document else item_plan.pairs_connected_early
    return islice(plan(outputs, rng), most)


def _in_order(
    campaign: Campaign, outputs: PlannedOutputs, rng: np.random.Generator
) -> PlannedOutputs:
    """Return the outputs in rating order. Whenever a campaign ends, the rated outputs are a random
    part of those drawn."""
    if campaign.order == ItemOrder.DOCUMENT or campaign.whole_documents:
        return item_plan.by_document(outputs, rng)
    if campaign.selection in ACTIVE:
        # Taking systems in turn would first rate a larger share of small systems.
        return outputs.at(rng.permutation(len(outputs)))
    return item_plan.systems_in_turn(outputs, rng)


def _write_probabilities(campaign: Campaign, drawn: DrawnSample) -> None:
    if drawn.probability is None:
        return
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY annotations_inclusion (campaign_id, output_id, probability) FROM STDIN"
        ) as copy,
    ):
        for pk, probability in zip(
            drawn.frame.ids.tolist(), drawn.probability.tolist(), strict=True
        ):
            copy.write_row((campaign.pk, pk, probability))


def _write_items(campaign: Campaign, planned: Iterable[PlannedItem]) -> int:
    count = 0
    with (
        connection.cursor() as cursor,
        cursor.copy(
            "COPY annotations_campaignitem (campaign_id, document_id, position, kind, outputs,"
            " places) FROM STDIN"
        ) as copy,
    ):
        for item in planned:
            if count >= MOST_ITEMS:
                raise AnnotationError(
                    f"The campaign would have more than {MOST_ITEMS:,} items; choose a smaller "
                    "sample."
                )
            outputs = "{" + ",".join(map(str, item.outputs)) + "}"
            copy.write_row(
                (campaign.pk, item.document, count, ItemKind.ORDINARY, outputs, campaign.overlap)
            )
            count += 1
    return count


def _write_checks(campaign: Campaign, ordinary: int) -> None:
    """Store practice items first, then gold, then attention checks; they follow the ordinary
    items."""
    checks = [
        CampaignItem(
            campaign=campaign,
            document_id=row["document"],
            outputs=row["outputs"],
            expected=row["expected"],
            kind=ItemKind.PRACTICE if number < campaign.practice_items else ItemKind.GOLD,
        )
        for number, row in enumerate(campaign.gold)
    ]
    if campaign.attention_checks:
        checks.extend(_attention_checks(campaign, ordinary))
    for number, item in enumerate(checks):
        item.position = ordinary + number
    CampaignItem.objects.bulk_create(checks, batch_size=1000)


def _attention_checks(campaign: Campaign, ordinary: int) -> Iterator[CampaignItem]:
    """Yield checks that ask for a certain answer; the text shown is built from it."""
    chance = random.Random(campaign.seed)  # noqa: S311 (a design, not a secret)
    count = min(MOST_ATTENTION_CHECKS, max(1, ordinary * campaign.check_percent // 100))
    # The first items in the campaign's order, which is shuffled by the seed.
    models = list(campaign.items.filter(kind=ItemKind.ORDINARY).order_by("position")[:count])
    criteria = list(campaign.criteria.all())
    for model in models:
        yield CampaignItem(
            campaign=campaign,
            document_id=model.document_id,
            outputs=model.outputs,
            kind=ItemKind.ATTENTION,
            expected=_wanted_answer(campaign, criteria, chance, outputs=len(model.outputs)),
        )


def _wanted_answer(
    campaign: Campaign, criteria: Sequence[Criterion], chance: random.Random, *, outputs: int
) -> dict[str, Any]:
    if campaign.is_rating:
        return {
            "scores": {
                str(criterion.pk): chance.choice(criterion.scale.points) for criterion in criteria
            }
        }
    if campaign.kind == CampaignKind.PAIRWISE:
        return {"side": chance.choice(["left", "right"])}
    best, worst = chance.sample(range(outputs), 2)
    return {"places": {"best": best, "worst": worst}}
