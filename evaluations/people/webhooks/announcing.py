"""Record that something has finished, for each subscribed webhook; workers deliver the messages."""

from typing import Any

import orjson
from django.db import transaction
from django.utils import timezone

from evaluations.models import EvaluationRun, Webhook, WebhookDelivery, WebhookEvent
from evaluations.people.waking import wake_for_webhooks


def announce(project_id: int, event: WebhookEvent, data: dict[str, Any], *, subject: int) -> None:
    """Add a message for every webhook of the project that subscribes to the event.

    Args:
        data: the message's contents besides its type and time.
        subject: id of the finished record.
    """
    for webhook in Webhook.objects.filter(project=project_id, events__contains=[event.value]):
        leave_message(webhook, event, data, subject=subject)


def leave_message(
    webhook: Webhook, event: WebhookEvent, data: dict[str, Any], *, subject: int = 0
) -> WebhookDelivery:
    """Add one message for one webhook."""
    body = orjson.dumps(
        {"type": event.value, "timestamp": timezone.now().isoformat(), "data": data}
    ).decode()
    delivery = WebhookDelivery.objects.create(
        webhook=webhook, event=event, subject=subject, body=body
    )
    # A lost message only causes a short delay: workers look for due ones.
    transaction.on_commit(wake_for_webhooks, robust=True)
    return delivery


def announce_run(run_id: int) -> None:
    """Announce that a run has finished; runs of searches and studies are not announced."""
    run = EvaluationRun.objects.select_related("project", "judge").get(pk=run_id)
    if not run.counts:
        return
    data = {
        "project": run.project.slug,
        "run": run.pk,
        "judge": run.judge.label,
        "state": run.state,
    }
    announce(run.project_id, WebhookEvent.RUN_FINISHED, data, subject=run.pk)


def announce_campaign(campaign: Any, *, reason: str) -> None:
    """Announce that a campaign has finished, once per reason: everything answered, or closed."""
    deliveries = WebhookDelivery.objects.filter(
        webhook__project=campaign.project_id,
        event=WebhookEvent.CAMPAIGN_FINISHED,
        subject=campaign.pk,
    )
    if deliveries.filter(body__contains=f'"reason":"{reason}"').exists():
        return
    data = {
        "project": campaign.project.slug,
        "campaign": campaign.pk,
        "name": campaign.name,
        "reason": reason,
    }
    with transaction.atomic():
        announce(campaign.project_id, WebhookEvent.CAMPAIGN_FINISHED, data, subject=campaign.pk)
