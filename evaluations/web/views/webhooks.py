"""Page of a project's webhooks: owners create and remove them, and see their messages."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from evaluations.models import Project, Webhook, WebhookDelivery, WebhookEvent, WorkerHeartbeat
from evaluations.models.sealing import seal, unseal
from evaluations.people.access import OWNERS, project_action, project_view
from evaluations.people.audit import note_detail, note_refusal
from evaluations.people.waking import wake_for_webhooks
from evaluations.people.webhooks.announcing import leave_message
from evaluations.people.webhooks.sending import new_secret
from evaluations.web.forms.projects import WebhookForm
from evaluations.web.notices import show_form

SHOWN = 50
# The session key of a secret, encrypted, for the one page that shows it.
NEW_SECRET = "new_webhook_secret"  # noqa: S105 (a name in the session)


@project_view(OWNERS)
def webhook_list(request: HttpRequest, project: Project) -> HttpResponse:
    """The page; a new webhook's secret is shown only in this response."""
    why_not = request.why_not_call_out  # type: ignore[attr-defined]
    if request.method == "POST" and why_not:
        raise PermissionDenied(why_not)
    form = WebhookForm(request.POST or None)
    if form.is_valid():
        secret = new_secret()
        Webhook.objects.create(
            project=project,
            url=form.cleaned_data["url"],
            events=form.cleaned_data["events"],
            sealed_secret=seal(secret),
            made_by_id=request.user.pk,
        )
        request.session[NEW_SECRET] = seal(secret)
        return redirect(
            "evaluations:webhook_list", project.slug
        )  # reloading the page must not create a second one
    if form.has_error("url"):
        note_refusal(request, ValidationError({"url": "refused"}))
    deliveries = WebhookDelivery.objects.filter(webhook__project=project).select_related("webhook")[
        :SHOWN
    ]
    context = {
        "project": project,
        "tab": "members",
        "form": form,
        "secret": unseal(request.session.pop(NEW_SECRET)) if NEW_SECRET in request.session else "",
        "webhooks": project.webhooks.all(),
        "deliveries": deliveries,
        "worker_alive": WorkerHeartbeat.objects.doing("webhooks").exists(),
    }
    return show_form(request, "evaluations/webhook_list.html", context)


@project_action(OWNERS)
def webhook_remove(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    webhook = get_object_or_404(Webhook, project=project, pk=pk)
    note_detail(request, webhook.url)
    webhook.delete()
    messages.success(request, "The webhook is removed and gets no more messages.")
    return redirect("evaluations:webhook_list", project.slug)


@project_action(OWNERS, calls_out=True)
def webhook_test(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Send a test message."""
    webhook = get_object_or_404(Webhook, project=project, pk=pk)
    leave_message(webhook, WebhookEvent.TEST, {"project": project.slug})
    transaction.on_commit(wake_for_webhooks)
    messages.success(request, "A test message is being sent. Reload this page to see the answer.")
    return redirect("evaluations:webhook_list", project.slug)


@project_action(OWNERS, calls_out=True)
def delivery_repeat(_request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Send a message again, unchanged."""
    delivery = get_object_or_404(WebhookDelivery, webhook__project=project, pk=pk)
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state=WebhookDelivery.State.WAITING, attempts=0, next_at=timezone.now(), sending_until=None
    )
    transaction.on_commit(wake_for_webhooks)
    return redirect("evaluations:webhook_list", project.slug)
