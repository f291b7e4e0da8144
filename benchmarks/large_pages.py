"""`make bench-report LARGE=1`: pages of a large project's report, which a worker computes: how long
the worker takes, and how large a web process becomes that shows them all.
"""

import os
import resource
import subprocess
import sys
import time
from typing import Any

from benchmarks.large_report import CORPORA, fill
from benchmarks.site import CHECKOUT, temporary_site

MOST_MEGABYTES = 300
MOST_SECONDS = 1.0
KINDS = ("scatter", "documents", "judges", "scores", "annotators", "calibration", "leaderboard")


def peak() -> float:
    """Megabytes of this process at its peak."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def work() -> None:
    """Compute what pages have asked for, as a worker does."""
    from evaluations.models import KeptReport
    from evaluations.reports.serving.worker import work_on_report

    began = time.perf_counter()
    for pk in KeptReport.objects.free().values_list("pk", flat=True):
        work_on_report(pk)
    print(f"  the worker: {time.perf_counter() - began:.0f} s, {peak():,.0f} MB")


def look(slug: str) -> None:
    """Open every page of the report in one process; the first one also loads the site."""
    from django.contrib.auth import get_user_model
    from django.test import Client

    from evaluations.models import Project

    project = Project.objects.get(slug=slug)
    criterion, judge = project.criteria.get(), project.judges.first()
    client = Client(SERVER_NAME="localhost")
    client.force_login(get_user_model().objects.get())
    home, report = f"/p/{slug}/", f"/p/{slug}/report/"
    client.get("/")
    slowest = (0.0, "")
    for address in (
        report, f"{report}live/", f"{report}live/?part=more", f"{report}live/?part=kept",
        *(f"{report}figure/{kind}/{criterion.pk}/" for kind in KINDS),
        f"{report}cell/{criterion.pk}/{judge.pk}/", f"{report}export/json/",
        f"/api/v1/projects/{slug}/report", f"{home}data/?sort=disagreement",
        f"{home}runs/{project.runs.first().pk}/",
    ):  # fmt: skip
        began = time.perf_counter()
        answer = client.get(address)
        assert answer.status_code in (200, 202, 204), address
        slowest = max(slowest, (time.perf_counter() - began, address))
    print(f"  a web process: at most {slowest[0]:.2f} s ({slowest[1]}), {peak():,.0f} MB")
    print(f"  goals: {MOST_SECONDS} s, {MOST_MEGABYTES} MB, ratio {peak() / MOST_MEGABYTES:.2f}")


def main() -> None:
    if len(sys.argv) > 1:
        import django

        django.setup()
        return look(sys.argv[1]) if sys.argv[1] != "--work" else work()
    with temporary_site():
        from django.contrib.auth import get_user_model

        user = get_user_model().objects.create_user("ada")
        for corpus in CORPORA:
            project: Any = fill(corpus)
            project.memberships.create(user=user, role="owner")
            for what, argument in (
                ("before", project.slug),
                ("computing", "--work"),
                ("after", project.slug),
            ):
                print(f"{corpus.name}, {what}:", flush=True)
                command = [sys.executable, "-m", "benchmarks.large_pages", argument]
                subprocess.run(command, cwd=CHECKOUT, env=os.environ, check=True)
    return None


if __name__ == "__main__":
    main()
