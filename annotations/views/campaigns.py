"""Pages of campaigns: the list, create, change, open, close, progress."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from annotations.answering.guidelines import campaign_versions
from annotations.answering.task_page import returned_to
from annotations.errors import AnnotationError
from annotations.forms.campaigns import (
    FILLED_IN,
    CampaignForm,
    GuidelinesForm,
    NamedItemsForm,
)
from annotations.forms.plans import as_plan
from annotations.goals.goals import standing
from annotations.models import Campaign, CampaignGoal, CampaignState, GuidelinesVersion
from annotations.planning.campaigns import (
    close_campaign,
    copy_campaign,
    delete_campaign,
    open_campaign,
    raise_overlap,
    reopen_campaign,
    seat_annotators,
)
from annotations.planning.named_items import name_items, named_counts
from annotations.planning.waiting import waiting_campaigns
from annotations.results.adjudication import prepare_round
from annotations.results.progress import campaign_progress, own_progress, people_file
from evaluations.models import Membership, Project, Role
from evaluations.people.access import EDITORS, EVERYONE, project_view
from evaluations.people.languages import in_language
from evaluations.reports.serving.live import live_data
from evaluations.web.notices import STOP_POLLING, noticing, refuse, show_form
from evaluations.web.parameters import reads, refuse_unknown
from evaluations.web.revisions import locked
from geval.reports.campaign_progress import CampaignProgress
from geval.reports.campaign_questions import PART
from geval.reports.people_table import DOUBT, orders_of, people_table
from geval.texts.numbers import thin, whole_number

PAGE_SIZE = 50


@require_GET
@login_required
def work_waiting(request: HttpRequest) -> HttpResponse:
    """Where people go who sign in: annotators to the work that waits for them, if it is in one
    project; all others to their projects."""
    roles = set(Membership.objects.filter(user=request.user.pk).values_list("role", flat=True))
    waiting = waiting_campaigns(request.user.pk or 0, now=timezone.now())
    slugs = {slug for slug, _ in waiting}
    if roles != {Role.ANNOTATOR} or len(slugs) != 1:
        return redirect("evaluations:project_list")
    if len(waiting) == 1:
        return redirect("annotations:task_current", *waiting[0])
    return redirect("annotations:campaign_list", *slugs)


@project_view(EVERYONE)
def campaign_list(request: HttpRequest, project: Project) -> HttpResponse:
    """For annotators their open campaigns; for owners and researchers all campaigns."""
    own_campaigns = project.campaigns.for_user(request.user)
    context = {
        "project": project,
        "tab": "annotate",
        "mine": [
            (seat.campaign, own_progress(seat.campaign, seat.annotator_id), returned_to(seat))
            for campaign in own_campaigns
            for seat in campaign.seats.filter(annotator__user=request.user.pk).select_related(
                "campaign"
            )
        ],
        "campaigns": project.campaigns.all() if request.may_edit else None,  # type: ignore[attr-defined]
    }

    def answer() -> HttpResponse:
        return render(request, "annotations/campaign_list.html", context)

    is_annotator = request.role == Role.ANNOTATOR  # type: ignore[attr-defined]
    return in_language(request, answer) if is_annotator else answer()


@reads(*FILLED_IN)
@project_view(EDITORS)
def campaign_create(request: HttpRequest, project: Project) -> HttpResponse:
    return _edit(request, project, Campaign(project=project))


@project_view(EDITORS)
@transaction.atomic
def campaign_edit(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    return _edit(request, project, locked(project.campaigns.all(), pk=pk))


def _edit(request: HttpRequest, project: Project, campaign: Campaign) -> HttpResponse:
    form = CampaignForm(request.POST or None, instance=campaign, project=project)
    if not campaign.pk:
        form.fill_in(request.GET)
    if form.is_valid():
        with transaction.atomic():
            saved = form.save()
            seat_annotators(saved, form.cleaned_data["annotators"])
        messages.success(request, _next_after_saving(saved))
        return redirect(saved)
    context = {"project": project, "tab": "annotate", "form": form, "campaign": campaign}
    return show_form(request, "annotations/campaign_form.html", context)


@reads("search", "sort", "open", "page")
@project_view(EDITORS)
def campaign_detail(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """A campaign with its people: those searched for, in an order, one of them opened."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    context = _context(project, campaign) | {"versions": campaign_versions(campaign)[::-1]}
    search, order = request.GET.get("search", ""), request.GET.get("sort", DOUBT)
    progress: CampaignProgress = context["progress"]
    refuse_unknown([order], list(orders_of(progress)), "order")
    opened = whole_number(request.GET.get("open", ""), default=0)
    table = people_table(progress, search=search, order=order, opened=opened)
    context |= {"search": search, "order": order, "table": table, "part": PART}
    context |= {"named": named_counts(campaign), "named_form": NamedItemsForm(campaign=campaign)}
    context["page"] = Paginator(table.rows, PAGE_SIZE).get_page(request.GET.get("page"))
    return render(request, "annotations/campaign_detail.html", context)


@project_view(EDITORS)
def campaign_progress_piece(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The figures alone, for a page that refreshes them; 286 tells htmx to stop polling. When an
    open campaign has closed, its page is reloaded, because its buttons change."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    is_open = campaign.state == CampaignState.OPEN
    response = render(
        request,
        "annotations/campaign_detail.html#progress",
        _context(project, campaign),
        status=200 if is_open else STOP_POLLING,
    )
    if not is_open:
        response.headers["HX-Refresh"] = "true"
    return response


@project_view(EDITORS)
def campaign_people(request: HttpRequest, project: Project, pk: int) -> HttpResponse:  # noqa: ARG001
    """What is said of each annotator, as CSV."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    response = StreamingHttpResponse(people_file(campaign), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-people-{pk}.csv"'
    return response  # type: ignore[return-value]


def _next_after_saving(campaign: Campaign) -> str:
    if campaign.state != CampaignState.DRAFT:
        return f"{campaign.name} is saved."
    seats = campaign.seats.filter(removed_at=None).count()
    if not seats:
        return f"{campaign.name} is saved as a draft. Choose its annotators, then open it."
    if seats < campaign.overlap:
        return (
            f"{campaign.name} is saved as a draft. Before you open it, choose"
            f" {campaign.overlap} annotators or fewer per item: it has {seats}."
        )
    return (
        f"{campaign.name} is saved as a draft. Annotators get its items when you open it; after"
        " that its plan is fixed."
    )


def _context(project: Project, campaign: Campaign) -> dict[str, Any]:
    return {
        "project": project,
        "tab": "annotate",
        "campaign": campaign,
        "progress": campaign_progress(campaign),
        **_goal_context(campaign),
    }


def _goal_context(campaign: Campaign) -> dict[str, object]:
    """Return a campaign's goal, and its progress towards it while the campaign is open."""
    goal = CampaignGoal.objects.filter(campaign=campaign).first()
    if goal is None:
        return {"goal": None}
    goal_context: dict[str, object] = {"goal": goal, "as_plan": as_plan(goal)}
    if campaign.state == CampaignState.DRAFT or goal.reached_at:
        return goal_context
    data = live_data(campaign.project)
    return goal_context | {"standing": standing(goal, data)}


@require_POST
@project_view(EDITORS)
def campaign_open(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    with noticing(request, AnnotationError):
        if campaign.state == CampaignState.CLOSED:
            reopen_campaign(campaign)
            messages.success(request, f"{campaign.name} is open again.")
        else:
            count = open_campaign(campaign)
            messages.success(request, f"{campaign.name} is open with {thin(count)} items.")
    return redirect(campaign)


@require_POST
@project_view(EDITORS)
def campaign_close(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    close_campaign(campaign)
    messages.success(request, f"{campaign.name} is closed. Submitted answers are kept.")
    return redirect(campaign)


@require_POST
@project_view(EDITORS)
def campaign_copy(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    copy = copy_campaign(get_object_or_404(Campaign, project=project, pk=pk))
    messages.success(request, f"{copy.name} is a draft with the same design.")
    return redirect("annotations:campaign_edit", project.slug, copy.pk)


@require_POST
@project_view(EDITORS)
def campaign_prepare(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Make a draft of the next round, whose practice are the most disputed items."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    with noticing(request, AnnotationError):
        draft = prepare_round(campaign)
        messages.success(
            request,
            f"{draft.name} is a draft of the next round. Its first {draft.practice_items} known"
            " answers are practice, with the decisions and their reasons.",
        )
        return redirect("annotations:campaign_edit", project.slug, draft.pk)
    return redirect("annotations:adjudication_list", project.slug, pk)


@require_POST
@project_view(EDITORS)
def campaign_delete(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    with noticing(request, AnnotationError):
        delete_campaign(campaign)
        messages.success(request, f"{campaign.name} is deleted.")
        return redirect("annotations:campaign_list", project.slug)
    return redirect(campaign)


@require_POST
@project_view(EDITORS)
def campaign_raise(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Assign items to more annotators (`overlap`) while the campaign is open."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    with noticing(request, AnnotationError):
        overlap = whole_number(request.POST.get("overlap", ""), default=0)
        raise_overlap(campaign, min(overlap, 1000))
        messages.success(request, f"Each item gets {overlap} annotators now.")
    return redirect(campaign)


@require_POST
@project_view(EDITORS)
def campaign_name_items(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Keep items for an annotator, or open those of a row (`remove`) to everybody again."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    removed = whole_number(request.POST.get("remove", ""), default=0)
    rows = list(campaign.named_items.exclude(pk=removed).select_related("annotator"))
    form = NamedItemsForm(request.POST, campaign=campaign)
    if not removed and not form.is_valid():
        refuse(
            request,
            " ".join(f"{name}: {' '.join(map(str, of))}" for name, of in form.errors.items()),
        )
        return redirect(campaign)
    with noticing(request, AnnotationError):
        name_items(campaign, rows if removed else [*rows, form.row])
        messages.success(
            request,
            "The items are for everybody again."
            if removed
            else f"The items are for {form.row.annotator}. Who has one already keeps it.",
        )
    return redirect(campaign)


@project_view(EDITORS)
@transaction.atomic
def guidelines_edit(request: HttpRequest, project: Project) -> HttpResponse:
    project = locked(Project.objects.all(), pk=project.pk)
    form = GuidelinesForm(request.POST or None, instance=project)
    if form.is_valid():
        GuidelinesVersion.objects.current(form.save(), by=request.user)
        messages.success(request, "The guidelines are saved.")
        return redirect("annotations:campaign_list", project.slug)
    context = {
        "project": project,
        "tab": "annotate",
        "form": form,
        "criteria": project.criteria.all(),
    }
    return show_form(request, "annotations/guidelines_edit.html", context)
