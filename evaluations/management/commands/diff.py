"""`manage.py diff FILE`: what `apply` would change."""

from evaluations.management.project_files import ProjectFileCommand


class Command(ProjectFileCommand):
    help = "Print what `apply` would change. Ends with 0 (nothing), 1 (changes) or 2 (an error)."
    name = "diff"
