"""`manage.py load PROJECT FILE…`: load outputs, ratings and scores into a project."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError
from django.db import transaction

from evaluations.corpus.mapping import TARGETS, problems_of
from evaluations.corpus.readers import InputFile
from evaluations.corpus.rows import LoadError
from evaluations.corpus.store import LoadOptions, LoadResult, load_files
from evaluations.management.base import SiteCommand
from evaluations.management.projects import project_or_new


class Command(SiteCommand):
    help = "Load outputs, human ratings and judge scores from files; the format is detected."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "project", help="short name of the project; it is created if it does not exist"
        )
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="CSV, TSV, JSON, JSONL or Parquet; plain, gzip or zip",
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
            "--columns",
            action="append",
            default=[],
            metavar="THEIRS=OURS",
            help=(
                "the meaning of a column of the files; can be repeated; OURS is one of"
                f" {', '.join(TARGETS)}"
            ),
        )
        parser.add_argument(
            "--replace",
            action="store_true",
            help="replace existing texts that nothing depends on",
        )
        parser.add_argument(
            "--check", action="store_true", help="dry run: print what loading would do"
        )
        parser.add_argument(
            "--owner", help="user who owns a new project (default: every site administrator)"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        columns = _columns(options["columns"])
        files = [InputFile(Path(path), path, columns) for path in options["files"]]
        for file in files:
            if not file.path.is_file():
                raise CommandError(f"{file.name}: no such file.")
        about = LoadOptions(
            judge=options["judge"] or _stem(files[0].path),
            criterion=options["criterion"],
            version=options["judge_version"],
            source=options["judge_source"],
            first_digit=options["first_digit"],
            annotator=options["annotator"],
            replace=options["replace"],
            verdicts_by=options["judge"] or "",
        )
        try:
            with transaction.atomic():  # a new project is removed if its files cannot be loaded
                project = project_or_new(options["project"], owner=options["owner"])
                result = load_files(project, files, about=about, rehearse=options["check"])
                if options["check"]:
                    transaction.set_rollback(True)
        except LoadError as error:
            self._say_errors(error, as_json=options["json"])
            raise SystemExit(1) from None
        self._say(result, as_json=options["json"])
        if options["check"] and not options["json"]:
            self.stdout.write("Dry run: nothing was written.")

    def _say(self, result: LoadResult, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(
                orjson.dumps(
                    {
                        "ok": True,
                        **result.as_json(),
                        "unreadable": result.unreadable,
                        "unused": result.unused,
                        "errors": [],
                    }
                ).decode()
            )
            return
        for kind, tally in result.as_json().items():
            if any(tally.values()):
                changed = f"{tally['changed']:,} changed, " if tally["changed"] else ""
                said = f"{tally['created']:,} new, {changed}{tally['unchanged']:,} unchanged"
                self.stdout.write(f"{kind:>10}: {said}")
        if result.unreadable:
            self.stdout.write(
                f"{result.unreadable:,} raw replies contain no rating; scores are computed from "
                "the others."
            )
        for column in result.unused:
            self.stdout.write(f"  not used: {column}")
        if not result.changed:
            self.stdout.write("Nothing has changed: everything in these files already exists.")

    def _say_errors(self, error: LoadError, *, as_json: bool) -> None:
        if as_json:
            errors = [
                {"file": f.file, "line": f.line, "column": f.column, "message": f.message}
                for f in error.errors
            ]
            self.stdout.write(
                orjson.dumps({"ok": False, "total_errors": error.total, "errors": errors}).decode()
            )
            return
        for found in error.errors:
            self.stderr.write(str(found))
        if error.total > len(error.errors):
            self.stderr.write(f"… and {error.total - len(error.errors):,} more")
        self.stderr.write(str(error))


def _columns(given: list[str]) -> dict[str, str]:
    """Parse `--columns`; errors are sentences."""
    columns = {}
    for one in given:
        theirs, _, ours = one.rpartition("=")
        if not theirs or ours not in TARGETS:
            raise CommandError(
                f"--columns {one}: write THEIRS=OURS, with OURS one of {', '.join(TARGETS)}."
            )
        columns[theirs] = ours
    if columns and (problems := problems_of(columns)):
        raise CommandError(" ".join(problems))
    return columns


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]
