"""Share links of reports: created by editors, open to anybody with the address."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from evaluations.models import Project, ShareLink
from evaluations.models.sharing import new_token
from evaluations.models.tokens import digest_of
from evaluations.people.access import EDITORS, project_action
from evaluations.reports.data import options_of
from evaluations.web.forms.projects import ShareForm
from evaluations.web.notices import refuse
from evaluations.web.parameters import REPORT, reads
from evaluations.web.views import drawings, reports
from geval.reports.options import LISTS

# Parameters that affect how a part of the page is sent rather than what it contains, and those that
# select the criterion and the figures.
SENDING = frozenset({"mark", "table", "part", "first", "drawn", "by", "on"})


@project_action(EDITORS)
def share_create(request: HttpRequest, project: Project) -> HttpResponse:
    """Create a link to the current view; its address is shown once."""
    form = ShareForm(request.POST)
    if not form.is_valid():
        refuse(
            request,
            "Enter for how many days the link is valid, from 1 to 3650, or leave the field empty.",
        )
        return redirect("evaluations:report_detail", project.slug)
    token, days = new_token(), form.cleaned_data["days"]
    options, errors = options_of(QueryDict(form.cleaned_data["query"]), project)
    if errors:
        refuse(request, f"No link was made. {' '.join(errors)}")
        return redirect("evaluations:report_detail", project.slug)
    ShareLink.objects.create(
        project=project,
        digest=digest_of(token),
        query=options.query,
        with_texts=form.cleaned_data["with_texts"],
        made_by=request.user if request.user.is_authenticated else None,
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    address = request.build_absolute_uri(reverse("evaluations:shared_report", args=[token]))
    request.session[reports.NEW_LINK] = address
    return redirect("evaluations:report_detail", project.slug)


@project_action(EDITORS)
def share_revoke(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    ShareLink.objects.filter(project=project, pk=pk, revoked_at=None).update(
        revoked_at=timezone.now()
    )
    messages.success(request, "The link no longer opens the report.")
    return redirect("evaluations:report_detail", project.slug)


def shared(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Give a view the project and the fixed options of a valid link."""

    @require_GET
    @wraps(view)
    def guarded(request: HttpRequest, token: str, *args: Any, **kwargs: Any) -> HttpResponse:
        link = (
            ShareLink.objects.valid()
            .select_related("project")
            .filter(digest=digest_of(token))
            .first()
        )
        if link is None:
            raise Http404("This link is not valid; it may have been revoked or have expired.")
        request.GET = _view_of(link, request.GET)  # type: ignore[assignment]
        request.shared = True  # type: ignore[attr-defined]
        request.shares_texts = link.with_texts  # type: ignore[attr-defined]
        response = view(request, link.project, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        response["X-Robots-Tag"] = "noindex"
        return response

    return guarded


def _view_of(link: ShareLink, query: QueryDict) -> QueryDict:
    """Return the link's own view, with the request's display parameters.

    Raises:
        Http404: all records named by one of its filters were removed; without the filter the view
            would show more.
    """
    view = QueryDict(link.query, mutable=True)
    options, _errors = options_of(view, link.project)
    if any(any(view.getlist(name)) and not getattr(options, name) for name in LISTS):
        raise Http404(
            "What this link showed no longer exists. Ask the person who sent it for a new one."
        )
    for name in SENDING & set(query):
        view[name] = query.get(name, "")
    return view


@reads(*REPORT)
@shared
def shared_report(request: HttpRequest, project: Project) -> HttpResponse:
    context = reports.report_context(request, project, base=request.path)
    return render(request, "evaluations/report_detail.html", context)


@reads(*REPORT)
@shared
def shared_document(
    request: HttpRequest, project: Project, criterion: int, judge: int, document: int
) -> HttpResponse:
    """The texts behind a number, if the link shares them."""
    if not request.shares_texts:  # type: ignore[attr-defined]
        raise Http404(
            "This link does not share texts. Ask the person who sent it for one that does."
        )
    return reports.texts(request, project, criterion, judge, document)


shared_numbers, shared_paper = shared(reports.evidence), shared(reports.paper)
shared_piece, shared_figure = shared(reports.piece), shared(reports.figure)
shared_cell, shared_export = shared(reports.cell), shared(reports.export)
shared_drawings, shared_drawing = shared(drawings.piece), shared(drawings.download)
