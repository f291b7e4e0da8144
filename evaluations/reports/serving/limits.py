"""Which reports a web process computes as pages request them, and which a worker computes."""

from django.conf import settings

from annotations.models import Preference, Rating
from evaluations.models import CandidateOutput, PairScore, Project, Score
from evaluations.models.seldom import read_seldom
from geval.texts.program import command

# Above this size a page loads first and fetches the report afterwards.
AT_ONCE_NUMBERS = 3000
# Pages that refresh themselves need not count each time.
COUNTED_FOR_SECONDS = 30


def is_large(project: Project) -> bool:
    """Whether a report is larger than a web process computes."""
    most = settings.REPORT_IN_PAGE_NUMBERS
    return read_seldom(
        ("large", project.pk, most),
        lambda: numbers_in(project, most + 1) > most,
        seconds=COUNTED_FOR_SECONDS,
    )


def takes_a_moment(project: Project) -> bool:
    """Whether a report is small enough to be computed before a page that shows some of it."""
    return numbers_in(project, AT_ONCE_NUMBERS + 1) <= AT_ONCE_NUMBERS


def too_large_for_page(project: Project, *commands: str) -> str:
    """Return why a web process does not compute something for a project, and which commands do;
    empty if it does."""
    if not is_large(project):
        return ""
    named = " and ".join(f"`{command(words)}`" for words in commands)
    return f"This project is too large for a page; use {named}."


def numbers_in(project: Project, most: int) -> int:
    """Return how many outputs, ratings and scores a report has, counting at most `most`. At the
    usual limit that takes some tens of milliseconds, however large the project is."""
    counted = 0
    for rows in (
        CandidateOutput.objects.filter(document__project=project),
        Rating.objects.filter(annotator__project=project),
        Preference.objects.filter(annotator__project=project),
        Score.objects.filter(run__project=project),
        PairScore.objects.filter(run__project=project),
    ):
        if counted < most:
            counted += rows.order_by()[: most - counted].count()
    return counted
