"""Convert the known answers of a campaign between output ids and names."""

from annotations.models import Campaign
from evaluations.models import CandidateOutput, Project
from geval.files.answers.gold import rows_of_gold


def ids_by_name(project: Project) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the ids of outputs and their documents, by document and system name."""
    rows = CandidateOutput.objects.of_project(project).values_list(
        "document__doc_id", "system__name", "pk", "document_id"
    )
    return {(doc_id, system): (pk, document) for doc_id, system, pk, document in rows}


def known_answers(campaign: Campaign) -> list[dict[str, str | float]]:
    """Return a campaign's known answers as rows of names."""
    if not campaign.gold:
        return []
    pks = {pk for entry in campaign.gold for pk in entry["outputs"]}
    rows = CandidateOutput.objects.filter(pk__in=pks).values_list(
        "pk", "document__doc_id", "system__name"
    )
    outputs = {pk: (doc_id, system) for pk, doc_id, system in rows}
    names = {str(pk): name for pk, name in campaign.project.criteria.values_list("pk", "name")}
    return rows_of_gold(campaign.gold, campaign.kind, outputs, names)
