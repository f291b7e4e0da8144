"""`make bench-annotate`: twenty annotators at once against two gunicorn workers, on SummEval and on
1,000 times as many outputs.

A cycle is what an annotator's browser asks for: the next item, and the submitted answer. Each size
is measured for 30 seconds, and afterwards the database is asked whether anything is missing,
doubled, or rated too often. Then 300 participants come at once by an open link
(`benchmarks/open_campaign.py`), with cheats among them; the command fails if there is an error, if
quotas or overlap are not exact, if a cheat is paid or not named, or if somebody honest is named.
"""

import argparse
import http.client
import multiprocessing
import os
import re
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.open_campaign import measure_open_campaign
from benchmarks.site import BENCHMARK_DATA, temporary_site, web_site

ANNOTATORS = 20
OVERLAP = 5
TASK = re.compile(rb'data-assignment="(\d+)"')
SCORES = re.compile(rb'name="(score-\d+)"\s+value="3"')


@dataclass
class Measured:
    """What one annotator saw: seconds of each request, submitted assignments, errors."""

    next_seconds: list[float]
    submit_seconds: list[float]
    submitted: list[int]
    errors: list[str]


def annotate(port: int, campaign: int, session: str, seconds: float, start_at: float) -> Measured:
    """Be one annotator: next, submit, next, submit."""
    token = "t" * 32
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Cookie": f"sessionid={session}; csrftoken={token}", "X-CSRFToken": token}
    form = headers | {
        "Content-Type": "application/x-www-form-urlencoded",
        "Accept": "application/json",
    }
    base = f"/p/bench/annotate/{campaign}/task/"
    seen = Measured([], [], [], [])
    time.sleep(max(0.0, start_at - time.time()))
    end = time.time() + seconds
    while time.time() < end:
        began = time.perf_counter()
        connection.request("GET", base + "next/", headers=headers)
        answer = connection.getresponse()
        page = answer.read()
        seen.next_seconds.append(time.perf_counter() - began)
        found = TASK.search(page)
        if answer.status != 200 or not found:
            seen.errors.append(f"next: {answer.status}")
            continue
        fields = (
            "&".join(f"{name.decode()}=3" for name in SCORES.findall(page)) + "&version=0&seconds=1"
        )
        began = time.perf_counter()
        connection.request("POST", f"{base}{found[1].decode()}/submit/", body=fields, headers=form)
        answer = connection.getresponse()
        body = answer.read()
        seen.submit_seconds.append(time.perf_counter() - began)
        if answer.status == 200:
            seen.submitted.append(int(found[1]))
        else:
            seen.errors.append(f"submit: {answer.status} {body[:200]!r}")
    connection.close()
    return seen


def all_annotate(port: int, campaign: int, sessions: list[str], seconds: float) -> list[Measured]:
    """All annotators at once, in two processes of ten threads, so that measuring costs little."""
    start_at = time.time() + 3.0
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        halves = [sessions[0::2], sessions[1::2]]
        found = pool.starmap(
            _some_annotate, [(port, campaign, half, seconds, start_at) for half in halves]
        )
    return [seen for half in found for seen in half]


def _some_annotate(
    port: int, campaign: int, sessions: list[str], seconds: float, start_at: float
) -> list[Measured]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(sessions)) as threads:
        futures = [
            threads.submit(annotate, port, campaign, session, seconds, start_at)
            for session in sessions
        ]
        return [future.result() for future in futures]


def load_summeval() -> Any:
    """The project `bench` with SummEval's outputs and criteria, and its annotators."""
    from evaluations.corpus.store import load_files
    from evaluations.models import Project
    from geval.files.readers import InputFile

    project = Project.objects.create(name="Bench", slug="bench")
    path = BENCHMARK_DATA / "summeval" / "outputs.jsonl.gz"
    load_files(project, [InputFile(path, path.name)])
    for name in ("coherence", "consistency", "fluency", "relevance"):
        project.criteria.create(name=name, definition=f"How good the {name} is.")
    return project


def multiply(project: Any, times: int) -> None:
    """Every document again under other names, with all its outputs."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO evaluations_document (project_id, doc_id, source, context, "references")
               SELECT project_id, doc_id || '-' || n, source, context, "references"
               FROM evaluations_document, generate_series(2, %s) AS n WHERE project_id = %s""",
            [times, project.pk],
        )
        cursor.execute(
            r"""INSERT INTO evaluations_candidateoutput (document_id, system_id, text)
                SELECT copy.id, o.system_id, o.text FROM evaluations_document copy
                JOIN evaluations_document d ON d.project_id = copy.project_id
                 AND d.doc_id = regexp_replace(copy.doc_id, '-\d+$', '') AND d.id <> copy.id
                JOIN evaluations_candidateoutput o ON o.document_id = d.id
                WHERE copy.project_id = %s AND copy.doc_id ~ '-\d+$'""",
            [project.pk],
        )
        cursor.execute("ANALYZE evaluations_document; ANALYZE evaluations_candidateoutput")


def sign_in(project: Any) -> list[str]:
    """Annotators as members of the project, and their session keys."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from evaluations.models import Membership, Role

    sessions = []
    for number in range(ANNOTATORS):
        user = get_user_model().objects.create_user(f"annotator{number}", password=None)
        Membership.objects.create(project=project, user=user, role=Role.ANNOTATOR)
        client = Client()
        client.force_login(user)
        sessions.append(client.cookies["sessionid"].value)
    return sessions


def open_for_all(project: Any, name: str) -> Any:
    from django.contrib.auth import get_user_model

    from annotations.models import Campaign, ItemOrder
    from annotations.planning.campaigns import open_campaign, seat_annotators

    campaign = Campaign.objects.create(
        project=project, name=name, overlap=OVERLAP, order=ItemOrder.RANDOM
    )
    campaign.criteria.set(project.criteria.all())
    seat_annotators(campaign, get_user_model().objects.filter(username__startswith="annotator"))
    began = time.perf_counter()
    count = open_campaign(campaign)
    print(f"  opened a campaign of {count:,} items in {time.perf_counter() - began:.1f} s")
    return campaign


def settle() -> None:
    """Let the database finish what filling it has left to do, which is loading and not
    annotating."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")
        cursor.execute("CHECKPOINT")


def check(campaign: Any, submitted: list[int]) -> list[str]:
    """What the database holds against what annotators were told is stored."""
    from django.db.models import Count

    from annotations.models import Assignment, Rating

    errors = []
    stored = set(
        Assignment.objects.filter(campaign=campaign, state="submitted").values_list("pk", flat=True)
    )
    if missing := set(submitted) - stored:
        errors.append(f"{len(missing)} submitted answers are missing")
    if len(set(submitted)) != len(submitted):
        errors.append("an assignment was given out again after it was submitted")
    per_item = (
        Assignment.objects.filter(campaign=campaign, state="submitted")
        .values("item")
        .annotate(n=Count("pk"))
    )
    if too_often := per_item.filter(n__gt=OVERLAP).count():
        errors.append(f"{too_often} items were rated more than {OVERLAP} times")
    ratings = Rating.objects.filter(annotator__assignments__in=submitted).distinct().count()
    doubled = (
        Rating.objects.values("output", "criterion", "annotator")
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
        .count()
    )
    if doubled:
        errors.append(f"{doubled} ratings are doubled")
    if ratings < 4 * len(set(submitted)):
        errors.append(f"{4 * len(set(submitted)) - ratings} ratings are missing")
    return errors


def measure(title: str, campaign: Any, sessions: list[str], seconds: float) -> float:
    """Print the figures of one size; returns cycles a second."""
    with web_site() as port:
        all_annotate(
            port, campaign.pk, sessions, 3.0
        )  # so that both workers have their code and connections
        found = all_annotate(port, campaign.pk, sessions, seconds)
    submitted = [pk for seen in found for pk in seen.submitted]
    errors = [error for seen in found for error in seen.errors]
    requests = sorted(s for seen in found for s in (*seen.next_seconds, *seen.submit_seconds))
    rate = len(submitted) / seconds
    print(f"{title}: {rate:.0f} cycles/s (wanted: 100), {len(errors)} errors (wanted: 0)")
    for name in ("next_seconds", "submit_seconds"):
        times = sorted(s for seen in found for s in getattr(seen, name))
        p50, p95 = statistics.median(times), times[int(0.95 * len(times))]
        print(
            f"  {name.removesuffix('_seconds')}: p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms"
        )
    print(
        f"  all requests: p95 {1000 * requests[int(0.95 * len(requests))]:.0f} ms (wanted: at most"
        " 150)"
    )
    for error in errors[:3]:
        print("  ", error)
    errors = check(campaign, submitted)
    print(
        "  afterwards:",
        "; ".join(errors) or f"nothing is missing, doubled, or rated more than {OVERLAP} times",
    )
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also with 1,600,000 outputs")
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    if not Path(BENCHMARK_DATA).exists():
        sys.exit("The benchmark data is not on this machine.")
    # All of them come from one address.
    os.environ["GEVAL_UNKNOWN_IDS_PER_HOUR"] = "1000"
    with temporary_site():
        project = load_summeval()
        sessions = sign_in(project)
        small = measure("1,600 outputs", open_for_all(project, "small"), sessions, options.seconds)
        with web_site() as port:
            is_exact = measure_open_campaign(project, port)
        if options.large:
            multiply(project, 1000)
            campaign = open_for_all(project, "large")
            settle()
            large = measure("1,600,000 outputs", campaign, sessions, options.seconds)
            print(
                f"1,000 times as many outputs cost {small / large:.2f} times as much a cycle"
                " (wanted: at most 1.3)"
            )
    if not is_exact:
        sys.exit(1)


if __name__ == "__main__":
    main()
