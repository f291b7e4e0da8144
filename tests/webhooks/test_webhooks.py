"""Servers that want to know are told what has ended: signed, once, tried again, and never where
they must not be."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
import standardwebhooks
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.utils import timezone

from annotations.models import Assignment, Campaign, CampaignItem
from annotations.planning.campaigns import (
    announce_answered_campaigns,
    close_campaign,
    open_campaign,
    seat_annotators,
)
from evaluations.models import Project, Webhook, WebhookDelivery, WebhookEvent
from evaluations.models.sealing import seal, unseal
from evaluations.people.webhooks.announcing import leave_message
from evaluations.people.webhooks.sending import RETRY_SECONDS, new_secret, send_due, signature

State = WebhookDelivery.State


class Receiver:
    """A server that keeps what it is told, and answers with the status it is set to."""

    def __init__(self) -> None:
        self.status = 204
        self.told: list[tuple[dict[str, str], str]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                receiver.told.append(
                    ({name.lower(): value for name, value in self.headers.items()}, body)
                )
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_arguments: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    running = Receiver()
    yield running
    running.server.shutdown()


@pytest.fixture
def webhook(project: Project, receiver: Receiver) -> Webhook:
    events = [WebhookEvent.RUN_FINISHED.value, WebhookEvent.CAMPAIGN_FINISHED.value]
    return Webhook.objects.create(
        project=project, url=receiver.url, events=events, sealed_secret=seal(new_secret())
    )


def make_due() -> None:
    WebhookDelivery.objects.update(next_at=timezone.now() - timedelta(hours=1))


@pytest.mark.django_db
def test_a_message_is_signed_as_standard_webhooks_says(
    webhook: Webhook, receiver: Receiver
) -> None:
    leave_message(webhook, WebhookEvent.TEST, {"project": "small"})

    assert send_due() == 1
    headers, body = receiver.told[0]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    key = base64.b64decode(unseal(webhook.sealed_secret).removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert json.loads(body)["data"] == {"project": "small"}
    assert abs(int(headers["webhook-timestamp"]) - timezone.now().timestamp()) < 60
    assert send_due() == 0


def test_receivers_can_check_messages_with_the_standards_own_library() -> None:
    secret, body = new_secret(), '{"type":"run.finished"}'
    now = int(time.time())
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(now),
        "webhook-signature": signature(secret, "msg_1", now, body),
    }

    assert standardwebhooks.Webhook(secret).verify(body, headers) == {"type": "run.finished"}
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(secret).verify(body + " ", headers)


@pytest.mark.django_db
@pytest.mark.parametrize("status", [500, 404, 302])
def test_what_is_not_taken_is_tried_again_and_in_the_end_given_up(
    webhook: Webhook, receiver: Receiver, status: int
) -> None:
    receiver.status = status
    delivery = leave_message(webhook, WebhookEvent.TEST, {})

    for attempt in range(len(RETRY_SECONDS) + 1):
        assert send_due() == 0
        assert send_due() == 0  # not due yet
        delivery.refresh_from_db()
        assert delivery.attempts == attempt + 1
        make_due()

    assert (delivery.state, delivery.answer) == (State.GIVEN_UP, f"status {status}")
    assert len({headers["webhook-id"] for headers, _body in receiver.told}) == 1
    assert len(receiver.told) == len(RETRY_SECONDS) + 1  # redirects are not followed


@pytest.mark.django_db
def test_a_server_that_is_away_gets_it_later(webhook: Webhook, receiver: Receiver) -> None:
    Webhook.objects.update(url="http://127.0.0.1:1/hook")
    delivery = leave_message(webhook, WebhookEvent.TEST, {})
    assert send_due() == 0
    delivery.refresh_from_db()
    assert delivery.state == State.WAITING
    assert 4 < (delivery.next_at - timezone.now()).total_seconds() < 6

    Webhook.objects.update(url=receiver.url)
    make_due()

    assert send_due() == 1


@pytest.mark.django_db
@override_settings(ALLOW_PRIVATE_ENDPOINTS=False)
def test_private_networks_are_not_named_where_the_site_does_not_call_them(
    webhook: Webhook, receiver: Receiver
) -> None:
    delivery = leave_message(webhook, WebhookEvent.TEST, {})

    assert send_due() == 0
    delivery.refresh_from_db()
    assert "private network" in delivery.answer
    assert receiver.told == []


@pytest.mark.django_db
def test_a_closed_campaign_is_announced_once(webhook: Webhook, small_project: Project) -> None:
    campaign = Campaign.objects.create(project=small_project, name="Ratings", state="open")

    for _ in range(2):
        close_campaign(campaign)
        Campaign.objects.update(state="open")

    body = json.loads(WebhookDelivery.objects.get().body)
    assert (body["type"], body["data"]["reason"]) == ("campaign.finished", "closed")


@pytest.mark.django_db
def test_a_campaign_with_all_its_answers_is_announced_once(
    webhook: Webhook, small_project: Project, owner: User
) -> None:
    campaign = Campaign.objects.create(project=small_project, name="Ratings", overlap=1)
    campaign.criteria.set(small_project.criteria.all())
    seat_annotators(campaign, [owner])
    open_campaign(campaign)
    announce_answered_campaigns()
    assert not WebhookDelivery.objects.exists()
    annotator = small_project.annotators.get(user=owner)
    for item in CampaignItem.objects.filter(campaign=campaign):
        Assignment.objects.create(
            campaign=campaign, item=item, annotator=annotator, shown=item.outputs,
            state="submitted",
            lease_until=timezone.now(),
        )  # fmt: skip
    CampaignItem.objects.update(places=0)

    for _ in range(2):
        announce_answered_campaigns()

    assert json.loads(WebhookDelivery.objects.get().body)["data"]["reason"] == "answered"


@pytest.mark.django_db
def test_only_events_it_listens_to_are_sent(webhook: Webhook, small_project: Project) -> None:
    Webhook.objects.update(events=[WebhookEvent.RUN_FINISHED.value])

    close_campaign(Campaign.objects.create(project=small_project, name="Ratings", state="open"))

    assert not WebhookDelivery.objects.exists()


@pytest.mark.django_db
def test_the_secret_is_shown_once_and_kept_sealed(owner: User, project: Project) -> None:
    client = Client()
    client.force_login(owner)

    made = {"url": "https://example.org/h", "events": ["run.finished"]}
    shown = client.post("/p/small/webhooks/", made, follow=True)

    webhook = Webhook.objects.get()
    secret = unseal(webhook.sealed_secret)
    assert secret in shown.content.decode()
    assert secret not in webhook.sealed_secret
    assert secret not in client.get("/p/small/webhooks/").content.decode()
    client.post(f"/p/small/webhooks/{webhook.pk}/test/")
    assert "Waiting" in client.get("/p/small/webhooks/").content.decode()
    delivery = WebhookDelivery.objects.get()
    WebhookDelivery.objects.update(state=State.GIVEN_UP, attempts=8)
    client.post(f"/p/small/webhooks/messages/{delivery.pk}/repeat/")
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempts) == (State.WAITING, 0)
    client.post(f"/p/small/webhooks/{webhook.pk}/remove/")
    assert not Webhook.objects.exists()


@pytest.mark.django_db
@override_settings(ALLOW_PRIVATE_ENDPOINTS=False)
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/x", "http://169.254.169.254/x", "ftp://example.org", "nothing"]
)
def test_addresses_that_must_not_be_called_are_refused(
    owner: User, project: Project, url: str
) -> None:
    client = Client()
    client.force_login(owner)

    answer = client.post("/p/small/webhooks/", {"url": url, "events": ["run.finished"]})

    assert answer.status_code == 422
    assert not Webhook.objects.exists()
