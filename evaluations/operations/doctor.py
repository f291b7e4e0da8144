"""Check everything that a site depends on, with advice on problems."""

import datetime
import os
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, requires, version
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import WARNING, CheckMessage, run_checks
from django.db import connection
from packaging.requirements import Requirement

from evaluations.models import Endpoint, WorkerHeartbeat
from evaluations.models.sealing import SealError
from evaluations.operations.readiness import (
    SitePart,
    broker_part,
    database_part,
    migrations_part,
    upkeep_part,
    worker_part,
)
from evaluations.operations.waiting import stale_leases
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.texts.program import command
from geval_site.datafolder import PRIVATE_FOLDER
from geval_site.embedded.paths import cluster_dir
from geval_site.embedded.upgrade import kept_folders
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


def examine() -> Iterator[DoctorFinding]:
    """Run all checks, one after another; without a database, those that need none."""
    yield from settings_findings()
    yield from version_findings()
    yield from disk_findings()
    yield from open_folder_findings()
    database = database_part()
    yield _from_part(
        database,
        "Is PostgreSQL running, and DATABASE_URL right? The log of the embedded one is"
        " postgres/server.log in the data folder.",
    )
    if not database.ok:
        return
    yield postgres_version()
    yield clock()
    migrations = migrations_part()
    yield _from_part(migrations, f"Run {command('migrate')}.")
    yield _from_part(broker_part(), "Is the broker at CELERY_BROKER_URL running?")
    if migrations.ok:
        yield worker()
        yield upkeep()
        yield leases()
        yield from endpoint_findings()


def settings_findings() -> Iterator[DoctorFinding]:
    """Yield the results of Django's own checks; those for deployment only in production."""
    messages = run_checks(include_deployment_checks=settings.PRODUCTION)
    for message in messages:
        yield _from_check(message)
    if not any(message.level >= WARNING for message in messages):
        yield DoctorFinding("settings", Severity.OK, f"mode {settings.MODE}")


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
        yield DoctorFinding("versions", Severity.ERROR, why, "Install geval-site again with pip.")
    if not wrong:
        yield DoctorFinding("versions", Severity.OK, f"geval-site {__version__} on Python {python}")


def disk_findings() -> Iterator[DoctorFinding]:
    """Check the free space where the site writes."""
    folder = next(
        place for place in (settings.DATA_DIR, *settings.DATA_DIR.parents) if place.exists()
    )
    disk = shutil.disk_usage(folder)
    free = f"{disk.free / 2**30:.1f} GB free at {folder}"
    if disk.free < LEAST_FREE_BYTES or disk.free < LEAST_FREE_SHARE * disk.total:
        yield DoctorFinding(
            "disk", Severity.ERROR, free, "Free some space, or move GEVAL_DATA_DIR."
        )
    elif not os.access(folder, os.W_OK):
        advice = "Let the site's user write there, or set GEVAL_DATA_DIR."
        yield DoctorFinding("disk", Severity.ERROR, f"{folder} cannot be written", advice)
    else:
        yield DoctorFinding("disk", Severity.OK, free)
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
        return DoctorFinding("database version", Severity.ERROR, seen, "Upgrade it to 14 or newer.")
    return DoctorFinding("database version", Severity.OK, seen)


def clock() -> DoctorFinding:
    """Compare this machine's clock with the database's, by which leases are measured."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        away = (datetime.datetime.now(datetime.UTC) - cursor.fetchone()[0]).total_seconds()
    seen = f"{away:+.1f} s from the database's"
    if abs(away) > MOST_CLOCK_SECONDS:
        return DoctorFinding("clock", Severity.ERROR, seen, "Set both machines' clocks by NTP.")
    return DoctorFinding("clock", Severity.OK, seen)


def worker() -> DoctorFinding:
    """Check workers; a local site may have none while nobody uses it."""
    part = worker_part()
    if part.ok or settings.PRODUCTION:
        return _from_part(part, f"Start one: {command('worker')}.")
    advice = f"{command('serve')} starts some; runs and uploads wait until then."
    return DoctorFinding("worker", Severity.WARNING, part.message, advice)


def upkeep() -> DoctorFinding:
    """Check periodic jobs, which wait while a local site is not in use."""
    part = upkeep_part()
    if part.ok or WorkerHeartbeat.objects.alive().exists():
        return _from_part(part, "A line “upkeep failed” in the log of the workers says where.")
    return DoctorFinding("upkeep", Severity.OK, "waits until a worker runs")


def leases() -> DoctorFinding:
    """Report items that a lost worker left and no other has claimed."""
    stale = stale_leases()
    if stale:
        seen = f"{stale} items of running runs are held by nobody"
        return DoctorFinding(
            "leases", Severity.ERROR, seen, "Start a worker; it claims them by itself."
        )
    return DoctorFinding("leases", Severity.OK, "none is stale")


def endpoint_findings() -> Iterator[DoctorFinding]:
    """Check for each endpoint whether its key can be read here and its server accepts
    connections."""
    endpoints = list(Endpoint.objects.current().select_related("project"))
    if not endpoints:
        yield DoctorFinding("endpoints", Severity.OK, "there are none")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(_endpoint, endpoints)


def _endpoint(endpoint: Endpoint) -> DoctorFinding:
    subject = f"endpoint {endpoint.project.slug}/{endpoint.name}"

    def wrong(seen: str, advice: str) -> DoctorFinding:
        return DoctorFinding(subject, Severity.ERROR, seen, advice)

    try:
        key, _headers = endpoint.api_key, endpoint.headers
    except SealError as error:
        return wrong(str(error), "Enter the key on the endpoint's page.")
    if endpoint.key_env and not key:
        return wrong(f"{endpoint.key_env} is not set here", "Set it where workers are started.")
    return _connected(endpoint, subject, wrong)


def _connected(
    endpoint: Endpoint, subject: str, wrong: Callable[[str, str], DoctorFinding]
) -> DoctorFinding:
    try:
        check_address(endpoint.base_url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
        parts = urlsplit(endpoint.base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), CONNECT_SECONDS).close()
    except (ForbiddenAddressError, ValueError) as error:
        return wrong(str(error), "Correct the address on the endpoint's page.")
    except OSError as error:
        seen = f"nothing answers at {endpoint.host} ({error.strerror or type(error).__name__})"
        return wrong(seen, "Start the server, correct the address, or retire the endpoint.")
    return DoctorFinding(subject, Severity.OK, f"{endpoint.host} takes connections")


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


def _from_part(part: SitePart, advice: str) -> DoctorFinding:
    if part.ok:
        return DoctorFinding(part.name, Severity.OK, part.message)
    return DoctorFinding(part.name, Severity.ERROR, part.message, advice)


def _from_check(message: CheckMessage) -> DoctorFinding:
    severity = Severity.ERROR if message.is_serious() else Severity.WARNING
    return DoctorFinding("settings", severity, f"{message.msg} ({message.id})", message.hint or "")
