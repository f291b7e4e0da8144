"""`manage.py export_project PROJECT FILE`: a whole project as one archive of plain files, or its
texts and ratings in the form of another tool."""

import shutil
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluations.management.base import SiteCommand
from evaluations.management.own_site import own_site
from evaluations.management.projects import find_project
from evaluations.models import CandidateOutput, Project
from evaluations.models.improving import withheld_documents
from evaluations.projects.archive.write import write_archive
from evaluations.reports.ratings.downloads import DOWNLOADS
from evaluations.reports.ratings.exported import dataset_of
from geval.files.hugging_face import LICENCES, write_folder
from geval.pipelines.project_files.command import CannotError, add_site, client_of, export
from geval.reports.words import left_out_in_words

ARCHIVE, PUBLISHED = "archive", "hugging-face"


def _archive(project: Project, path: Path, **how: bool) -> dict[str, int]:
    with path.open("xb") as file:
        return write_archive(project, file, **how)


def _download(name: str) -> Callable[..., dict[str, int]]:
    """Return the function that writes a download into a file."""

    def write(project: Project, path: Path, **how: bool) -> dict[str, int]:
        with path.open("xb") as file:
            for part in DOWNLOADS[name].write(project, **how):
                file.write(part if isinstance(part, bytes) else part.encode())
        return {"outputs": CandidateOutput.objects.of_project(project).count()}

    return write


FORMS: dict[str, Callable[..., dict[str, int]]] = {
    ARCHIVE: _archive,
    PUBLISHED: lambda project, folder, **how: write_folder(dataset_of(project, **how), folder),
    "label-studio": _download("label-studio.json"),
    "argilla": _download("argilla.json"),
}
YAML = "yaml"


class Command(SiteCommand):
    help = (
        "Write a whole project as one zip, or for another tool. The zip has corpus, criteria,"
        " ratings, preferences, scores, prompts and runs; other tools get texts and ratings."
    )
    REFUSALS = (CannotError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project")
        parser.add_argument("file", type=Path, help="what to write; it must not exist yet")
        parser.add_argument(
            "--as",
            dest="form",
            choices=[*FORMS, YAML],
            default=ARCHIVE,
            help=(
                "archive: the whole project as a zip (default); hugging-face: outputs, ratings,"
                " scores and preferences as a folder with a card; label-studio, argilla: outputs"
                " with their ratings and scores as JSON; yaml: its criteria, endpoints, judges and"
                " campaigns as a file for `apply`"
            ),
        )

        parser.add_argument(
            "--with-locked",
            action="store_true",
            help=(
                "also write ratings of locked documents, to move a project to another site: they"
                " stay locked there, and the certificate of the looks says that they were copied"
            ),
        )

        parser.add_argument(
            "--pseudonyms",
            action=BooleanOptionalAction,
            help=(
                "call annotators “annotator 1” and so on, and name nobody who reviewed or decided;"
                " what people wrote in comments stays as it is; the usual form of hugging-face"
            ),
        )

        parser.add_argument(
            "--licence", choices=LICENCES, help="of a dataset of hugging-face, for its card"
        )

        add_site(parser)

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["form"] == YAML:
            arguments = Namespace(**options)
            client = client_of(arguments) if arguments.site else None
            export(
                lambda slug: client or own_site(find_project(slug).slug),
                arguments,
                self.stdout,  # type: ignore[arg-type]
            )
            return
        if options["site"]:
            raise CommandError("From a site over HTTP only --as yaml is written.")
        project, path = find_project(options["project"]), options["file"]
        unfinished = path.with_name(f"{path.name}.part")
        try:
            if path.exists():
                raise CommandError(f"{path} already exists; choose another file.")
            hidden = len(withheld_documents(project.pk))
            how: dict[str, Any] = {"pseudonyms": options["pseudonyms"]}
            if how["pseudonyms"] is None:
                how["pseudonyms"] = options["form"] == PUBLISHED
            if options["licence"]:
                if options["form"] != PUBLISHED:
                    raise CommandError(f"--licence is for --as {PUBLISHED}.")
                how["licence"] = options["licence"]
            if options["with_locked"]:
                if options["form"] != ARCHIVE:
                    raise CommandError("--with-locked is for archives.")
                how["with_locked"] = True
            counts = FORMS[options["form"]](project, unfinished, **how)
            unfinished.rename(path)
        except OSError as error:
            raise CommandError(f"{path} cannot be written: {error.strerror or error}") from None
        finally:
            if unfinished.is_dir():
                shutil.rmtree(unfinished)
            unfinished.unlink(missing_ok=True)
        listed = ", ".join(
            f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if count
        )
        self.stdout.write(f"{path}: {listed or 'an empty project'}.")
        if hidden and not options["with_locked"]:
            self.stdout.write(left_out_in_words(hidden))
