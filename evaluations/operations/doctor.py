"""Check everything that a site depends on, with advice on problems; `/readyz` checks the parts
without which it does not work."""

import datetime
import os
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, requires, version
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import WARNING, CheckMessage, run_checks
from django.db import Error as DatabaseError
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from kombu.exceptions import OperationalError
from packaging.requirements import Requirement

from evaluations.models import Endpoint, UpkeepJob, WorkerHeartbeat
from evaluations.models.sealing import SealError
from evaluations.operations.metrics import stale_leases
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.texts.program import command
from geval_site.celery import app
from geval_site.databases import PGMQ
from geval_site.datafolder import PRIVATE_FOLDER
from geval_site.embedded.paths import EmbeddedServerError, cluster_dir
from geval_site.embedded.upgrade import kept_folders
from geval_site.sql import execute_sql, fetch_value
from geval_site.version import __version__

# The oldest version that Django 5.2 supports.
OLDEST_POSTGRES = 140_000
# PostgreSQL stops when its disk is full; this leaves time to free some space.
LEAST_FREE_BYTES = 2**30
LEAST_FREE_SHARE = 0.05
# Leases of less than a minute compare the clocks of several machines.
MOST_CLOCK_SECONDS = 5.0
# Somebody waits: silent endpoints are given up soon, and together.
CONNECT_SECONDS = 5.0
AT_ONCE = 8
HEARTBEAT_WITHIN = timedelta(minutes=1)
# Whatever asks for readiness waits only some seconds itself.
BROKER_SECONDS = 3.0


class Severity(StrEnum):
    """How serious a finding is: a warning deserves attention; an error prevents something from
    working."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class DoctorFinding:
    """A check's subject, its result, and what to do if it is not ok."""

    subject: str
    severity: Severity
    seen: str
    advice: str = ""

    @property
    def is_ok(self) -> bool:
        return self.severity == Severity.OK


def examine() -> Iterator[DoctorFinding]:
    """Run all checks, one after another; without a database, those that need none."""
    yield from settings_findings()
    yield from version_findings()
    yield from disk_findings()
    yield from open_folder_findings()
    yield (answering := database())
    if not answering.is_ok:
        return
    yield postgres_version()
    yield clock()
    yield (applied := migrations())
    yield broker()
    if applied.is_ok:
        yield worker()
        jobs = upkeep()
        # They wait while a local site is not in use.
        waits = not jobs.is_ok and not WorkerHeartbeat.objects.alive().exists()
        yield _ok("upkeep", "waits until a worker runs") if waits else jobs
        yield leases()
        yield from endpoint_findings()


def readiness() -> list[DoctorFinding]:
    """Return the parts without which the site does not work; without the database, only the broker
    can be checked separately."""
    answering = database()
    if answering.is_ok:
        return [answering, migrations(), worker(), upkeep(), broker()]
    names = ["migrations", "worker", "upkeep", *(["broker"] if _queue_is_in_database() else [])]
    unknown = [_error(name, "not known without the database") for name in names]
    return [answering, *unknown, *([] if _queue_is_in_database() else [broker()])]


def _ok(subject: str, seen: str) -> DoctorFinding:
    return DoctorFinding(subject, Severity.OK, seen)


def _error(subject: str, seen: str, advice: str = "") -> DoctorFinding:
    return DoctorFinding(subject, Severity.ERROR, seen, advice)


def _guarded(check: Callable[[], DoctorFinding]) -> Callable[[], DoctorFinding]:
    """Make a check fail that the database, which may become unavailable during it, cannot answer.

    The error may name hosts and users, which must not be published here.
    """

    @wraps(check)
    def guarded() -> DoctorFinding:
        try:
            return check()
        except DatabaseError as error:
            why = f"the database cannot say: {type(error).__name__}"
            return _error(check.__name__, why)

    return guarded


def database() -> DoctorFinding:
    """Check whether the database answers."""
    try:
        execute_sql("SELECT 1")
    except (DatabaseError, EmbeddedServerError, OSError) as error:
        connection.close()
        why = f"{type(error).__name__}: the database does not answer; see DATABASE_URL"
        advice = (
            "Is PostgreSQL running, and DATABASE_URL right? The log of the embedded one is"
            " postgres/server.log in the data folder."
        )
        return _error("database", why, advice)
    return _ok("database", "answers")


@_guarded
def migrations() -> DoctorFinding:
    """Check whether the tables are those of this version."""
    applied = MigrationRecorder(connection).applied_migrations()
    missing = sorted(_known_migrations() - applied.keys())
    if not missing:
        return _ok("migrations", "all applied")
    first, migrate = ".".join(missing[0]), command("migrate")
    why = f"{len(missing)} not applied, the first is {first}; run {migrate}"
    return _error("migrations", why, f"Run {migrate}.")


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations of this version, cached because its files do not change while it
    runs."""
    return frozenset(MigrationLoader(None).graph.nodes)


def _queue_is_in_database() -> bool:
    return bool(settings.CELERY_BROKER_URL == PGMQ)


@_guarded
def broker() -> DoctorFinding:
    """Check whether messages can be sent."""
    advice = "Is the broker at CELERY_BROKER_URL running?"
    if _queue_is_in_database():
        if fetch_value("SELECT to_regnamespace('pgmq') IS NOT NULL"):
            return _ok("broker", "the queue is in the database")
        why = f"the queue is not in the database; run {command('migrate')}"
        return _error("broker", why, advice)
    try:
        with app.connection_for_write(connect_timeout=BROKER_SECONDS) as opened:
            opened.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_SECONDS)
    except (OperationalError, OSError) as error:
        why = f"{type(error).__name__}: the broker at CELERY_BROKER_URL does not answer"
        return _error("broker", why, advice)
    return _ok("broker", "answers")


@_guarded
def worker() -> DoctorFinding:
    """Check whether a worker had a heartbeat within a minute, and none reports that it is frozen; a
    local site may have none while nobody uses it."""
    frozen = [f"{beat.name} is frozen: {beat.trouble}" for beat in WorkerHeartbeat.objects.frozen()]
    heard = list(WorkerHeartbeat.objects.alive(HEARTBEAT_WITHIN))
    if heard and not frozen:
        missing = sorted(set(settings.QUEUES) - {job for beat in heard for job in beat.jobs})
        none = f"; none takes jobs of: {', '.join(missing)}" if missing else ""
        return _ok("worker", f"{len(heard)} alive{none}")
    why = "no worker was heard of within a minute; start one"
    if frozen:
        why = " ".join(frozen) + " It ends by itself; see its log."
    if settings.PRODUCTION:
        return _error("worker", why, f"Start one: {command('worker')}.")
    advice = f"{command('serve')} starts some; runs and uploads wait until then."
    return DoctorFinding("worker", Severity.WARNING, why, advice)


@_guarded
def upkeep() -> DoctorFinding:
    """Check whether workers' periodic jobs run and succeed."""
    if troubles := UpkeepJob.objects.troubles():
        advice = "A line “upkeep failed” in the log of the workers says where."
        return _error("upkeep", f"{'; '.join(troubles)}; see the log of the workers", advice)
    return _ok("upkeep", "no job fails or is overdue")


def settings_findings() -> Iterator[DoctorFinding]:
    """Yield the results of Django's own checks; those for deployment only in production."""
    messages = run_checks(include_deployment_checks=settings.PRODUCTION)
    for message in messages:
        yield _from_check(message)
    if not any(message.level >= WARNING for message in messages):
        yield _ok("settings", f"mode {settings.MODE}")


def version_findings() -> Iterator[DoctorFinding]:
    """Compare Python and the installed packages with this version's requirements."""
    python = ".".join(map(str, sys.version_info[:3]))
    try:
        requirements = [Requirement(line) for line in requires("geval-site") or ()]
    except PackageNotFoundError:
        advice = "Install it with pip, so that its packages can be checked."
        yield DoctorFinding("versions", Severity.WARNING, "geval-site is not installed", advice)
        return
    wrong = list(filter(None, map(_why_unfit, requirements)))
    for why in wrong:
        yield _error("versions", why, "Install geval-site again with pip.")
    if not wrong:
        yield _ok("versions", f"geval-site {__version__} on Python {python}")


def disk_findings() -> Iterator[DoctorFinding]:
    """Check the free space where the site writes."""
    folder = next(
        place for place in (settings.DATA_DIR, *settings.DATA_DIR.parents) if place.exists()
    )
    disk = shutil.disk_usage(folder)
    free = f"{disk.free / 2**30:.1f} GB free at {folder}"
    if disk.free < LEAST_FREE_BYTES or disk.free < LEAST_FREE_SHARE * disk.total:
        yield _error("disk", free, "Free some space, or move GEVAL_DATA_DIR.")
    elif not os.access(folder, os.W_OK):
        advice = "Let the site's user write there, or set GEVAL_DATA_DIR."
        yield _error("disk", f"{folder} cannot be written", advice)
    else:
        yield _ok("disk", free)
    for kept in kept_folders(settings.DATA_DIR):
        seen = f"data from before an upgrade of PostgreSQL are in {kept}"
        yield DoctorFinding("disk", Severity.WARNING, seen, "Delete that folder when all is well.")


def open_folder_findings() -> Iterator[DoctorFinding]:
    """Find a data folder with secrets that other users of the machine may enter or read. New ones
    are created private; an existing one may hold other things, so its permissions are left to the
    operator."""
    folder = settings.DATA_DIR
    if not ((folder / "secret_key").exists() or cluster_dir(folder).exists()):
        return
    mode = stat.S_IMODE(folder.stat().st_mode)
    # As root, PostgreSQL's account enters it through its group.
    if mode & ~(PRIVATE_FOLDER | stat.S_IXGRP):
        seen = f"other users of this machine may enter {folder} (its mode is {mode:o})"
        advice = f"chmod go-rw,o-x '{folder}', then start the site again."
        yield DoctorFinding("data folder", Severity.WARNING, seen, advice)


def postgres_version() -> DoctorFinding:
    """Check the database's version."""
    number = connection.connection.info.server_version
    seen = f"PostgreSQL {number // 10_000}.{number % 10_000}"
    if number < OLDEST_POSTGRES:
        return _error("database version", seen, "Upgrade it to 14 or newer.")
    return _ok("database version", seen)


def clock() -> DoctorFinding:
    """Compare this machine's clock with the database's, by which leases are measured."""
    now = fetch_value("SELECT clock_timestamp()")
    away = (datetime.datetime.now(datetime.UTC) - now).total_seconds()
    seen = f"{away:+.1f} s from the database's"
    if abs(away) > MOST_CLOCK_SECONDS:
        return _error("clock", seen, "Set both machines' clocks by NTP.")
    return _ok("clock", seen)


def leases() -> DoctorFinding:
    """Report items that a lost worker left and no other has claimed."""
    stale = stale_leases()
    if stale:
        seen = f"{stale} items of running runs are held by nobody"
        return _error("leases", seen, "Start a worker; it claims them by itself.")
    return _ok("leases", "none is stale")


def endpoint_findings() -> Iterator[DoctorFinding]:
    """Check for each endpoint whether its key can be read here and its server accepts
    connections."""
    endpoints = list(Endpoint.objects.current().select_related("project"))
    if not endpoints:
        yield _ok("endpoints", "there are none")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(_endpoint, endpoints)


def _endpoint(endpoint: Endpoint) -> DoctorFinding:
    subject = f"endpoint {endpoint.project.slug}/{endpoint.name}"

    try:
        key, _headers = endpoint.api_key, endpoint.headers
    except SealError as error:
        return _error(subject, str(error), "Enter the key on the endpoint's page.")
    if endpoint.key_env and not key:
        return _error(
            subject, f"{endpoint.key_env} is not set here", "Set it where workers are started."
        )
    return _connected(endpoint, subject)


def _connected(endpoint: Endpoint, subject: str) -> DoctorFinding:
    try:
        check_address(endpoint.base_url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
        parts = urlsplit(endpoint.base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), CONNECT_SECONDS).close()
    except (ForbiddenAddressError, ValueError) as error:
        return _error(subject, str(error), "Correct the address on the endpoint's page.")
    except OSError as error:
        seen = f"nothing answers at {endpoint.host} ({error.strerror or type(error).__name__})"
        return _error(
            subject, seen, "Start the server, correct the address, or retire the endpoint."
        )
    return _ok(subject, f"{endpoint.host} takes connections")


def _why_unfit(requirement: Requirement) -> str:
    """Return why an installed package does not meet a requirement; empty if it does, or is not
    needed here."""
    if requirement.marker and not requirement.marker.evaluate({"extra": "site"}):
        return ""
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed"
    if not requirement.specifier.contains(installed, prereleases=True):
        return f"{requirement.name} is {installed}; {requirement.specifier} is needed"
    return ""


def _from_check(message: CheckMessage) -> DoctorFinding:
    severity = Severity.ERROR if message.is_serious() else Severity.WARNING
    return DoctorFinding("settings", severity, f"{message.msg} ({message.id})", message.hint or "")
