"""`manage.py reproduce [DATASET…]`: published figures next to what public data give."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from geval.evaluators.references import INSTALL
from geval.reproduction import DATASETS, MISSING_ROWS, Cell
from geval.reproduction.sources import SOURCES, ConversionError, convert_source, source_of
from geval.texts.program import command

GAP = "  "


class Command(BaseCommand):
    help = (
        "Print published figures next to what the public data give. They are those of the G-Eval"
        " paper, of Chiang and Lee (2023) and of UniEval's release. Or convert the data from the"
        " repositories that they are released in."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "dataset",
            nargs="*",
            metavar="DATASET",
            help=f"{', '.join(DATASETS)}; default: all",
        )
        parser.add_argument(
            "--data",
            type=Path,
            default=settings.BASE_DIR.parent / "shared" / "benchmarks",
            help="folder of the data",
        )
        parser.add_argument(
            "--sources", action="store_true", help="say where each file of the data comes from"
        )
        parser.add_argument(
            "--convert",
            action="append",
            default=[],
            metavar="SOURCE=FOLDER",
            help="write the files of a source into the folder of the data, from a checkout of its"
            " repository; can be repeated",
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        unknown = [name for name in options["dataset"] if name not in DATASETS]
        if unknown:
            raise CommandError(
                f"There is no dataset {unknown[0]!r} (datasets: {', '.join(DATASETS)})."
            )
        if options["sources"]:
            self._say_sources()
            return
        if options["convert"]:
            self._convert(options["convert"], options["data"])
            return
        for name in options["dataset"] or DATASETS:
            try:
                cells = list(DATASETS[name](options["data"]))
            except FileNotFoundError as error:
                raise CommandError(_missing(Path(error.filename), options["data"])) from None
            except ModuleNotFoundError as error:
                raise CommandError(
                    f"{name} computes ROUGE or BLEU, but {error.name} is not installed: {INSTALL}"
                ) from None
            self._print(name, cells)

    def _say_sources(self) -> None:
        for source in SOURCES.values():
            self.stdout.write(f"{source.name}: {source.holds}")
            self.stdout.write(f"{GAP}{source.repository}")
            self.stdout.write(f"{GAP}{source.paper}")
            for path in source.writes:
                self.stdout.write(f"{GAP}-> {path}")
        self.stdout.write(
            "Clone a repository, then"
            f" `{command('reproduce --convert SOURCE=FOLDER --data DATA')}`."
        )

    def _convert(self, listed: list[str], data: Path) -> None:
        for text in listed:
            name, equals, folder = text.partition("=")
            if not equals:
                raise CommandError(f"--convert needs SOURCE=FOLDER; {text!r} has no “=”.")
            try:
                written = convert_source(name, Path(folder).expanduser(), data)
            except ConversionError as error:
                raise CommandError(str(error)) from None
            for path in written:
                self.stdout.write(f"{path} written")

    def _print(self, name: str, cells: list[Cell]) -> None:
        row_width = max(len(cell.row) for cell in cells)
        column_width = max(len(cell.column) for cell in cells)
        self.stdout.write(
            f"{name}\n{'row':{row_width}}{GAP}{'figure':{column_width}}{GAP}"
            f"{'published':>9}{GAP}{'here':>8}"
        )
        for cell in cells:
            # A digit more than published, so that a reader sees how close the rounding was.
            here = "–" if cell.ours is None else f"{cell.ours:.{cell.digits + 1}f}"
            mark = "✓" if cell.agrees else "✗"
            if cell.other:
                mark = f"{cell.ours - cell.published:+.3f}" if cell.ours is not None else ""
            note = f"{GAP}{cell.note}" if cell.note and not cell.agrees else ""
            self.stdout.write(
                f"{cell.row:{row_width}}{GAP}{cell.column:{column_width}}{GAP}"
                f"{cell.published:9.{cell.digits}f}{GAP}{here:>8} {mark}{note}"
            )
        counted = [cell for cell in cells if not cell.other]
        agreeing = sum(cell.agrees for cell in counted)
        digits = {3: "three", 6: "six"}[counted[0].digits]
        self.stdout.write(f"{agreeing} of {len(counted)} published figures to {digits} digits.")
        if any(cell.ours is None for cell in counted):
            self.stdout.write(f"`{command('reproduce --sources')}` says where files come from.")
        self.stdout.write(f"Not reproduced: {MISSING_ROWS[name]}.\n")


def _missing(path: Path, data: Path) -> str:
    """Say how to get a missing file of the data."""
    relative = path.relative_to(data) if path.is_relative_to(data) else path
    source = source_of(relative.as_posix())
    if source is None:
        return f"{path} does not exist; set --data to the folder with the benchmark data."
    return (
        f"{path} does not exist; set --data to the folder with the benchmark data, or make it:"
        f" clone {source.repository}, then"
        f" `{command(f'reproduce --convert {source.name}=FOLDER --data {data}')}`."
    )
