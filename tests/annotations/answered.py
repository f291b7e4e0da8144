"""A campaign on as many documents as are needed, and answers as annotators would leave them."""

from collections.abc import Callable

from django.utils import timezone

from annotations.models import Annotator, Assignment, AssignmentState, Campaign, Rating
from evaluations.models import CandidateOutput, Criterion, Document, Project, System
from evaluations.models.changes import note_change


def many_documents(project: Project, count: int) -> None:
    """Documents with an output each of the systems `better` and `worse`, and a criterion."""
    systems = [System.objects.create(project=project, name=name) for name in ("better", "worse")]
    documents = Document.objects.bulk_create(
        Document(project=project, doc_id=f"n{number}", source="s") for number in range(count)
    )
    CandidateOutput.objects.bulk_create(
        CandidateOutput(document=document, system=system, text=f"{document.doc_id} {system.name}")
        for document in documents
        for system in systems
    )
    Criterion.objects.get_or_create(project=project, name="coherence")


def answer(
    campaign: Campaign, annotator: Annotator, score: Callable[[str], float], *, most: int = 10_000
) -> None:
    """Answer so many items in the order of the campaign, by the name of the system."""
    items = list(campaign.items.filter(kind="ordinary", places__gt=0).order_by("position")[:most])
    outputs = CandidateOutput.objects.select_related("system").in_bulk(
        [item.outputs[0] for item in items]
    )
    now = timezone.now()
    Assignment.objects.bulk_create(
        Assignment(
            campaign=campaign,
            item=item,
            annotator=annotator,
            state=AssignmentState.SUBMITTED,
            shown=item.outputs,
            lease_until=now,
            submitted_at=now,
            answer={
                "scores": {
                    str(criterion.pk): score(outputs[item.outputs[0]].system.name)
                    for criterion in campaign.criteria.all()
                }
            },
        )
        for item in items
    )
    Rating.objects.bulk_create(
        Rating(
            output_id=item.outputs[0],
            criterion=criterion,
            annotator=annotator,
            score=score(outputs[item.outputs[0]].system.name),
        )
        for item in items
        for criterion in campaign.criteria.all()
    )
    campaign.items.filter(pk__in=[item.pk for item in items]).update(places=0)
    note_change(campaign.project_id)
