"""`manage.py load PROJECT FILE…`: put outputs, ratings and scores into a project."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError
from django.db import transaction

from evaluations.corpus.readers import InputFile
from evaluations.corpus.rows import LoadError
from evaluations.corpus.store import About, LoadResult, load_files
from evaluations.management.base import SiteCommand
from evaluations.management.projects import project_or_new


class Command(SiteCommand):
    help = "Load outputs, human ratings and judge scores from files; the format is found by looking."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name of the project; it is made if there is none")
        parser.add_argument("files", nargs="+", metavar="FILE", help="JSONL, CSV or JSON, plain or gzip")
        parser.add_argument("--json", action="store_true", help="print counts and faults as JSON")
        parser.add_argument("--judge", help="name for a judge whose scores come without one (default: the file's name)")
        parser.add_argument("--criterion", default="", help="for raw replies (all_responses) that do not name theirs")
        parser.add_argument("--judge-version", default="", help="of the program that computed the scores")
        parser.add_argument("--judge-source", default="", help="where the scores come from: a paper, a release")
        parser.add_argument(
            "--first-digit", action="store_true", help="read raw replies by their first digit, as releases do"
        )
        parser.add_argument("--owner", help="user who owns a new project (default: every site administrator)")

    def handle(self, *_args: Any, **options: Any) -> None:
        files = [InputFile(Path(path), path) for path in options["files"]]
        for file in files:
            if not file.path.is_file():
                raise CommandError(f"{file.name}: there is no such file.")
        about = About(
            judge=options["judge"] or _stem(files[0].path),
            criterion=options["criterion"],
            version=options["judge_version"],
            source=options["judge_source"],
            first_digit=options["first_digit"],
        )
        try:
            with transaction.atomic():  # a new project goes again if its files do not come in
                project = project_or_new(options["project"], owner=options["owner"])
                result = load_files(project, files, about=about)
        except LoadError as error:
            self._say_faults(error, as_json=options["json"])
            raise SystemExit(1) from None
        self._say(result, as_json=options["json"])

    def _say(self, result: LoadResult, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(
                orjson.dumps({"ok": True, **result.as_json(), "unreadable": result.unreadable, "faults": []}).decode()
            )
            return
        for kind, tally in result.as_json().items():
            if tally["created"] or tally["unchanged"]:
                self.stdout.write(f"{kind:>10}: {tally['created']:,} new, {tally['unchanged']:,} there already")
        if result.unreadable:
            self.stdout.write(f"{result.unreadable:,} raw replies hold no rating; scores stand on the others.")
        if not result.changed:
            self.stdout.write("Nothing has changed: everything in these files was loaded before.")

    def _say_faults(self, error: LoadError, *, as_json: bool) -> None:
        if as_json:
            faults = [{"file": f.file, "line": f.line, "column": f.column, "message": f.message} for f in error.faults]
            self.stdout.write(orjson.dumps({"ok": False, "total_faults": error.total, "faults": faults}).decode())
            return
        for fault in error.faults:
            self.stderr.write(str(fault))
        if error.total > len(error.faults):
            self.stderr.write(f"… and {error.total - len(error.faults):,} more")
        self.stderr.write(str(error))


def _stem(path: Path) -> str:
    return path.name.removesuffix(".gz").rsplit(".", 1)[0]
