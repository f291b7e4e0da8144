"""`make bench-load`: SummEval, and 160,000 outputs with 1,920,000 ratings against plain COPY of the
same rows.

Plain COPY goes into empty tables with the same columns, indexes and foreign keys, from rows that
are ready as PostgreSQL wants them: nothing is parsed, checked or looked up. Memory is the peak of
the process that loads.
"""

import csv
import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.site import BENCHMARK_DATA, CHECKOUT, temporary_site

COPIES = 100
LARGE = "(SELECT id FROM evaluations_project WHERE slug = 'large')"
OF_PROJECT = {
    "evaluations_document": f"t.project_id = {LARGE}",
    "evaluations_candidateoutput": (
        f"t.system_id IN (SELECT id FROM evaluations_system WHERE project_id = {LARGE})"
    ),
    "annotations_rating": (
        f"t.criterion_id IN (SELECT id FROM evaluations_criterion WHERE project_id = {LARGE})"
    ),
}
CHUNK = 2**20


def main() -> None:
    with temporary_site() as folder:
        _measure(folder)


def _measure(folder: Path) -> None:
    summeval = BENCHMARK_DATA / "summeval"
    names = (
        "outputs.jsonl.gz",
        "human_ratings.csv.gz",
        "llm_scores.csv.gz",
        "metric_scores.csv.gz",
    )
    whole = _load("summeval", [str(summeval / name) for name in names])
    print(f"SummEval complete {whole['seconds']:28.2f} s    (under 3)")
    loaded = _load(
        "large", [str(path) for path in (_outputs(summeval, folder), _ratings(summeval, folder))]
    )
    rows = loaded["documents"] + loaded["outputs"] + loaded["ratings"]
    name = f"{loaded['outputs']:,} outputs, {loaded['ratings']:,} ratings"
    print(f"{name:36}{loaded['seconds']:9.2f} s {rows / loaded['seconds']:12,.0f} rows/s")
    print(f"memory of the process {loaded['megabytes']:23.0f} MB   (under 500)")
    plain = _plain_copy(folder)
    print(f"{'plain COPY of the same rows':36}{plain:9.2f} s {rows / plain:12,.0f} rows/s")
    print(f"rate against plain COPY {plain / loaded['seconds']:21.2f}      (at least 0.50)")


def _load(project: str, files: list[str]) -> dict[str, float]:
    """Load files in a process of its own; its figures."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", "--load", project, *files],
        cwd=CHECKOUT, env=os.environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(json.loads(done.stdout))


def _load_here(slug: str, paths: list[str]) -> None:
    import django

    django.setup()
    from evaluations.corpus.store import load_files
    from evaluations.models import Project
    from geval.files.readers import InputFile

    project = Project.objects.create(slug=slug, name=slug)
    began = time.monotonic()
    result = load_files(project, [InputFile(Path(path), Path(path).name) for path in paths])
    seconds = time.monotonic() - began
    status = Path("/proc/self/status").read_text()
    peak = (
        int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
        / 1024
    )
    counts = {name: tally["created"] for name, tally in result.as_json().items()}
    print(json.dumps(counts | {"seconds": seconds, "megabytes": peak}))


def _outputs(summeval: Path, folder: Path) -> Path:
    with gzip.open(summeval / "outputs.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    path = folder / "outputs.jsonl"
    with path.open("w") as file:
        for copy in range(COPIES):
            for row in rows:
                file.write(json.dumps(row | {"doc_id": f"{copy}-{row['doc_id']}"}) + "\n")
    return path


def _ratings(summeval: Path, folder: Path) -> Path:
    with gzip.open(summeval / "human_ratings.csv.gz", "rt", newline="") as file:
        header, *rows = list(csv.reader(file))
    path = folder / "ratings.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        at = header.index("doc_id")
        for copy in range(COPIES):
            for row in rows:
                writer.writerow([*row[:at], f"{copy}-{row[at]}", *row[at + 1 :]])
    return path


def _plain_copy(folder: Path) -> float:
    """Seconds to COPY the loaded project's rows into empty twins of their tables."""
    from django.db import connection

    seconds = 0.0
    for table, condition in OF_PROJECT.items():
        path = folder / f"{table}.copy"
        select = f"SELECT t.* FROM {table} t WHERE {condition} ORDER BY t.id"
        with connection.cursor() as cursor:
            with cursor.copy(f"COPY ({select}) TO STDOUT") as copy, path.open("wb") as file:
                for data in copy:
                    file.write(data)
            cursor.execute(f"CREATE TABLE plain_{table} (LIKE {table} INCLUDING ALL)")
            cursor.execute(
                """SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
                   WHERE conrelid = %s::regclass AND contype = 'f'""",
                [table],
            )
            for name, definition in cursor.fetchall():
                cursor.execute(f'ALTER TABLE plain_{table} ADD CONSTRAINT "{name}" {definition}')
            began = time.monotonic()
            with cursor.copy(f"COPY plain_{table} FROM STDIN") as copy, path.open("rb") as file:
                while data := file.read(CHUNK):
                    copy.write(data)
            cursor.execute(f"ANALYZE plain_{table}")
            seconds += time.monotonic() - began
    return seconds


if __name__ == "__main__":
    if "--load" in sys.argv:
        _load_here(sys.argv[2], sys.argv[3:])
    else:
        main()
