"""`manage.py load PROJECT FILE…`: load outputs, ratings and scores into a project."""

from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from django.core.management.base import CommandError
from django.db import transaction

from evaluations.corpus.recognised import files_of_project, remember_choices
from evaluations.corpus.store import LoadOptions, load_rest
from evaluations.management.base import SiteCommand
from evaluations.management.projects import project_or_new
from geval.files.hugging_face import FolderError, files_in
from geval.files.load_text import (
    errors_as_json,
    errors_in_lines,
    questions_as_json,
    questions_in_lines,
    result_as_json,
    result_in_lines,
)
from geval.files.mapping import TARGETS
from geval.files.questions import StatementError, parsed_columns, parsed_scales
from geval.files.recognised import UnclearColumnsError, as_input
from geval.files.refused import RefusedRow, describe_refused, refused_csv
from geval.files.rows import LoadError

T = TypeVar("T")


class Command(SiteCommand):
    help = "Load outputs, human ratings and judge scores from files; the format is detected."
    REFUSALS = (StatementError, FolderError)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "project", help="short name of the project; it is created if it does not exist"
        )
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help=(
                "CSV, TSV, JSON, JSONL, Excel (.xlsx), OpenDocument (.ods), Parquet or Arrow;"
                " plain, gzip or zip; or a folder with a dataset of Hugging Face"
            ),
        )
        parser.add_argument("--json", action="store_true", help="print counts and errors as JSON")
        parser.add_argument(
            "--judge",
            help=(
                "name for a judge whose scores name none (default: the file's name); preferences"
                " become this judge's verdicts"
            ),
        )
        parser.add_argument(
            "--criterion",
            default="",
            help="for raw replies (all_responses) that do not name their criterion",
        )
        parser.add_argument(
            "--judge-version", default="", help="version of the program that computed the scores"
        )
        parser.add_argument(
            "--judge-source", default="", help="where the scores come from: a paper, a release"
        )
        parser.add_argument(
            "--first-digit",
            action="store_true",
            help="read raw replies by their first digit, as for published figures",
        )
        parser.add_argument(
            "--annotator", default="annotator", help="for ratings that name no annotator"
        )
        parser.add_argument(
            "--rate",
            default="",
            metavar="WHAT",
            help=(
                "what of a conversation is rated, where its record does not say: reply (the"
                " default), session, or a role such as assistant, each of whose turns is rated"
            ),
        )
        parser.add_argument(
            "--columns",
            action="append",
            default=[],
            metavar="THEIRS=OURS",
            help=(
                "the meaning of a column of the files, where it is not recognised; can be repeated;"
                f" OURS is one of {', '.join(TARGETS)}; for ratings also"
                ' ratings["CRITERION","RATER"] and scores["CRITERION","JUDGE"]; empty: left out'
            ),
        )
        parser.add_argument(
            "--sheet",
            default="",
            metavar="NAME",
            help="the sheet to read of a workbook (default: the first that looks like a table)",
        )
        parser.add_argument(
            "--scale",
            action="append",
            default=[],
            metavar="CRITERION=LOWEST-HIGHEST",
            help=(
                "a new criterion's scale; can be repeated (default: guessed from its ratings);"
                ' "JUDGE on CRITERION=LOWEST-HIGHEST" confirms that a judge\'s scores are on one'
            ),
        )
        parser.add_argument(
            "--keep-errors",
            metavar="FILE",
            help=(
                "leave out ratings and rows with errors, and write their rows to this CSV file with"
                " the reasons"
            ),
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace existing texts that nothing depends on",
        )
        parser.add_argument(
            "--dry-run",
            "--check",
            dest="check",
            action="store_true",
            help="print what loading would give, without writing anything",
        )
        parser.add_argument(
            "--owner", help="user who owns a new project (default: every site administrator)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        columns = _parsed("--columns", parsed_columns, options["columns"])
        scales = _parsed("--scale", parsed_scales, options["scale"])
        paths, as_json = _paths(options["files"]), options["json"]
        about = LoadOptions(
            judge=options["judge"] or paths[0].name.removesuffix(".gz").rsplit(".", 1)[0],
            criterion=options["criterion"],
            version=options["judge_version"],
            source=options["judge_source"],
            first_digit=options["first_digit"],
            annotator=options["annotator"],
            replace=options["replace"],
            verdicts_by=options["judge"] or "",
            scales=scales,
            rate=options["rate"].strip().lower(),
        )
        try:
            with transaction.atomic():  # a new project is removed if its files cannot be loaded
                project = project_or_new(options["project"], owner=options["owner"])
                named = [(path, str(path)) for path in paths]
                files = files_of_project(project, named, columns, options["sheet"])
                loaded = load_rest(
                    project,
                    [as_input(file, is_chosen=bool(columns)) for file in files],
                    about=about,
                    dry_run=options["check"],
                    leave_out=bool(options["keep_errors"]),
                )
                if columns and not options["check"]:
                    remember_choices(project, files)
                if options["check"]:
                    transaction.set_rollback(True)
        except UnclearColumnsError as error:
            if as_json:
                self.stdout.write(questions_as_json(error.questions))
            else:
                self.stderr.write("\n".join(questions_in_lines(error.questions)))
            raise SystemExit(1) from None
        except LoadError as error:
            if as_json:
                self.stdout.write(errors_as_json(error))
            else:
                self.stderr.write("\n".join(errors_in_lines(error)))
            raise SystemExit(1) from None
        if options["keep_errors"]:
            self._keep_errors(Path(options["keep_errors"]), loaded.refused)
        if as_json:
            self.stdout.write(result_as_json(loaded.result))
            return
        for file in files:
            if file.preview.remembered:
                self.stdout.write(f"{file.name}: {file.preview.remembered}.")
        for line in result_in_lines(loaded.result):
            self.stdout.write(line)
        if options["check"]:
            self.stdout.write("Dry run: nothing was written.")

    def _keep_errors(self, path: Path, refused: list[RefusedRow]) -> None:
        if refused:
            path.write_text(refused_csv(refused), encoding="utf-8")
            cells = sum(len(row.columns) for row in refused)
            left_out = describe_refused(cells, sum(not row.columns for row in refused))
            self.stderr.write(f"{left_out} left out, kept in {path}.")


def _paths(names: list[str]) -> list[Path]:
    """Return the files, including those in folders."""
    paths = []
    for path in map(Path, names):
        if path.is_dir():
            paths += files_in(path)
        elif path.is_file():
            paths.append(path)
        else:
            raise CommandError(f"{path}: no such file.")
    return paths


def _parsed(option: str, parse: Callable[[list[str]], T], values: list[str]) -> T:
    try:
        return parse(values)
    except StatementError as error:
        raise CommandError(f"{option} {error}") from None
