"""`manage.py load_mtme PROJECT FOLDER PAIR`: load a test set in the format of mt-metrics-eval."""

import tempfile
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError

from evaluations.corpus.store import load_files
from evaluations.management.base import SiteCommand
from evaluations.management.projects import project_or_new
from geval.files.mtme import MtmeError, read_evalset
from geval.files.readers import InputFile
from geval.files.rows import LoadError, LoadOptions
from geval.texts.numbers import thin


class Command(SiteCommand):
    help = (
        "Load a test set in the format of mt-metrics-eval: outputs, human scores (each kind becomes"
        " a criterion) and metric scores of segments."
    )
    REFUSALS = (MtmeError,)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="short name; it is created if it does not exist")
        parser.add_argument(
            "folder", type=Path, help="the test set, such as mt-metrics-eval-v2/wmt23"
        )
        parser.add_argument("pair", help="the language pair, such as en-de")
        parser.add_argument("--owner", help="user who owns a new project")

    def handle(self, *_args: Any, **options: Any) -> None:
        evaluation_set = read_evalset(options["folder"], options["pair"])
        project = project_or_new(options["project"], owner=options["owner"])
        with tempfile.TemporaryDirectory(prefix="geval-mtme-") as folder:
            named = {
                "outputs": evaluation_set.output_rows(),
                "ratings": evaluation_set.rating_rows(),
                "scores": evaluation_set.score_rows(),
            }
            counts = {
                name: _write(Path(folder) / f"{name}.jsonl", rows) for name, rows in named.items()
            }
            files = [
                InputFile(Path(folder) / f"{name}.jsonl", f"{name}.jsonl")
                for name, count in counts.items()
                if count
            ]
            try:
                load_files(project, files, about=LoadOptions(scales=evaluation_set.scales()))
            except LoadError as error:
                first = error.errors[0]
                raise CommandError(
                    f"{error} The first, {first.file} line {first.line}: {first.message}"
                ) from None
        self.stdout.write(
            ", ".join(f"{thin(count)} {name}" for name, count in counts.items()) + "."
        )
        if evaluation_set.left_out:
            self.stdout.write(
                "Left out, as scores here are of outputs: "
                + ", ".join(evaluation_set.left_out)
                + "."
            )


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    count = 0
    with path.open("wb") as file:
        for row in rows:
            file.write(orjson.dumps(row) + b"\n")
            count += 1
    return count
