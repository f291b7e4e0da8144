"""Fifty people in a project of 160,000 outputs whose run has just begun: how long each page takes,
alone and while all of them work, and which statements cost most.

Each person opens a page, looks at it for two to five seconds and opens the next, chosen at random
from all that people open in such a project. The parts that open pages ask for by themselves (what
workers do, how far the run is) are among them. Statements are timed by PostgreSQL's own log.
"""

import http.client
import os
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

PEOPLE, SECONDS, LOOKS = 50, 180.0, (2.0, 5.0)
# How often each page is opened alone, after it was opened once in each process.
ALONE = 5
GOAL_MS, STATEMENT_GOAL_MS = 400, 500
# Shorter statements are not among the costliest.
LEAST_MS = 5
DONE, FAILED, LEASED = 2000, 100, 64
COSTLIEST = 10

Address = Callable[[random.Random], str]


@dataclass
class Statements:
    """What PostgreSQL's log says of statements, by their text without values: the milliseconds of
    each execution of at least LEAST_MS."""

    log: Path
    _read: int = 0
    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def skip(self) -> None:
        """Leave out what was logged so far."""
        self._read, self.milliseconds = self.log.stat().st_size, defaultdict(list)

    def read(self) -> None:
        """Add what was logged since."""
        with self.log.open(errors="replace") as file:
            file.seek(self._read)
            entries = re.split(r"\n(?!\t)", file.read())
            self._read = file.tell()
        for entry in entries:
            if timed := re.search(r"duration: ([\d.]+) ms  (?:statement|execute .*?): ", entry):
                self.milliseconds[_without_values(entry[timed.end() :])].append(float(timed[1]))

    def costliest(self) -> list[tuple[str, np.ndarray]]:
        """The statements with the longest execution, and the milliseconds of each."""
        sorted_times = {text: np.sort(times) for text, times in self.milliseconds.items()}
        return sorted(sorted_times.items(), key=lambda each: -each[1][-1])[:COSTLIEST]


def _without_values(statement: str) -> str:
    text = re.sub(r"'(?:[^']|'')*'", "?", statement)
    text = re.sub(r"(?<![\w\"])\d+(?:\.\d+)?", "?", text)
    text = re.sub(r"\?(?:\s*,\s*\?)+", "?", text)
    return re.sub(r"\s+", " ", text).strip()


@contextmanager
def logged_statements() -> Iterator[Statements]:
    """Have the embedded PostgreSQL log what takes long; of connections that begin afterwards."""
    from django.conf import settings
    from django.db import connection

    from geval_site.embedded.paths import cluster_dir

    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        (name,) = cursor.fetchone()
        cursor.execute(f'ALTER DATABASE "{name}" SET log_min_duration_statement = {LEAST_MS}')
    connection.close()
    yield Statements(cluster_dir(settings.DATA_DIR) / "server.log")


def begin_run(project: Any) -> Any:
    """A run of a judge on all outputs and criteria, just laid out, with its first results."""
    from django.db import connection

    from benchmarks.judge import _judge
    from evaluations.judging.runs.lifecycle import lay_out_rest, lay_out_run
    from evaluations.judging.runs.starting import start_run

    with connection.cursor() as cursor:
        # A minute after rows were added autovacuum comes and helps. Pages have to be quick before.
        for table in ("evaluations_runitem", "evaluations_score", "evaluations_evaluationrun"):
            cursor.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
    judge = _judge(project, "http://127.0.0.1:9/v1", "begun")
    run = start_run(judge, list(project.criteria.all()))
    began = time.perf_counter()
    items = lay_out_run(run.pk) + lay_out_rest(run.pk)
    print(f"a run of {items:,} items laid out in {time.perf_counter() - began:.1f} s", flush=True)
    of_run = {"run": run.pk, "done": DONE, "failed": FAILED, "leased": LEASED}
    with connection.cursor() as cursor:
        cursor.execute(
            """WITH first AS (
                   SELECT id, row_number() OVER (ORDER BY id) AS place FROM evaluations_runitem
                   WHERE run_id = %(run)s ORDER BY id
                   LIMIT %(done)s + %(failed)s + %(leased)s)
               UPDATE evaluations_runitem i SET attempts = 1,
                   state = CASE WHEN place <= %(failed)s THEN 'failed'
                                WHEN place <= %(failed)s + %(done)s THEN 'done'
                                ELSE 'leased' END,
                   reason = CASE WHEN place <= %(failed)s THEN 'unparseable' ELSE '' END,
                   detail = CASE WHEN place <= %(failed)s THEN 'No rating.' ELSE '' END,
                   lease_until = CASE WHEN place > %(failed)s + %(done)s
                                      THEN now() + interval '10 minutes' END
               FROM first WHERE i.id = first.id""",
            of_run,
        )
        cursor.execute(
            """INSERT INTO evaluations_score (run_id, output_id, criterion_id, value, coverage,
                                              mode, distribution)
               SELECT run_id, output_id, criterion_id, 1 + 4 * random(), 0.99, 'logprobs',
                      '{"1": 0.5, "5": 0.5}'
               FROM evaluations_runitem WHERE run_id = %(run)s AND state = 'done'""",
            of_run,
        )
    run.refresh_from_db()
    return run


def pages_of(project: Any, run: Any) -> dict[str, Address]:
    """The addresses of pages that people open, by what they are; fragments begin with "htmx "."""
    home, items = f"/p/{project.slug}/", f"/p/{project.slug}/runs/{run.pk}/items/"
    documents = list(project.documents.order_by("pk").values_list("pk", flat=True)[:5000])
    judged = list(run.items.order_by("pk").values_list("pk", flat=True)[:2000])
    criterion, system = project.criteria.last().pk, project.systems.order_by("pk")[3].pk
    judge = run.judge_id

    def some(address: str, most: int) -> Address:
        return lambda dice: address.format(dice.randint(1, most))

    def one_of(address: str, choices: list[Any]) -> Address:
        return lambda dice: address.format(dice.choice(choices))

    def always(address: str) -> Address:
        return lambda _dice: address

    return {
        "(empty)": always("/password/forgotten/"),
        "projects": always("/"),
        "project": always(home),
        "project: standing": always(f"htmx {home}standing/"),
        "jobs": always(f"htmx {home}jobs/"),
        "documents": some(f"{home}data/?page={{}}", 300),
        "documents by name": some(f"{home}data/?sort=name&page={{}}", 300),
        "documents by gap": some(f"{home}data/?sort=disagreement&page={{}}", 200),
        "documents not rated": always(f"{home}data/?rated=no"),
        "documents rated": always(f"{home}data/?rated=yes"),
        "search: frequent word": one_of(f"{home}data/?q={{}}", ["the", "said", "police"]),
        "search: two words": one_of(f"{home}data/?q={{}}", ["season+manchester", "court+london"]),
        "search: phrase": always(f"{home}data/?q=%22prime+minister%22"),
        "search: rare word": some(f"{home}data/?q={{}}", 10_000),
        "search: nowhere": always(f"{home}data/?q=qwertzuiop"),
        "document": one_of(f"{home}data/{{}}/", documents),
        "systems": always(f"{home}systems/"),
        "criteria": always(f"{home}criteria/"),
        "judges": always(f"{home}judges/"),
        "judge": always(f"{home}judges/{judge}/"),
        "runs": always(f"{home}runs/"),
        "run": always(f"{home}runs/{run.pk}/"),
        "run: progress": always(f"htmx {home}runs/{run.pk}/"),
        "items": always(items),
        "items, deep": some(f"{items}?page={{}}", 3200),
        "items in order": some(f"{items}?sort=order&page={{}}", 20),
        "items in order, deep": some(f"{items}?sort=order&page={{}}", 3200),
        "items done": always(f"{items}?state=done"),
        "items failed": always(f"{items}?state=failed"),
        "items failed so": always(f"{items}?state=failed&reason=unparseable"),
        "items pending": some(f"{items}?state=pending&page={{}}", 1000),
        "items of a criterion": some(f"{items}?criterion={criterion}&page={{}}", 500),
        "items of a system": some(f"{items}?system={system}&page={{}}", 100),
        "items of both": some(f"{items}?criterion={criterion}&system={system}&page={{}}", 50),
        "item": one_of(f"{items}{{}}/", judged),
        "report": always(f"{home}report/"),
        "report: live": always(f"htmx {home}report/live/"),
        "report: numbers": always(f"{home}report/numbers/"),
        "disagreements": always(f"{home}report/disagreements/"),
        "improve": always(f"{home}improve/"),
        "campaigns": always(f"{home}annotate/"),
        "members": always(f"{home}members/"),
        "log": always(f"{home}members/log/"),
        "usage": always(f"{home}usage/"),
        "site": always("/site/"),
    }


def measure(
    port: int, cookies: list[str], pages: Mapping[str, Address], statements: Statements
) -> list[str]:
    """Open all pages alone and together, and print what they took; returns what misses a goal."""
    print(f"{PEOPLE} people, each opens a page every {LOOKS[0]:g} to {LOOKS[1]:g} s", flush=True)
    statements.skip()
    alone = open_alone(port, cookies[0], pages)
    statements.read()
    longest = print_costliest(statements, "of one person")
    statements.skip()
    before, began = _processor_seconds(), time.monotonic()
    together = open_together(port, cookies, pages)
    site, machine = (
        (after - then) / (time.monotonic() - began)
        for after, then in zip(_processor_seconds(), before, strict=True)
    )
    print(
        f"busy on average: {site:.2f} cores with the site and its database, {machine:.2f} of"
        f" {os.cpu_count()} with everything; where all are busy, pages also wait for other work"
    )
    statements.read()
    longest = max(longest, print_costliest(statements, f"of {PEOPLE} people"))
    missed = Times(alone, together).print()
    return missed + (["a statement"] if longest > STATEMENT_GOAL_MS else [])


def _processor_seconds() -> tuple[float, float]:
    """What the site with its database, and the whole machine, have used so far."""
    folder, tick, site = os.environ["GEVAL_DATA_DIR"], os.sysconf("SC_CLK_TCK"), 0
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_database = os.readlink(process / "cwd").startswith(folder)
            if is_database or f"GEVAL_DATA_DIR={folder}" in (process / "environ").read_text():
                fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
                site += sum(map(int, fields[11:15]))
    user, nice, system, _idle, _waiting, *rest = map(
        int, Path("/proc/stat").read_text().splitlines()[0].split()[1:8]
    )
    return site / tick, (user + nice + system + sum(rest)) / tick


@dataclass(frozen=True)
class Times:
    """Seconds of requests, by page: of each page alone, and with all people at work."""

    alone: Mapping[str, list[float]]
    together: Mapping[str, list[float]]

    def print(self) -> list[str]:
        """A line for each page, slowest first; returns what misses the goal."""
        print(f"{'page':26}{'alone':>9}{'p50':>9}{'p95':>9}  goal {GOAL_MS} ms, ratio of p95")
        rows = []
        for page, alone in self.alone.items():
            took = np.sort(self.together.get(page, alone))
            p50, p95 = took[len(took) // 2], took[int(0.95 * len(took))]
            rows.append((page, 1000 * float(np.median(alone)), 1000 * p50, 1000 * p95))
        for page, alone_ms, p50, p95 in sorted(rows, key=lambda row: -row[-1]):
            ratio = p95 / GOAL_MS
            print(f"{page:26}{alone_ms:6.0f} ms{p50:6.0f} ms{p95:6.0f} ms  {ratio:.2f}")
        return [page for page, _, _, p95 in rows if p95 > GOAL_MS]


def print_costliest(statements: Statements, when: str) -> float:
    """The statements with the longest execution; returns the milliseconds of the longest."""
    costliest = statements.costliest()
    print(f"costliest statements {when} (goal {STATEMENT_GOAL_MS} ms each):")
    for text, times in costliest:
        print(
            f"  at most {times[-1]:6.0f} ms, p50 {times[len(times) // 2]:5.0f} ms,"
            f" {len(times):5} times from {LEAST_MS} ms: {text[:230]}"
        )
    return max((times[-1] for _, times in costliest), default=0.0)


def open_alone(port: int, cookie: str, pages: Mapping[str, Address]) -> dict[str, list[float]]:
    """Each page by one person, one after another; every process has opened it before."""
    dice = random.Random(1)
    for address in pages.values():
        for _ in range(4):
            _open(port, cookie, address(dice))
    return {
        page: [_open(port, cookie, address(dice)) for _ in range(ALONE)]
        for page, address in pages.items()
    }


def open_together(
    port: int, cookies: list[str], pages: Mapping[str, Address], *, seconds: float = SECONDS
) -> dict[str, list[float]]:
    """Pages at random by many people at once, with time to look at each."""
    took: dict[str, list[float]] = defaultdict(list)
    until = time.monotonic() + seconds

    def person(number: int) -> None:
        dice = random.Random(number)
        time.sleep(dice.uniform(0, LOOKS[1]))
        while time.monotonic() < until:
            page = dice.choice(list(pages))
            took[page].append(_open(port, cookies[number], pages[page](dice)))
            time.sleep(dice.uniform(*LOOKS))

    people = [threading.Thread(target=person, args=[number]) for number in range(len(cookies))]
    for each in people:
        each.start()
    for each in people:
        each.join()
    return took


def cookies_of(project: Any, count: int) -> list[str]:
    """As many people who own a project and administer the site, signed in."""
    from django.contrib.auth.models import User
    from django.test import Client

    cookies = []
    for number in range(count):
        user = User.objects.create(username=f"person{number}", is_superuser=True)
        project.memberships.create(user=user, role="owner")
        browser = Client()
        browser.force_login(user)
        cookies.append(f"sessionid={browser.cookies['sessionid'].value}")
    return cookies


def _open(port: int, cookie: str, address: str) -> float:
    """Seconds until a page has come whole."""
    headers = {"Cookie": cookie}
    if address.startswith("htmx "):
        address, headers["HX-Request"] = address.removeprefix("htmx "), "true"
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    connection.request("GET", address, headers=headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    assert response.status in (200, 202, 204, 286), (address, response.status)
    return time.monotonic() - began
