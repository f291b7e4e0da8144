"""Fixtures that several tests share: a small project, people, the stand-in LLM and workers as real
processes."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import hypothesis
import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from kombu import pools

from evaluations.corpus.store import LoadOptions, LoadResult, load_files
from evaluations.judging.runs import leases, results
from evaluations.judging.runs.errands import neglected_errands, work_on_errand
from evaluations.judging.runs.lifecycle import close_if_finished, lay_out_run
from evaluations.judging.runs.starting import start_run
from evaluations.models import (
    ApiToken,
    EvaluationRun,
    Judge,
    Membership,
    Project,
    Role,
    ScoringMode,
)
from evaluations.models.tokens import new_token
from geval.files.readers import InputFile
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from geval_site.celery import app as celery_app
from geval_site.databases import queue_conninfo
from tests import database
from tests.processes import (
    SiteProcess,
    StandInProcess,
    WorkerProcess,
    free_port,
    run_to_its_end,
)

# How long an example takes is the machine's affair.
hypothesis.settings.register_profile("whatever the machine", deadline=None)
hypothesis.settings.load_profile("whatever the machine")
BENCHMARKS = Path(__file__).resolve().parents[2] / "shared" / "benchmarks"
CHECKOUT = Path(__file__).resolve().parents[1]


def long_files() -> set[Path]:
    """The test files that only `make test-long` runs."""
    lines = (CHECKOUT / "tests" / "long_files.txt").read_text().splitlines()
    return {CHECKOUT / line for line in lines if not line.startswith("#")}


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    of_long_files = long_files()
    for item in items:
        if item.path in of_long_files:
            item.add_marker("long")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> None:
    """What pytest-django asks for before it makes a test database."""
    with django_db_blocker.unblock():
        database.use_template()


@pytest.fixture(scope="session")
def database_url(django_db_setup: None, django_db_blocker: Any) -> Iterator[str]:
    """The address of this worker's test database; the queue, where it lives in a database, is the
    one in there."""
    with django_db_blocker.unblock():
        connection.ensure_connection()
        info = connection.connection.info
        parts = {"NAME": info.dbname, "USER": info.user, "HOST": info.host, "PORT": info.port}
        parts["PASSWORD"] = info.password
    if celery_app.conf.broker_url.startswith("pgmq"):
        celery_app.conf.broker_transport_options["conn_string"] = queue_conninfo(parts)
    account = parts["USER"] + (f":{quote(parts['PASSWORD'], safe='')}" if parts["PASSWORD"] else "")
    yield (
        f"postgresql://{account}@/{parts['NAME']}"
        f"?host={quote(parts['HOST'], safe='')}&port={parts['PORT']}"
    )
    celery_app.close()
    pools.reset()  # the queue's connections would keep the test database from being dropped


@pytest.fixture(autouse=True)
def _queue_of_the_test_database(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("database_url")


@pytest.fixture
def make_user() -> Callable[..., User]:
    def make(name: str, **fields: Any) -> User:
        return get_user_model().objects.create_user(name, password="secret-of-" + name, **fields)

    return make


@pytest.fixture
def project() -> Project:
    return Project.objects.create(name="Small", slug="small")


@pytest.fixture
def owner(make_user: Callable[..., User], project: Project) -> User:
    user = make_user("olga")
    Membership.objects.create(project=project, user=user, role=Role.OWNER)
    return user


@pytest.fixture
def as_role(make_user: Callable[..., User], project: Project) -> Callable[[str], Client]:
    """A browser of somebody in a role of the project; "stranger" has none, "visitor" is not signed
    in."""

    def sign_in(role: str) -> Client:
        client = Client()
        if role != "visitor":
            user = make_user(role)
            client.force_login(user)
            if role != "stranger":
                Membership.objects.create(project=project, user=user, role=role)
        return client

    return sign_in


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., LoadResult]:
    """Load texts as files, given as name=content; returns the tallies."""

    return partial(load_texts, tmp_path)


def load_texts(
    folder: Path,
    project: Project,
    files: dict[str, str | bytes],
    *,
    judge: str = "file",
    **about: Any,
) -> LoadResult:
    inputs = []
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        inputs.append(InputFile(path, name))
    return load_files(project, inputs, about=LoadOptions(judge=judge, **about))


OUTPUTS = "\n".join(
    f'{{"doc_id": "d{d}", "system_id": "{system}", "source": "The {d}. ferry sails at {d} in the'
    f' morning from the old harbour.", "output": "{text.format(d)}"}}'
    for d in (1, 2, 3)
    for system, text in (
        ("good", "The {}. ferry sails in the morning."),
        ("odd", "A ferry, a ferry, {} a ferry sails sails"),
    )
)
RATINGS = "doc_id,system_id,criterion,annotator,score\n" + "\n".join(
    f"d{d},{system},{criterion},{annotator},{score}"
    for d in (1, 2, 3)
    for system, base in (("good", 4), ("odd", 1))
    for criterion in ("coherence", "fluency")
    for annotator, score in (("ann", base), ("bob", base + (d % 2)))
)


@pytest.fixture
def small_project(project: Project, load: Callable[..., LoadResult]) -> Project:
    """Three documents, two systems, two criteria, two annotators."""
    load(project, {"outputs.jsonl": OUTPUTS, "ratings.csv": RATINGS})
    return project


@pytest.fixture
def judged_project(small_project: Project, make_judge: Callable[..., Judge]) -> Project:
    """The small project with a finished run: a score for each item but the last, which was
    refused."""
    judge = make_judge(
        small_project, base_url="http://127.0.0.1:1/v1", name="Judge Judy", use_steps=False
    )
    run = start_run(judge, list(small_project.criteria.all()))
    lay_out_run(run.pk)
    claimed = leases.claim(run.pk, "t", most=100)
    # Not in the run's random order: the same output has the same score in every test.
    items = sorted(claimed, key=lambda item: (item.criterion_id or 0, item.output_id))
    outcomes = [
        Scored(1.0 + index % 4, {1.0 + index % 4: 0.75, 5.0: 0.25}, 0.97)
        for index, _ in enumerate(items[:-1])
    ]
    finished = [
        results.FinishedItem(item, "", outcome)
        for item, outcome in zip(items, outcomes, strict=False)
    ]
    refused = results.FinishedItem(
        items[-1], "", Failure(Reason.REFUSAL, "The model refused: “No.”")
    )
    results.store(run, [*finished, refused], "t")
    close_if_finished(run.pk)
    return small_project


@pytest.fixture
def run(judged_project: Project) -> EvaluationRun:
    return EvaluationRun.objects.get(project=judged_project)


@pytest.fixture(scope="session")
def start_standin(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., StandInProcess]]:
    """Start stand-in LLMs with switches; one with the same switches is shared within the
    session."""
    running: dict[tuple[str, ...], StandInProcess] = {}

    def start(*switches: str) -> StandInProcess:
        if switches not in running:
            running[switches] = StandInProcess(switches)
        return running[switches]

    yield start
    for process in running.values():
        process.stop()


@pytest.fixture
def site_address(database_url: str, owner: User, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a served site; the owner's token is in the variable GEVAL_TOKEN."""
    token, digest = new_token()
    ApiToken.objects.create(user=owner, name="t", digest=digest)
    monkeypatch.setenv("GEVAL_TOKEN", token)
    served = SiteProcess(database_url, GEVAL_MODE="local")
    yield served.address
    served.stop()


@pytest.fixture
def make_judge(start_standin: Callable[..., StandInProcess]) -> Callable[..., Judge]:
    """A judge of a project on a stand-in with switches."""

    def make(project: Project, *switches: str, base_url: str = "", **fields: Any) -> Judge:
        name = f"endpoint {project.endpoints.count()}"
        endpoint = project.endpoints.create(
            name=name, base_url=base_url or start_standin(*switches).base_url
        )
        given = {
            "name": "Stand-in",
            "model": "offline-stand-in",
            "mode": ScoringMode.LOGPROBS,
        } | fields
        return Judge.objects.create(project=project, endpoint=endpoint, **given)

    return make


@pytest.fixture
def start_worker(database_url: str) -> Iterator[Callable[..., WorkerProcess]]:
    """Start real Celery workers on the test database, with switches of Celery; all are gone at the
    end."""
    with workers_on(database_url) as start:
        yield start


@contextmanager
def workers_on(database_url: str) -> Iterator[Callable[..., WorkerProcess]]:
    """What starts workers, which end with the context.

    Messages that other tests left in the queue are thrown away first: a worker would go through
    them one by one.
    """
    with celery_app.connection_for_write() as connected:
        for named in celery_app.amqp.queues.values():
            queue = named(connected)
            queue.declare()
            queue.purge()
    running: list[WorkerProcess] = []

    def start(*switches: str) -> WorkerProcess:
        running.append(WorkerProcess(database_url, *switches))
        return running[-1]

    yield start
    for process in running:
        # An orderly end takes Celery seconds; tests of it ask for it themselves.
        process.kill()


@pytest.fixture
def manage(database_url: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run manage.py as a process of its own on the test database."""

    def run(*arguments: str, timeout: float = 120, **env: str) -> subprocess.CompletedProcess[str]:
        return run_to_its_end(
            "manage.py", *arguments, timeout=timeout, **{"DATABASE_URL": database_url, **env}
        )

    return run


@pytest.fixture(scope="session")
def benchmarks() -> Path:
    """The folder of real data beside the checkout; tests that need it are skipped where it is
    not."""
    if not (BENCHMARKS / "expected.json").exists():
        pytest.skip("the benchmark data (SummEval, Topical-Chat, QAGS) is not on this machine")
    return BENCHMARKS


def do_errands() -> None:
    """Ask endpoints what pages and the API wanted to know, as a worker would."""
    while found := neglected_errands():
        for kind, pk in found:
            work_on_errand(kind, pk)


def wait_until(condition: Callable[[], bool], *, seconds: float = 60) -> None:
    """Wait for something another process does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


__all__ = ["do_errands", "free_port", "wait_until"]
