"""`manage.py export_project PROJECT FILE`: a whole project as one archive of plain files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluations.archive.write import write_archive
from evaluations.management.base import SiteCommand
from evaluations.management.projects import find_project


class Command(SiteCommand):
    help = (
        "Write a whole project (corpus, criteria, ratings, preferences, scores, prompts, runs) as"
        " one zip."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("file", type=Path, help="the zip to write; it must not exist yet")

    def handle(self, *_args: Any, **options: Any) -> None:
        project, path = find_project(options["project"]), options["file"]
        unfinished = path.with_name(f"{path.name}.part")
        try:
            if path.exists():
                raise CommandError(f"{path} already exists; choose another file.")
            with unfinished.open("xb") as file:
                counts = write_archive(project, file)
            unfinished.rename(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror or error}") from None
        finally:
            unfinished.unlink(missing_ok=True)
        listed = ", ".join(
            f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count
        )
        self.stdout.write(f"{path}: {listed or 'an empty project'}.")
