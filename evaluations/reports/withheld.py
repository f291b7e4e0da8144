"""While a better judge is being searched for, what people gave to locked documents is on no page:
whoever sees it could tune a judge by it."""

from evaluations.models import Document, LockedDocuments, Project, Search
from evaluations.models.improving import OPEN_STATES
from evaluations.reports.data import ReportData


def withheld_lock(project: int) -> LockedDocuments | None:
    """The locked documents of a project, by its id, whose ratings are withheld now."""
    if not Search.objects.filter(project=project, state__in=OPEN_STATES).exists():
        return None
    return LockedDocuments.objects.filter(project=project, unlocked_at=None).first()


def without_withheld(data: ReportData, project: Project) -> ReportData:
    """A report's numbers without the documents whose ratings are withheld."""
    lock = withheld_lock(project.pk)
    if lock is None:
        return data
    hidden = lock.mask(data.doc_ids)
    return data.without(hidden) if hidden.any() else data


def is_withheld(document: Document) -> bool:
    """Whether a document's ratings are withheld now."""
    lock = withheld_lock(document.project_id)
    return lock is not None and lock.holds(document.doc_id)
