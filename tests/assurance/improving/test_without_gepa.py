"""What improving does without the packages of the extra `assurance`."""

from collections.abc import Callable

import pytest
from django.test import Client

from assurance.improving.work import request_search
from evaluations.corpus.locks.locking import lock_documents
from evaluations.models import Change, Judge, Project
from geval.improving.ground import ImproveError
from tests.settings.test_a_site_without_extras import without

__all__ = ["without"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_the_page_shows(
    without: None, judged_project: Project, as_role: Callable[[str], Client]
) -> None:
    assert as_role("owner").get(f"/p/{judged_project.slug}/improve/").status_code == 200


def test_a_search_for_a_wording_is_refused_and_says_what_to_install(
    without: None, judged_project: Project
) -> None:
    lock_documents(judged_project, seed="fixed", looks=2)
    judge, criterion = Judge.objects.get(), judged_project.criteria.all()[0]

    with pytest.raises(ImproveError, match=r"gepa.*geval-site\[assurance\]"):
        request_search(judge, criterion, [Change.WORDING])
    request_search(judge, criterion, [Change.EXAMPLES])
