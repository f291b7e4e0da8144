"""Messages go out side by side: a slow receiver delays its own project, and no failure touches
another message."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evaluations.models import Project, Webhook, WebhookDelivery, WebhookEvent
from evaluations.models.sealing import seal
from evaluations.people.webhooks import sending
from evaluations.people.webhooks.announcing import leave_message
from evaluations.people.webhooks.sending import (
    RETRY_SECONDS,
    can_send_more,
    claim_deliveries,
    new_secret,
    send_due,
)
from tests.silence import silent_server
from tests.webhooks.test_webhooks import Receiver

pytestmark = pytest.mark.django_db
State = WebhookDelivery.State


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    running = Receiver()
    yield running
    running.server.shutdown()


def webhook_of(slug: str, url: str) -> Webhook:
    project, _ = Project.objects.get_or_create(slug=slug, defaults={"name": slug})
    return Webhook.objects.create(
        project=project, url=url, events=["run.finished"], sealed_secret=seal(new_secret())
    )


def test_a_project_sends_a_few_at_a_time_and_all_projects_a_bounded_number(settings: Any) -> None:
    for slug in ("a", "b", "c"):
        webhook = webhook_of(slug, "http://127.0.0.1:9/")
        for _ in range(6):
            leave_message(webhook, WebhookEvent.TEST, {})
    settings.WEBHOOKS_AT_ONCE_EACH, settings.WEBHOOKS_AT_ONCE = 3, 7

    first = claim_deliveries()

    projects = [delivery.webhook.project.slug for delivery in first]
    assert len(first) == 7
    assert {slug: projects.count(slug) for slug in "abc"} in (
        {"a": 3, "b": 2, "c": 2}, {"a": 2, "b": 3, "c": 2}, {"a": 2, "b": 2, "c": 3},
    )  # fmt: skip
    assert claim_deliveries() == []
    assert can_send_more() is False
    settings.WEBHOOKS_AT_ONCE = 9
    assert len(claim_deliveries()) == 2


def test_forty_silent_receivers_leave_room_for_another_projects_message(receiver: Receiver) -> None:
    with silent_server() as server:
        slow = webhook_of("slow", f"http://127.0.0.1:{server.port}/")
        for _ in range(40):
            leave_message(slow, WebhookEvent.TEST, {})
        claimed = claim_deliveries()
        other = leave_message(webhook_of("quick", receiver.url), WebhookEvent.TEST, {})

        assert send_due() == 1

    other.refresh_from_db()
    assert (len(claimed), other.state) == (4, State.DELIVERED)


def test_a_webhook_that_is_removed_while_its_message_is_sent_is_harmless(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, stays = webhook_of("a", receiver.url), webhook_of("b", receiver.url)
    leave_message(gone, WebhookEvent.TEST, {})
    kept = leave_message(stays, WebhookEvent.TEST, {})
    claimed = sending.claim_deliveries

    def claim_and_remove() -> list[WebhookDelivery]:
        deliveries = claimed()
        gone.delete()
        return deliveries

    monkeypatch.setattr(sending, "claim_deliveries", claim_and_remove)
    assert send_due() == 2

    assert list(WebhookDelivery.objects.values_list("pk", "state")) == [(kept.pk, State.DELIVERED)]


def test_an_unexpected_error_of_one_message_stops_no_other(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (
        leave_message(webhook_of(slug, receiver.url), WebhookEvent.TEST, {}) for slug in "ab"
    )
    post = sending._post

    async def fall_over(delivery: WebhookDelivery, *arguments: Any) -> int:
        if delivery.pk == first.pk:
            raise ZeroDivisionError
        return await post(delivery, *arguments)

    monkeypatch.setattr(sending, "_post", fall_over)
    assert send_due() == 1

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, first.answer) == (State.WAITING, "unexpected error (ZeroDivisionError)")
    assert second.state == State.DELIVERED


def test_attempts_that_kill_their_worker_count_and_end() -> None:
    delivery = leave_message(webhook_of("a", "http://127.0.0.1:1/"), WebhookEvent.TEST, {})
    for attempt in range(len(RETRY_SECONDS)):
        assert [one.attempts for one in claim_deliveries()] == [attempt + 1]
        WebhookDelivery.objects.update(sending_until=timezone.now() - timedelta(hours=1))

    assert send_due() == 0

    delivery.refresh_from_db()
    assert delivery.state == State.GIVEN_UP


def test_a_message_is_sent_as_soon_as_it_is_left(
    django_capture_on_commit_callbacks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[str] = []
    monkeypatch.setattr("evaluations.people.waking.send", called.append)

    with django_capture_on_commit_callbacks(execute=True):
        leave_message(webhook_of("a", "http://127.0.0.1:1/"), WebhookEvent.TEST, {})

    assert len(called) == 1
