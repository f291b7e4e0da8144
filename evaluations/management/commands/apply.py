"""`manage.py apply FILE`: make a project what a YAML file says, all of it or nothing."""

from evaluations.management.project_files import ProjectFileCommand


class Command(ProjectFileCommand):
    help = (
        "Make a project what a YAML file says of its criteria, endpoints, judges and campaigns."
        " What the file does not name stays as it is."
    )
    name = "apply"
