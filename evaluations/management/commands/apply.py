"""`manage.py apply FILE`: make a project what a YAML file says, all of it or nothing."""

from evaluations.management.project_files import ProjectFileCommand


class Command(ProjectFileCommand):
    help = (
        "Bring a project to the state in a YAML file. What the file does not name of its criteria,"
        " endpoints, judges and campaigns stays as it is."
    )
    name = "apply"
