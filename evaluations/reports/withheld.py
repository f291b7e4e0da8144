"""While a better judge is being searched for, what people gave to locked documents is on no page:
whoever sees it could tune a judge by it."""

import numpy as np

from evaluations.models import LockedDocuments, Project
from evaluations.reports.data import ReportData


def withheld_lock(project: int) -> LockedDocuments | None:
    """The locked documents of a project, by its id, whose ratings are withheld now."""
    return LockedDocuments.objects.withheld_in(project)


class WithheldError(Exception):
    """Something cannot be had while ratings are withheld; the message says what to do."""


def check_whole(project: Project) -> None:
    """Refuse a copy of a whole project while ratings are withheld, as it would hold them.

    Raises:
        WithheldError: they are.
    """
    if withheld_lock(project.pk) is not None:
        raise WithheldError(
            "A better judge is being searched for, and the archive holds ratings of locked"
            " documents. Download it when the search is over, or cancel the search."
        )


def without_withheld(data: ReportData, project: Project) -> ReportData:
    """A report's numbers without the documents whose ratings are withheld."""
    lock = withheld_lock(project.pk)
    if lock is None:
        return data
    hidden = np.array(lock.among(data.unit_names), dtype=bool)
    return data.without(hidden) if hidden.any() else data
