"""The parts that the site needs to work, each checked and named separately."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from celery import Celery
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from kombu.exceptions import OperationalError

from evaluations.models import UpkeepJob, WorkerHeartbeat
from geval.texts.program import command
from geval_site.celery import app
from geval_site.databases import PGMQ
from geval_site.embedded.errors import EmbeddedServerError

HEARTBEAT_WITHIN = timedelta(minutes=1)
# Whatever asks for readiness waits only some seconds itself.
BROKER_SECONDS = 3.0


@dataclass(frozen=True)
class SitePart:
    """A part that the site needs; `message` says what is wrong and what to do, or what was
    found."""

    name: str
    ok: bool
    message: str


def readiness() -> list[SitePart]:
    """Return all parts; without the database, only the broker can be checked separately."""
    database = database_part()
    if not database.ok:
        unknown = "not known without the database"
        others = [SitePart(name, False, unknown) for name in ("migrations", "worker", "upkeep")]
        broker = SitePart("broker", False, unknown) if _queue_is_in_database() else broker_part()
        return [database, *others, broker]
    return [database, migrations_part(), worker_part(), upkeep_part(), broker_part()]


def database_part() -> SitePart:
    """Check whether the database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, EmbeddedServerError, OSError) as error:
        # The error may name hosts and users, which must not be published here.
        connection.close()
        why = f"{type(error).__name__}: the database does not answer; see DATABASE_URL"
        return SitePart("database", False, why)
    return SitePart("database", True, "answers")


def migrations_part() -> SitePart:
    """Check whether the tables are those of this version."""

    def look() -> SitePart:
        applied = MigrationRecorder(connection).applied_migrations()
        missing = sorted(_known_migrations() - applied.keys())
        if missing:
            first = ".".join(missing[0])
            say = f"{len(missing)} not applied, the first is {first}; run {command('migrate')}"
            return SitePart("migrations", False, say)
        return SitePart("migrations", True, "all applied")

    return _guarded("migrations", look)


def worker_part() -> SitePart:
    """Check whether a worker had a heartbeat within a minute, and none reports that it is
    frozen."""

    def look() -> SitePart:
        frozen = [
            f"{beat.name} is frozen: {beat.trouble}" for beat in WorkerHeartbeat.objects.frozen()
        ]
        if frozen:
            return SitePart("worker", False, " ".join(frozen) + " It ends by itself; see its log.")
        heard = WorkerHeartbeat.objects.alive(HEARTBEAT_WITHIN)
        number = heard.count()
        if not number:
            return SitePart("worker", False, "no worker was heard of within a minute; start one")
        missing = sorted(set(settings.QUEUES) - {job for beat in heard for job in beat.jobs})
        none = f"; none takes jobs of: {', '.join(missing)}" if missing else ""
        return SitePart("worker", True, f"{number} alive{none}")

    return _guarded("worker", look)


def upkeep_part() -> SitePart:
    """Check whether workers' periodic jobs run and succeed."""

    def look() -> SitePart:
        troubles = UpkeepJob.objects.troubles()
        if troubles:
            return SitePart("upkeep", False, f"{'; '.join(troubles)}; see the log of the workers")
        return SitePart("upkeep", True, "no job fails or is overdue")

    return _guarded("upkeep", look)


def broker_part() -> SitePart:
    """Check whether messages can be sent."""
    if _queue_is_in_database():
        return _guarded("broker", _look_at_the_queue)
    return _connect_to_broker(app)


def _look_at_the_queue() -> SitePart:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regnamespace('pgmq') IS NOT NULL")
        installed = cursor.fetchone()[0]
    if installed:
        return SitePart("broker", True, "the queue is in the database")
    missing = f"the queue is not in the database; run {command('migrate')}"
    return SitePart("broker", False, missing)


def _connect_to_broker(celery: Celery) -> SitePart:
    try:
        with celery.connection_for_write(connect_timeout=BROKER_SECONDS) as opened:
            opened.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    except (OperationalError, OSError) as error:
        why = f"{type(error).__name__}: the broker at CELERY_BROKER_URL does not answer"
        return SitePart("broker", False, why)
    return SitePart("broker", True, "answers")


def _guarded(name: str, look: Callable[[], SitePart]) -> SitePart:
    """Run a check that needs the database, which may become unavailable during it."""
    try:
        return look()
    except DatabaseError as error:
        return SitePart(name, False, f"the database cannot say: {type(error).__name__}")


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations of this version, cached because its files do not change while it
    runs."""
    return frozenset(MigrationLoader(None).graph.nodes)


def _queue_is_in_database() -> bool:
    return bool(settings.CELERY_BROKER_URL == PGMQ)
