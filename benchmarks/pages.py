"""`make bench-pages`: pages of a project with 160,000 outputs, ten requests at once: list, search,
document, report.

The site's gunicorn with two workers on this machine, PostgreSQL beside it, and ten clients that ask
a page after another. Reports are asked for as people do: the page, kept fresh in the server's
memory after the first time. An empty page, with nothing but a form, tells how fast the machine is
at the moment.
"""

import http.client
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from benchmarks.judge import _multiplied
from benchmarks.site import BENCHMARK_DATA, temporary_site, web_site

CLIENTS, EACH, COPIES = 10, 40, 100
WORDS = (
    "goal",
    "police",
    "season manchester",
    "daughter",
    "president",
    "injury",
    "court",
    "london",
)


def main() -> None:
    with temporary_site():
        _measure()


def _measure() -> None:
    from django.contrib.auth.models import User
    from django.test import Client

    from evaluations.corpus.store import load_files
    from evaluations.models import Project, Role
    from geval.files.readers import InputFile

    small = Project.objects.create(slug="summeval", name="SummEval")
    names = ("outputs.jsonl.gz", "human_ratings.csv.gz", "llm_scores.csv.gz")
    load_files(small, [InputFile(BENCHMARK_DATA / "summeval" / name, name) for name in names])
    big = _multiplied(small, COPIES, references=True)
    _rate(small, big)
    user = User.objects.create_user("ada", password="ada-of-the-bench")
    for project in (small, big):
        project.memberships.create(user=user, role=Role.OWNER)
    browser = Client()
    browser.force_login(user)
    cookie = f"sessionid={browser.cookies['sessionid'].value}"
    documents = list(big.documents.values_list("pk", flat=True))
    with web_site() as port:
        pages: dict[str, Callable[[random.Random], str]] = {
            "(empty)": lambda _dice: "/password/forgotten/",
            "list": lambda dice: f"/p/many/data/?page={dice.randint(1, 200)}",
            "search": lambda dice: f"/p/many/data/?q={dice.choice(WORDS).replace(' ', '+')}",
            "sorted": lambda dice: f"/p/many/data/?sort=disagreement&page={dice.randint(1, 200)}",
            "document": lambda dice: f"/p/many/data/{dice.choice(documents)}/",
            "report": lambda _dice: "/p/many/report/",
        }
        print(
            f"{big.documents.count():,} documents, {CLIENTS} requests at once, {CLIENTS * EACH} of"
            " each page"
        )
        for path in (pages["sorted"](random.Random(1)), pages["report"](random.Random(1))):
            _compute(port, cookie, path)
        for name, address in pages.items():
            _all(port, cookie, address)  # every process reads the project once
            took = np.sort(_all(port, cookie, address))
            p50, p95 = took[len(took) // 2], took[int(0.95 * len(took))]
            print(
                f"{name:10} p50 {1000 * p50:7.0f} ms   p95 {1000 * p95:7.0f} ms   (p95 under 200)"
            )


def _rate(small: object, big: object) -> None:
    """Give the copies the ratings and scores of their originals."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """CREATE TEMPORARY TABLE twin AS
               SELECT o.id AS old, n.id AS new FROM evaluations_candidateoutput o
               JOIN evaluations_document od ON od.id = o.document_id AND od.project_id = %s
               JOIN evaluations_system os ON os.id = o.system_id
               JOIN evaluations_document nd ON nd.project_id = %s
                AND od.doc_id = regexp_replace(nd.doc_id, '^[0-9]+-', '')
               JOIN evaluations_candidateoutput n ON n.document_id = nd.id
               JOIN evaluations_system ns ON ns.id = n.system_id AND ns.name = os.name""",
            [small.pk, big.pk],
        )
        big.criteria.all().delete()
        criteria, annotators = {}, {}
        for criterion in small.criteria.all():
            old, criterion.pk, criterion.project = criterion.pk, None, big
            criterion.save()
            criteria[old] = criterion.pk
        for annotator in small.annotators.all():
            annotators[annotator.pk] = big.annotators.create(
                name=annotator.name, kind=annotator.kind
            ).pk
        for old, new in criteria.items():
            for old_annotator, new_annotator in annotators.items():
                cursor.execute(
                    """INSERT INTO annotations_rating (output_id, criterion_id, annotator_id, score)
                       SELECT t.new, %s, %s, r.score FROM annotations_rating r JOIN twin t
                           ON t.old = r.output_id
                       WHERE r.criterion_id = %s AND r.annotator_id = %s""",
                    [new, new_annotator, old, old_annotator],
                )
        from evaluations.models import EvaluationRun, Judge

        for run in EvaluationRun.objects.filter(project=small).select_related("judge")[:3]:
            judge = Judge.objects.create(project=big, name=run.judge.name, kind="imported")
            copy = EvaluationRun.objects.create(project=big, judge=judge, state="done")
            for old, new in criteria.items():
                cursor.execute(
                    """INSERT INTO evaluations_score (run_id, output_id, criterion_id, value)
                       SELECT %s, t.new, %s, s.value FROM evaluations_score s JOIN twin t
                           ON t.old = s.output_id
                       WHERE s.run_id = %s AND s.criterion_id = %s""",
                    [copy.pk, new, run.pk, old],
                )
        # What PostgreSQL does by itself within minutes, and would do here while pages are measured.
        cursor.execute("VACUUM ANALYZE")


def _compute(port: int, cookie: str, path: str) -> None:
    """Have a page's numbers computed, as a worker does after somebody has opened it."""
    from evaluations.models import KeptReport
    from evaluations.reports.serving.worker import work_on_report

    _ask(port, cookie, path, may_wait=True)
    for pk in KeptReport.objects.free().values_list("pk", flat=True):
        work_on_report(pk)


def _all(port: int, cookie: str, address: Callable[[random.Random], str]) -> np.ndarray:
    def client(number: int) -> list[float]:
        dice = random.Random(number)
        return [_ask(port, cookie, address(dice)) for _ in range(EACH)]

    with ThreadPoolExecutor(CLIENTS) as pool:
        return np.array([seconds for took in pool.map(client, range(CLIENTS)) for seconds in took])


def _ask(port: int, cookie: str, path: str, *, may_wait: bool = False) -> float:
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", path, headers={"Cookie": cookie})
    response = connection.getresponse()
    response.read()
    connection.close()
    assert response.status == 200 or (may_wait and response.status == 202), (path, response.status)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
