"""The closing table: what was tried, what survived, what was lost; printed by `make test-hostile`.

Workers of pytest-xdist write a line each time something was tried, to a folder that all of them
know.
"""

import os
from collections import Counter
from pathlib import Path


def record(what: str, ends: Counter[str]) -> None:
    """Note how tries of one kind ended, by a word for each end; "lost" is the one that must not
    be."""
    folder = os.environ.get("GEVAL_HOSTILE_TABLE")
    if folder:
        lines = "".join(f"{what}\t{end}\t{count}\n" for end, count in ends.items())
        with (Path(folder) / f"{os.getpid()}.tsv").open("a") as file:
            file.write(lines)


def closing_table(folder: Path) -> str:
    """All notes as a table, a row for each kind of try."""
    found: dict[str, Counter[str]] = {}
    for file in sorted(folder.glob("*.tsv")):
        for line in file.read_text().splitlines():
            what, end, count = line.split("\t")
            found.setdefault(what, Counter())[end] += int(count)
    rows = [f"{'tried':34} {'times':>6} {'survived':>9} {'lost':>5}   how it ended"]
    for what, ends in found.items():
        survived = ends.total() - ends["lost"]
        how = ", ".join(f"{end} {count}" for end, count in sorted(ends.items()))
        rows.append(f"{what:34} {ends.total():6} {survived:9} {ends['lost']:5}   {how}")
    return "\n".join(rows)
