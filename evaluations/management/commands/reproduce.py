"""`manage.py reproduce [DATASET…]`: published figures next to what public data give."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from evaluations.reproduction import DATASETS, MISSING_ROWS, Cell


class Command(BaseCommand):
    help = (
        "Print rows of the G-Eval paper and of Chiang and Lee (2023) next to what the public data "
        "give."
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

    def handle(self, *_args: Any, **options: Any) -> None:
        unknown = [name for name in options["dataset"] if name not in DATASETS]
        if unknown:
            raise CommandError(
                f"There is no dataset {unknown[0]!r} (datasets: {', '.join(DATASETS)})."
            )
        for name in options["dataset"] or DATASETS:
            try:
                cells = list(DATASETS[name](options["data"]))
            except FileNotFoundError as error:
                raise CommandError(
                    f"{error.filename} does not exist; set --data to the folder with the benchmark "
                    "data."
                ) from None
            self._print(name, cells)

    def _print(self, name: str, cells: list[Cell]) -> None:
        self.stdout.write(f"{name}\n{'row':48}{'figure':20}{'published':>10}{'here':>9}")
        for cell in cells:
            here = "–" if cell.ours is None else f"{cell.ours:.4f}"
            mark = "✓" if cell.agrees else "✗"
            if cell.other:
                mark = f"{cell.ours - cell.published:+.3f}" if cell.ours is not None else ""
            said = f"  {cell.note}" if cell.note and not cell.agrees else ""
            self.stdout.write(
                f"{cell.row:48}{cell.column:20}{cell.published:10.3f}{here:>9} {mark}{said}"
            )
        counted = [cell for cell in cells if not cell.other]
        agreeing = sum(cell.agrees for cell in counted)
        self.stdout.write(f"{agreeing} of {len(counted)} published figures to three digits.")
        self.stdout.write(f"Not reproduced: {MISSING_ROWS[name]}.\n")
