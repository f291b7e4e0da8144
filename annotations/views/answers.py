"""Owners' pages of a campaign's answers (of one annotator, flagged, skipped, commented) and their
review; downloads of texts, ratings and preferences."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotations.answering.answers import LETTERS, Answer, fields_of
from annotations.answering.submission import questions_of
from annotations.answering.task_page import item_rows, item_texts
from annotations.errors import AnnotationError
from annotations.models import (
    Annotator,
    Assignment,
    AssignmentState,
    Campaign,
    Exclusion,
    Review,
    ReviewAction,
)
from annotations.results.comparison import answers_in_words, in_words
from annotations.results.reviewing import (
    answers_of,
    exclude,
    give_back_all,
    hand_out_skipped,
    lift,
    review,
)
from annotations.results.rounds import retest
from evaluations.models import CandidateOutput, Project
from evaluations.people.access import EDITORS, READERS, project_view
from evaluations.people.audit import note_detail
from evaluations.reports.ratings.downloads import DOWNLOADS
from evaluations.reports.ratings.exported import dataset_of
from evaluations.web.notices import noticing
from evaluations.web.parameters import (
    LICENCE,
    PSEUDONYMS,
    UnknownFieldError,
    reads,
    wants_pseudonyms,
)
from geval.files.hugging_face import LICENCES, card_of
from geval.texts.numbers import thin, whole_number
from geval.texts.spelling import storable

PAGE_SIZE = 50
# Filters of the list, by their name in the address.
SHOWN: dict[str, tuple[str, Q]] = {
    "": ("All", Q()),
    "review": (
        "To review",
        Q(reviewed__in=(ReviewAction.ASKED, ReviewAction.CORRECTED))
        | Q(reviewed=None, flagged=True, state=AssignmentState.SUBMITTED),
    ),
    "returned": ("Returned", Q(reviewed=ReviewAction.RETURNED)),
    "flagged": ("Flagged", Q(flagged=True)),
    "skipped": ("Skipped", Q(state=AssignmentState.SKIPPED)),
    "commented": ("Commented", Q(answer__has_key="comment") & ~Q(answer__comment="")),
    "checks": ("Checks and practice", Q(passed__isnull=False)),
    "rejected": ("Rejected", Q(state=AssignmentState.REJECTED)),
}


# Steps after which an answer is more than submitted.
SAYING_MORE = (
    ReviewAction.ACCEPTED, ReviewAction.RETURNED, ReviewAction.FIXED, ReviewAction.CORRECTED
)  # fmt: skip
REVIEWED = {
    ReviewAction.ACCEPTED: "The answer is accepted.",
    ReviewAction.RETURNED: "The answer is returned. Its annotator sees your message beside it.",
    ReviewAction.FIXED: "Your answer counts. The annotator’s own is kept in the record.",
    ReviewAction.REJECTED: "The answer is rejected. It counts nowhere, and is kept.",
    ReviewAction.COUNTED: "The answer counts again.",
    ReviewAction.HANDED_OUT: "The item can be given to everybody again.",
}


@reads("show", "annotator", "page")
@project_view(EDITORS)
def answer_list(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    show = request.GET.get("show", "")
    show = show if show in SHOWN else ""
    person = project.annotators.filter(
        pk=whole_number(request.GET.get("annotator", ""), default=0)
    ).first()
    rows = answers_of(campaign)
    if person is not None:
        rows = rows.filter(annotator=person)
    counts = {name: rows.filter(which).count() for name, (_, which) in SHOWN.items()}
    chosen = rows.filter(SHOWN[show][1]).select_related("annotator", "item__document")
    page = Paginator(chosen, PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "project": project,
        "tab": "annotate",
        "campaign": campaign,
        "person": person,
        "exclusions": Exclusion.objects.filter(annotator=person) if person else (),
        "retest": retest(person) if person else None,
        "show": show,
        "returnable": person and chosen.filter(state=AssignmentState.SUBMITTED).count(),
        "kinds": [(name, title, counts[name]) for name, (title, _) in SHOWN.items()],
        "questions": questions_of(campaign),
        "page": page,
        "entries": _entries(campaign, list(page)),
    }
    return render(request, "annotations/answer_list.html", context)


def _entries(campaign: Campaign, rows: list[Assignment]) -> list[dict[str, Any]]:
    reviews: dict[int, list[Review]] = {}
    for step in Review.objects.filter(assignment__in=rows):
        reviews.setdefault(step.assignment_id, []).append(step)
    questions = questions_of(campaign)
    shown = CandidateOutput.objects.only("text").in_bulk({pk for row in rows for pk in row.shown})
    entries = []
    for row in rows:
        letters = {output: LETTERS[index] for index, output in enumerate(row.shown)}
        given = answers_in_words(campaign, [(row.annotator.name, row)], letters)[0]
        steps = reviews.get(row.pk, [])
        own = [in_words(_own_answer(steps), str(q.key), row.shown, letters) for q in questions]
        entries.append(
            {
                "row": row,
                "state": _state(row),
                "given": given,
                "texts": [
                    (letters[pk] if len(row.shown) > 1 else "", shown[pk].text)
                    for pk in row.shown
                    if pk in shown
                ],
                "answers": list(zip(questions, given.answers, own, strict=True)),
                "reviews": steps,
            }
        )
    return entries


def _state(row: Any) -> str:
    """Return the state of an answer in words, by its review if that says more."""
    if row.state == AssignmentState.SUBMITTED and row.reviewed in SAYING_MORE:
        return ReviewAction(row.reviewed).label
    return str(row.get_state_display())


def _own_answer(steps: list[Review]) -> Answer:
    """Return the annotator's own answer where a reviewer's stands in its place; else nothing."""
    own: Answer = {}
    for step in steps:
        if step.action == ReviewAction.HANDED_OUT:
            own = {}
        elif step.action == ReviewAction.FIXED:
            own = own or step.answer or {}
    return own


@reads("show", "annotator", "page")
@require_POST
@project_view(EDITORS)
def answer_review(request: HttpRequest, project: Project, pk: int, answer: int) -> HttpResponse:
    """Take a step of a review, as `action` says."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    assignment = get_object_or_404(answers_of(campaign), pk=answer)
    action, reason = request.POST.get("action", ""), storable(request.POST.get("reason", ""))
    with noticing(request, AnnotationError):
        review(assignment.pk, action, user=request.user, reason=reason)
        note_detail(request, ReviewAction(action).label.lower())
        messages.success(request, REVIEWED[ReviewAction(action)])
    return _back(request, campaign)


@reads("show", "annotator", "page")
@project_view(EDITORS)
def answer_fix(request: HttpRequest, project: Project, pk: int, answer: int) -> HttpResponse:
    """The form of an answer, to replace it by the reviewer's."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    rows = answers_of(campaign).select_related("campaign", "item__document", "annotator")
    assignment = get_object_or_404(rows, pk=answer, state=AssignmentState.SUBMITTED)
    fields = {name: storable(str(value)) for name, value in request.POST.items()}
    refused = ""
    if request.method == "POST":
        reason = fields.get("reason", "")
        try:
            review(assignment.pk, ReviewAction.FIXED, user=request.user, reason=reason,
                   fields=fields)  # fmt: skip
        except AnnotationError as error:
            refused = " ".join(dict.fromkeys((error.message, *error.fields.values())))
        else:
            note_detail(request, ReviewAction.FIXED.label.lower())
            messages.success(request, REVIEWED[ReviewAction.FIXED])
            return _back(request, campaign)
    outputs = item_texts(assignment.item, assignment.shown, show_systems=campaign.show_systems)
    context = {
        "project": project,
        "tab": "annotate",
        "campaign": campaign,
        "row": assignment,
        "item": assignment.item,
        "outputs": outputs,
        "rows": item_rows(campaign, outputs, fields or fields_of(assignment.answer or {})),
        "entry": _entries(campaign, [assignment])[0],
        "refused": refused,
        "reason": fields.get("reason", ""),
    }
    status = 422 if refused else 200
    return render(request, "annotations/answer_fix.html", context, status=status)


@reads("show", "annotator", "page")
@require_POST
@project_view(EDITORS)
def answer_hand_out(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Release all skipped items again."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    count = hand_out_skipped(campaign, user=request.user)
    messages.success(request, f"{thin(count)} skipped items can be given to everybody again.")
    return redirect(campaign)


@reads("show", "annotator", "page")
@require_POST
@project_view(EDITORS)
def annotator_exclude(
    request: HttpRequest, project: Project, pk: int, annotator: int
) -> HttpResponse:
    """Exclude a person from the project's campaigns, or lift the exclusion (`lift`)."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    person = get_object_or_404(Annotator, project=project, pk=annotator)
    with noticing(request, AnnotationError):
        if request.POST.get("action") == "lift":
            lift(person, user=request.user)
            messages.success(request, f"{person} is no longer excluded; the answers count again.")
        else:
            exclude(person, user=request.user, reason=storable(request.POST.get("reason", "")))
            messages.success(
                request, f"{person} is excluded. Their answers count nowhere, and are kept."
            )
    return _back(request, campaign)


@reads("show", "annotator", "page")
@require_POST
@project_view(EDITORS)
def answer_return_all(
    request: HttpRequest, project: Project, pk: int, annotator: int
) -> HttpResponse:
    """Return all submitted answers of a person that a filter of the list shows."""
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    person = get_object_or_404(Annotator, project=project, pk=annotator)
    show = request.GET.get("show", "")
    if show not in SHOWN:
        raise Http404(f"There is no filter {show}.")
    answers = answers_of(campaign).filter(SHOWN[show][1], annotator=person)
    message = storable(request.POST.get("reason", ""))
    with noticing(request, AnnotationError):
        count = give_back_all(answers, user=request.user, message=message)
        note_detail(request, f"answers: {count}")
        messages.success(request, f"Answers returned to {person}: {thin(count)}.")
    return _back(request, campaign)


def _back(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Redirect to the list with its current filters."""
    response = redirect("annotations:answer_list", campaign.project.slug, campaign.pk)
    query = request.GET.urlencode()
    response["Location"] += f"?{query}" if query else ""
    return response


@reads(PSEUDONYMS, LICENCE)
@project_view(READERS)
def export(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    """Return one of `DOWNLOADS` by its name, with names or pseudonyms of annotators; of the one
    that is made to be published, with a licence."""
    if name not in DOWNLOADS:
        raise Http404(f"There is no export {name}.")
    download, licence = DOWNLOADS[name], request.GET.get(LICENCE, "")
    pseudonyms = wants_pseudonyms(request, usually=download.is_published)
    try:
        content = download.of(project, pseudonyms=pseudonyms, licence=licence)
    except ValueError as error:
        raise UnknownFieldError(str(error)) from None
    response = StreamingHttpResponse(content, content_type=download.content_type)
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-{name}"'
    return response  # type: ignore[return-value]


@project_view(READERS)
def publish(request: HttpRequest, project: Project) -> HttpResponse:
    """How the project's data are published: a licence, and the card as it will be."""
    context = {
        "project": project,
        "tab": "people",
        "licences": LICENCES,
        "card": card_of(dataset_of(project)),
    }
    return render(request, "annotations/publish.html", context)
