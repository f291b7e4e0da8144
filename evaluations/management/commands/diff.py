"""`manage.py diff FILE`: what `apply` would change."""

from evaluations.management.project_files import ProjectFileCommand


class Command(ProjectFileCommand):
    help = (
        "Say what `apply` would change of a project: ends with 0 (nothing), 1 (changes) or 2 (an"
        " error)."
    )
    name = "diff"
