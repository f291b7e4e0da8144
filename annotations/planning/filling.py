"""Campaigns that stay open and get further outputs to rate as they come."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotations.errors import AnnotationError
from annotations.models import (
    Campaign,
    CampaignItem,
    CampaignKind,
    CampaignState,
    Inclusion,
    ItemOrder,
    Selection,
)
from annotations.planning.campaigns import seat_annotators
from annotations.planning.places import keep_items
from evaluations.models import CandidateOutput, Criterion


@transaction.atomic
def open_standing_campaign(
    criterion: Criterion, name: str, users: list[Any], *, overlap: int
) -> Campaign:
    """Open a campaign without items.

    Args:
        name: a number is added where another campaign has it.
        users: its annotators, members of the project.

    Raises:
        AnnotationError: it has fewer annotators than each output needs.
    """
    if len(users) < overlap:
        raise AnnotationError(
            f"Each output needs {overlap} annotator{'s' * (overlap > 1)}, but the project has"
            f" {len(users)}. Invite people first."
        )
    campaigns, free, number = criterion.project.campaigns, name[:190], 2
    while campaigns.filter(name=free).exists():
        free, number = f"{name[:190]} ({number})", number + 1
    campaign = Campaign.objects.create(
        project=criterion.project,
        name=free,
        kind=CampaignKind.RATING,
        selection=Selection.SAMPLE,
        order=ItemOrder.RANDOM,
        overlap=overlap,
        state=CampaignState.OPEN,
        opened_at=timezone.now(),
    )
    campaign.criteria.set([criterion])
    seat_annotators(campaign, users)
    # Nobody knows yet of how many items a share would be.
    campaign.seats.update(takes_more=True)
    return campaign


@transaction.atomic
def add_outputs(
    campaign_id: int, outputs: set[int], probabilities: Mapping[int, float], *, seed: int
) -> bool:
    """Add outputs to an open campaign, in random order after those that it has; return False if it
    is not open any more.

    Args:
        outputs: the ids of those that are rated.
        probabilities: of all outputs that could have been drawn, by id.
    """
    # Not FOR UPDATE: reservations refer to the campaign while they hold items.
    campaign = (
        Campaign.objects.select_for_update(no_key=True)
        .filter(pk=campaign_id, state=CampaignState.OPEN)
        .first()
    )
    if campaign is None:
        return False
    newest = campaign.items.aggregate(newest=Max("position"))["newest"]
    first = 0 if newest is None else newest + 1
    documents = dict(
        CandidateOutput.objects.filter(pk__in=outputs).values_list("pk", "document_id")
    )
    order = np.random.default_rng([campaign.pk, seed]).permutation(sorted(documents)).tolist()
    CampaignItem.objects.bulk_create(
        (
            CampaignItem(
                campaign=campaign,
                document_id=documents[pk],
                position=first + place,
                outputs=[pk],
                places=campaign.overlap,
            )
            for place, pk in enumerate(order)
        ),
        batch_size=1000,
    )
    keep_items(campaign)
    Inclusion.objects.bulk_create(
        (
            Inclusion(campaign=campaign, output_id=pk, probability=probability)
            for pk, probability in probabilities.items()
        ),
        batch_size=1000,
    )
    return True
