"""Pages that open a campaign to everybody, and list its participants."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotations.forms.open_links import OpenLinkForm
from annotations.models import OpenLink, Participant, ParticipantState
from annotations.open_links.places import end, end_banned, remove_personal_data
from annotations.results.payment import payment_file, payments
from evaluations.models import Project
from evaluations.people.access import EDITORS, project_view
from evaluations.people.audit import note_before
from evaluations.web.notices import show_form
from evaluations.web.revisions import locked

# What owners append to the link in their panel, which fills in the ids.
APPENDED = (
    (
        "Prolific",
        "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
    ),
    ("MTurk", "?workerId=…&assignmentId=…&hitId=…"),
    ("CloudResearch", "?participantId=…&assignmentId=…&projectId=…"),
    ("Sona", "?survey_code=%SURVEY_CODE%"),
)


@project_view(EDITORS)
@transaction.atomic
def open_link_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The settings of an open link, which is created with the first save."""
    campaign = locked(project.campaigns.all(), pk=pk)
    link = OpenLink.objects.select_for_update().filter(campaign=campaign).first()
    if link is not None:
        note_before(link)
    form = OpenLinkForm(request.POST or None, instance=link, campaign=campaign)
    if form.is_valid():
        end_banned(form.save())
        messages.success(request, "The link is saved.")
        return redirect("annotations:participant_list", project.slug, pk)
    context = {"project": project, "tab": "annotate", "campaign": campaign, "form": form}
    return show_form(request, "annotations/open_link_form.html", context)


@project_view(EDITORS)
def participant_list(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The link, how many took part, and each participant with state, work and amounts."""
    link = _link(project, pk)
    rows = payments(link)
    states = [row.participant.state for row in rows]
    context = {
        "project": project,
        "tab": "annotate",
        "campaign": link.campaign,
        "link": link,
        "address": link.address
        and request.build_absolute_uri(reverse("annotations:open_entry", args=[link.address])),
        "panels": APPENDED,
        "rows": rows,
        "counts": [(state.label, states.count(state)) for state in ParticipantState],
    }
    return render(request, "annotations/participant_list.html", context)


@project_view(EDITORS)
def payment_csv(request: HttpRequest, project: Project, pk: int) -> HttpResponse:  # noqa: ARG001
    link = _link(project, pk)
    response = StreamingHttpResponse(payment_file(link), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-payments-{pk}.csv"'
    return response  # type: ignore[return-value]


@require_POST
@project_view(EDITORS)
def open_link_switch(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Admit new people, or stop admitting them."""
    link = _link(project, pk)
    is_open = request.POST.get("open") == "1"
    OpenLink.objects.filter(pk=link.pk).update(is_open=is_open)
    messages.success(
        request,
        "New people can begin." if is_open else "Nobody new can begin; others can continue.",
    )
    return redirect("annotations:participant_list", project.slug, pk)


@require_POST
@project_view(EDITORS)
def participant_return(
    request: HttpRequest, project: Project, pk: int, participant: int
) -> HttpResponse:
    """End a participant's part as returned."""
    person = _participant(project, pk, participant)
    if end(person, ParticipantState.RETURNED):
        messages.success(request, f"{person.name} has returned; unfinished items go to others.")
    return redirect("annotations:participant_list", project.slug, pk)


@require_POST
@project_view(EDITORS)
def participant_forget(
    request: HttpRequest, project: Project, pk: int, participant: int
) -> HttpResponse:
    """Remove the personal data of one participant, or of all (0)."""
    link = _link(project, pk)
    people = (
        [_participant(project, pk, participant)]
        if participant
        else list(link.participants.select_related("link__campaign"))
    )
    count = remove_personal_data(people)
    messages.success(
        request,
        f"Ids and answers about the person are removed of {count}; ratings are kept.",
    )
    return redirect("annotations:participant_list", project.slug, pk)


def _link(project: Project, campaign: int) -> OpenLink:
    links = OpenLink.objects.select_related("campaign__project")
    return get_object_or_404(links, campaign=campaign, campaign__project=project)


def _participant(project: Project, campaign: int, pk: int) -> Participant:
    people = Participant.objects.select_related("link__campaign")
    return get_object_or_404(
        people, pk=pk, link__campaign=campaign, link__campaign__project=project
    )
