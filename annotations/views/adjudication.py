"""Pages for adjudicating items on which annotators differ."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotations.answering.submission import questions_of
from annotations.answering.task_page import item_rows, item_texts
from annotations.errors import AnnotationError
from annotations.forms.campaigns import DecisionNoteForm
from annotations.models import Assignment, AssignmentState, Campaign, CampaignItem
from annotations.results.adjudication import decide, disputed_items, disputed_questions
from annotations.results.comparison import answers_in_words, in_words
from evaluations.models import Project
from evaluations.models.improving import is_withheld
from evaluations.people.access import EDITORS, project_view
from geval.texts.spelling import storable


@project_view(EDITORS)
def adjudication_list(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    campaign = get_object_or_404(Campaign, project=project, pk=pk)
    context = {
        "project": project,
        "tab": "annotate",
        "campaign": campaign,
        "disputed": disputed_items(campaign),
    }
    return render(request, "annotations/adjudication_list.html", context)


@project_view(EDITORS)
def adjudication_item(request: HttpRequest, project: Project, pk: int, item: int) -> HttpResponse:
    disputed = get_object_or_404(
        CampaignItem.objects.select_related("campaign", "document"),
        campaign=pk,
        campaign__project=project,
        pk=item,
    )
    if is_withheld(disputed.document):
        context = {
            "project": project,
            "tab": "annotate",
            "campaign": disputed.campaign,
            "item": disputed,
        }
        return render(request, "annotations/adjudication_withheld.html", context)
    fields = {storable(name): storable(str(value)) for name, value in request.POST.items()}
    note = DecisionNoteForm(request.POST or None)
    refused = None
    if request.method == "POST" and note.is_valid():
        try:
            decide(disputed, fields, user=request.user, note=note.cleaned_data["note"])
        except AnnotationError as error:
            refused = error.message
        else:
            messages.success(request, "The decision is saved next to the ratings.")
            return redirect("annotations:adjudication_list", project.slug, pk)
    return render(
        request,
        "annotations/adjudication_item.html",
        _context(project, disputed, fields, note, refused),
        status=422 if refused or note.errors else 200,
    )


def _context(
    project: Project,
    item: CampaignItem,
    fields: dict[str, str],
    note: DecisionNoteForm,
    refused: str | None,
) -> dict[str, object]:
    campaign = item.campaign
    outputs = item_texts(item, show_systems=campaign.show_systems)
    letters = {output.pk: output.letter for output in outputs}
    assignments = (
        Assignment.objects.filter(item=item, state=AssignmentState.SUBMITTED)
        .select_related("annotator")
        .order_by("pk")
    )
    questions = questions_of(campaign)
    decisions = [
        (
            decision,
            [in_words(decision.answer, str(q.key), item.outputs, letters) for q in questions],
        )
        for decision in item.decisions.select_related("user")
    ]
    return {
        "project": project,
        "tab": "annotate",
        "campaign": campaign,
        "item": item,
        "outputs": outputs,
        "rows": item_rows(campaign, outputs, fields),
        "questions": questions,
        "disputed": [q.name for q in questions if q.key in disputed_questions(item)],
        "said": answers_in_words(campaign, [(a.annotator.name, a) for a in assignments], letters),
        "decisions": decisions,
        "note": note,
        "refused": refused,
    }
