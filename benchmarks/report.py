"""`make bench-report`: the whole report on SummEval with six judges, an update after 16 new scores,
and the same on 100 times as many documents."""

import argparse
import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.large_report import report_of
from benchmarks.site import BENCHMARK_DATA, temporary_site

SIZES = (1, 10, 100)
LARGE_SECONDS, COLD_SECONDS = 15, 0.5


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The median time of some work."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def load() -> Any:
    from django.db import connection

    from evaluations.corpus.store import load_files
    from evaluations.models import Project
    from geval.files.readers import InputFile

    project = Project.objects.create(name="SummEval", slug="summeval")
    folder = BENCHMARK_DATA / "summeval"
    names = ("outputs.jsonl.gz", "human_ratings.csv.gz", "llm_scores.csv.gz")
    load_files(project, [InputFile(folder / name, name) for name in names])
    with connection.cursor() as cursor:
        _settle(cursor)
    return project


def _settle(cursor: Any) -> None:
    """What PostgreSQL does by itself within a minute, and would do here while a report is timed."""
    for table in ("evaluations_candidateoutput", "annotations_rating", "evaluations_score"):
        cursor.execute(f"VACUUM ANALYZE {table}")


def multiply(project: Any, first: int, last: int) -> None:
    """Copies of every document from the first number to the last, with outputs, ratings and scores
    drawn from the document's own, so that no two judges agree by copying."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS copied, copies")
        cursor.execute(
            """CREATE TEMPORARY TABLE copied AS
               SELECT d.id AS old, nextval('evaluations_document_id_seq') AS new, n
                   FROM evaluations_document d,
                      generate_series(%s::int, %s::int) AS n
                   WHERE d.project_id = %s AND d.doc_id NOT LIKE '%%-copy-%%'""",
            [first, last, project.pk],
        )
        cursor.execute(
            """INSERT INTO evaluations_document (id, project_id, doc_id, source, context,
                "references")
               SELECT c.new, d.project_id, d.doc_id || '-copy-' || c.n, 'A text.', '', '[]'
               FROM copied c JOIN evaluations_document d ON d.id = c.old"""
        )
        cursor.execute("""CREATE TEMPORARY TABLE copies AS
               SELECT o.id AS old, nextval('evaluations_candidateoutput_id_seq') AS new,
                   c.new AS document, o.system_id
               FROM copied c JOIN evaluations_candidateoutput o ON o.document_id = c.old""")
        cursor.execute("""INSERT INTO evaluations_candidateoutput (id, document_id, system_id, text)
               SELECT new, document, system_id, 'A summary of some words.' FROM copies""")
        cursor.execute(
            """INSERT INTO annotations_rating (output_id, criterion_id, annotator_id, score)
               SELECT c.new, r.criterion_id, r.annotator_id, greatest(1, least(5,
                   r.score + (random() < 0.1)::int))
               FROM copies c JOIN annotations_rating r ON r.output_id = c.old"""
        )
        cursor.execute("""INSERT INTO evaluations_score (output_id, criterion_id, run_id, value)
               SELECT c.new, s.criterion_id, s.run_id, greatest(1, least(5, s.value + (random()
                   < 0.1)::int))
               FROM copies c JOIN evaluations_score s ON s.output_id = c.old""")
        _settle(cursor)


def forget() -> None:
    from evaluations.reports.serving import live
    from geval.statistics import cache

    cache.forget()
    live.forget()


def update(project: Any, client: Any) -> float:
    """Seconds until the page has taken 16 new scores in."""
    from evaluations.models import CandidateOutput, Score
    from evaluations.models.changes import note_change

    criterion, judge = project.criteria.first(), project.judges.first()
    address = f"/p/{project.slug}/report/live/"
    mark = client.get(address).headers["X-Mark"]
    document = project.documents.order_by("pk").first()
    outputs = CandidateOutput.objects.filter(document=document).values_list("pk", flat=True)
    found = []
    for value in (2.0, 3.0, 4.0, 2.5, 3.5):
        Score.objects.filter(
            output__in=list(outputs), criterion=criterion, run__judge=judge
        ).update(value=value)
        first = Score.objects.filter(output=outputs[0], criterion=criterion, run__judge=judge)
        first.update(value=1.0)
        note_change(project.pk, [criterion.pk], judge=judge.pk)
        began = time.perf_counter()
        answer = client.get(address, {"mark": mark})
        found.append(time.perf_counter() - began)
        assert answer.status_code == 200
        mark = answer.headers["X-Mark"]
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--quick", action="store_true", help="without 100 times the data")
    parser.add_argument("--large", action="store_true", help="also huge and sparse corpora")
    options = parser.parse_args()
    if not BENCHMARK_DATA.exists():
        sys.exit("The benchmark data is not on this machine.")
    with temporary_site():
        from django.contrib.auth import get_user_model
        from django.test import Client

        from evaluations.models import Membership
        from evaluations.reports.report import build_report

        project = load()
        user = get_user_model().objects.create_user("ada")
        Membership.objects.create(project=project, user=user, role="owner")
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        address = f"/p/{project.slug}/report/"
        client.get(address)

        def whole() -> None:
            forget()
            assert client.get(address).status_code == 200

        if options.profile:
            import cProfile
            import pstats

            profile = cProfile.Profile()
            profile.runcall(whole)
            pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
        page = seconds(whole, 5)
        print(f"the whole report, database to HTML: {page:.2f} s (wanted: at most 1.0)")
        print(
            "the same again, nothing changed:"
            f" {1000 * seconds(lambda: client.get(address), 5):.0f} ms"
        )
        print(
            f"an update after 16 new scores: {1000 * update(project, client):.0f} ms (wanted: at"
            " most 50)"
        )

        def numbers() -> None:
            forget()
            build_report(project)

        cold = seconds(numbers, 5)
        print(
            f"SummEval's numbers, cold: {cold:.2f} s (goal {COLD_SECONDS} s, ratio"
            f" {cold / COLD_SECONDS:.2f})"
        )

        if options.quick:
            return

        measured = {1: (cold, report_of(project).megabytes)}
        for fewer, times in itertools.pairwise(SIZES):
            multiply(project, fewer + 1, times)
            measured[times] = (seconds(numbers, 1), report_of(project).megabytes)
        for times, (found, megabytes) in measured.items():
            print(f"{times} times SummEval: {found:.2f} s with the database, {megabytes:,.0f} MB")
        largest = measured[SIZES[-1]][0]
        print(f"goal for {SIZES[-1]} times: {LARGE_SECONDS} s, ratio {largest / LARGE_SECONDS:.2f}")
        exponents = [
            np.polyfit(np.log(SIZES), np.log([found[of] for found in measured.values()]), 1)[0]
            for of in (0, 1)
        ]
        print(f"grows with size to the power of {exponents[0]:.2f} (time), {exponents[1]:.2f}"
              " (memory)")  # fmt: skip

    for name in ("large_report", "large_pages") if options.large else ():
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
