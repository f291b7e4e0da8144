"""`make bench-report LARGE=1`: reports of corpora that are huge and sparse, in seconds and memory.

Each report is made by `manage.py report` in a process of its own, whose peak memory is counted; the
embedded PostgreSQL's is not.
"""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

from benchmarks.site import CHECKOUT, temporary_site

MEGABYTE = 2**20


@dataclass(frozen=True)
class Corpus:
    """Made-up data: every document has `outputs` outputs, by systems in turn; each rated output has
    ratings of `ratings` annotators in turn."""

    name: str
    documents: int
    systems: int
    outputs: int
    annotators: int
    ratings: int
    judges: int
    most_seconds: float
    most_megabytes: float


CORPORA = (
    Corpus("480,000 ratings by 2,000 annotators", 10_000, 16, 16, 2_000, 3, 4, 10, 1_000),
    Corpus("2,000,000 outputs of 200 systems", 1_000_000, 200, 2, 2_000, 1, 4, 60, 2_000),
)


def fill(corpus: Corpus) -> Any:
    """The corpus in the database, as rows and without the work of a load."""
    from annotations.models import Annotator
    from evaluations.models import Criterion, EvaluationRun, Judge, Project, System

    # Nothing here needs its references checked, which would take most of the time.
    rows("SET session_replication_role = replica", [])
    project = Project.objects.create(name=corpus.name, slug=f"large-{corpus.documents}")
    criterion = Criterion.objects.create(project=project, name="quality")
    systems = System.objects.bulk_create(
        System(project=project, name=f"s{n}") for n in range(corpus.systems)
    )
    annotators = Annotator.objects.bulk_create(
        Annotator(project=project, name=f"a{n}") for n in range(corpus.annotators)
    )
    judges = Judge.objects.bulk_create(
        Judge(project=project, name=f"j{n}", kind="imported") for n in range(corpus.judges)
    )
    runs = [EvaluationRun.objects.create(project=project, judge=judge) for judge in judges]
    rows(
        """INSERT INTO evaluations_document (project_id, doc_id, source, context, "references")
           SELECT %s, 'd' || n, 'A text.', '', '[]' FROM generate_series(1, %s) AS n""",
        [project.pk, corpus.documents],
    )
    # Systems take turns, so that every document has others; quality is the system's and its own.
    rows(
        """CREATE TEMPORARY TABLE made AS
           SELECT nextval('evaluations_candidateoutput_id_seq') AS id, d.id AS document,
               (d.id * %(each)s + n) %% %(systems)s AS system, random() + random() AS quality
           FROM evaluations_document d, generate_series(0, %(each)s - 1) AS n
           WHERE d.project_id = %(project)s""",
        {"each": corpus.outputs, "systems": corpus.systems, "project": project.pk},
    )
    rows(
        """INSERT INTO evaluations_candidateoutput (id, document_id, system_id, text)
           SELECT id, document, (%s::bigint[])[system + 1], 'A summary of some words.' FROM made""",
        [[system.pk for system in systems]],
    )
    rows(
        """INSERT INTO annotations_rating (output_id, criterion_id, annotator_id, score)
           SELECT m.id, %(criterion)s, (%(annotators)s::bigint[])[
               (m.document / 40 * %(ratings)s + n) %% %(count)s + 1],
               greatest(1, least(5, round(1 + 2 * m.quality + 1.5 * (random() - 0.5))))
           FROM made m, generate_series(0, %(ratings)s - 1) AS n""",
        {
            "criterion": criterion.pk, "annotators": [one.pk for one in annotators],
            "ratings": corpus.ratings, "count": corpus.annotators,
        },
    )  # fmt: skip
    for number, run in enumerate(runs):
        rows(
            """INSERT INTO evaluations_score (run_id, output_id, criterion_id, value)
               SELECT %s, id, %s, 1 + 2 * quality + %s * (random() - 0.5) FROM made""",
            [run.pk, criterion.pk, 1 + number],
        )
    rows("DROP TABLE made", [])
    for table in ("document", "candidateoutput", "score"):
        rows(f"VACUUM ANALYZE evaluations_{table}", [])
    rows("VACUUM ANALYZE annotations_rating", [])
    return project


def rows(statement: str, values: Any) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, values)


class Cost(NamedTuple):
    """What a process used: seconds, seconds of CPU time, and megabytes at its peak."""

    seconds: float
    cpu: float
    megabytes: float


def report_of(project: Any) -> Cost:
    """The cost of a process that reports on a project."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", "report", project.slug, "--format", "json"],
        cwd=CHECKOUT,
        stdout=subprocess.DEVNULL,
    )
    _, state, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(state)
    if process.returncode:
        sys.exit(f"The report of {project} failed.")
    seconds = time.perf_counter() - began
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / MEGABYTE)


def main() -> None:
    missed = 0
    with temporary_site():
        for corpus in CORPORA:
            seconds, cpu, megabytes = report_of(fill(corpus))
            missed += megabytes > corpus.most_megabytes
            print(
                f"{corpus.name}, {corpus.judges} judges: {seconds:.1f} s (goal"
                f" {corpus.most_seconds:g} s, ratio {seconds / corpus.most_seconds:.2f}; CPU time"
                f" {cpu:.1f} s), {megabytes:,.0f} MB (goal {corpus.most_megabytes:,.0f} MB, ratio"
                f" {megabytes / corpus.most_megabytes:.2f})",
                flush=True,
            )
    if missed:
        sys.exit("A report needs more memory than the goal allows.")


if __name__ == "__main__":
    main()
