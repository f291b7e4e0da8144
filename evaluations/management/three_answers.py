"""The demo's second project, entirely simulated: an example of each verdict, and a search for a
wording that changes one."""

import io
from importlib.util import find_spec

from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction

from evaluations.corpus.locks.locking import lock_documents, locked_of
from evaluations.judging.judges.judges import newest_version
from evaluations.management.demo import add_members, load_texts
from evaluations.models import Judge, Project
from geval.standin.planted import THREE_ANSWERS, planted_files

SLUG, NAME = "three-answers", "Three answers (simulated)"
DESCRIPTION = (
    "Simulated: a rule made the texts and the ratings, and the judge is the offline stand-in, not"
    " an LLM. On each criterion raters weigh whether facts are supported and the text is brief. The"
    " definitions name both (usefulness), one of them (trust) or neither (appeal, quality)."
)
SEARCHED = " For quality, a search found a better wording, proven on documents it had not seen."
SEED, DOCUMENTS, SYSTEMS = 2, 60, 4
IMPROVED = "quality"
MOST_CALLS = 300
# One test of the change, after which the documents' ratings are in reports again.
LOOKS = 1


@transaction.atomic
def load_three_answers() -> Project:
    """Create the project; repeating it changes nothing."""
    project, is_new = Project.objects.get_or_create(
        slug=SLUG, defaults={"name": NAME, "description": DESCRIPTION}
    )
    if is_new:
        add_members(project)
        files = planted_files(
            SEED, documents=DOCUMENTS, systems=SYSTEMS, criteria=list(THREE_ANSWERS)
        )
        load_texts(project, files)
        for name, definition in THREE_ANSWERS.items():
            project.criteria.filter(name=name).update(definition=definition)
    return project


def can_improve(judge: Judge) -> bool:
    """Whether a wording has yet to be searched, and the search's package is installed."""
    locked = locked_of(judge.project)
    is_done = locked is not None and locked.looks_used() >= locked.looks_allowed
    return not is_done and find_spec("gepa") is not None


def improve_wording(judge: Judge) -> str:
    """Lock documents, search a wording for the vague criterion on the others, test it once on the
    locked ones, and adopt it as the judge's next version if it is proven.

    On a site that had the same texts before, their earlier lock counts.

    Returns:
        Why it was not possible, or an empty text.
    """
    project = judge.project
    try:
        if locked_of(project) is None:
            lock_documents(project, seed=SLUG, looks=LOOKS)
        call_command(
            "improve",
            project.slug,
            judge=judge.name,
            criterion=[IMPROVED],
            change="wording",
            calls=MOST_CALLS,
            use=True,
            stderr=io.StringIO(),
        )
    except (ValidationError, CommandError) as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        return " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
    if newest_version(project, judge.name) != judge:
        project.description = DESCRIPTION + SEARCHED
        project.save(update_fields=["description"])
    return ""
