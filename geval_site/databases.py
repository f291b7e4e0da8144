"""Convert DATABASE_URL and CELERY_BROKER_URL to settings; empty means embedded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from geval_site.embedded.paths import DATABASE, USER, socket_dir

# Values are sent separately from statements, and a statement used three times is prepared, so that
# PostgreSQL plans it once per connection.
PREPARED = {"server_side_binding": True, "prepare_threshold": 3}
LIBPQ_NAMES = {
    "host": "HOST",
    "port": "PORT",
    "dbname": "NAME",
    "user": "USER",
    "password": "PASSWORD",
}
EMBEDDED = "geval_site.embedded.backend"
DATABASE_FORM = "postgresql://user:password@host:5432/database"
ENCODED = "In names and passwords write @ as %40, / as %2F, : as %3A, # as %23, % as %25."
PGMQ = "pgmq://database"  # the name is irrelevant: `conn_string` below decides


def database_settings(url: str, data_dir: Path) -> dict[str, Any]:
    """Return Django's DATABASES entry for a `postgresql://` URL, or for the embedded server when
    the URL is empty.

    Raises:
        ImproperlyConfigured: the value is not a PostgreSQL URL.
    """
    common = {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True, "ATOMIC_REQUESTS": False}
    if not url:
        return common | {
            "ENGINE": EMBEDDED,
            "NAME": DATABASE,
            "USER": USER,
            "HOST": str(socket_dir(data_dir)),
            "OPTIONS": {**PREPARED},
        }
    if not url.startswith(("postgresql://", "postgres://")):
        raise ImproperlyConfigured(
            "DATABASE_URL must start with postgresql:// (no other database is supported)."
        )
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        # The error quotes a part of the URL, which may be the password's.
        raise ImproperlyConfigured(
            f"DATABASE_URL cannot be read: {DATABASE_FORM}. {ENCODED}"
        ) from None
    settings = {key: str(parts.pop(name, "") or "") for name, key in LIBPQ_NAMES.items()}
    if not settings["NAME"]:
        raise ImproperlyConfigured(f"DATABASE_URL names no database: {DATABASE_FORM}")
    return (
        common
        | settings
        | {
            "ENGINE": "django.db.backends.postgresql",
            "OPTIONS": {**parts, **PREPARED},
        }
    )


def broker_options(url: str, database: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the broker's URL and transport options; without a URL the queue is in the same
    PostgreSQL."""
    if url:
        _check_port(url)
        # A lost worker's message is redelivered after this time; the row's lease is shorter and
        # decides.
        return url, {"visibility_timeout": 3600}
    return PGMQ, {
        "conn_string": queue_conninfo(database),
        "init_extension": False,
        "visibility_timeout": 600,
        "wait_time_seconds": 0,
        "polling_interval": 1,
        "use_notify": True,
        "notify_throttle_interval_ms": 0,  # two messages that arrive together wake two workers
        "pool_size": 4,
        "pool_timeout": 30,
    }


def _check_port(url: str) -> None:
    """Refuse a broker URL that other libraries would refuse with a message that quotes its
    password: they take everything after a slash for a path, and the part before it for a port.

    Raises:
        ImproperlyConfigured: the URL cannot be parsed.
    """
    try:
        for part in url.split(";"):  # URLs of a cluster
            urlsplit(part).port  # noqa: B018 (which is where Python looks)
    except ValueError:
        raise ImproperlyConfigured(
            f"CELERY_BROKER_URL cannot be read: amqp://user:password@host:5672//. {ENCODED}"
        ) from None


def libpq_parameters(database: Mapping[str, Any]) -> dict[str, str]:
    """Return libpq's parameters from Django's database settings, without empty ones."""
    named = {name: str(database.get(key) or "") for name, key in LIBPQ_NAMES.items()}
    options = database.get("OPTIONS", {}).items()
    more = {name: str(value) for name, value in options if name not in PREPARED}
    return {name: value for name, value in (named | more).items() if value}


def queue_conninfo(database: dict[str, Any]) -> str:
    """Return the connection string of the queue for the pgmq package, from Django's database
    settings.

    The package reads five parameters from it and joins them again without quotes, with its own
    defaults for empty ones. So each value is quoted twice, empty ones become an explicit `''`
    (libpq's default), and other options (such as `sslmode`) follow the last of the five.
    """
    quoted = {name: _quoted(str(database.get(key) or "")) for name, key in LIBPQ_NAMES.items()}
    options = (
        f" {name}={_quoted(str(value))}"
        for name, value in database.get("OPTIONS", {}).items()
        if name not in PREPARED
    )
    conninfo = make_conninfo(**quoted | {"password": quoted["password"] + "".join(options)})
    return conninfo.replace("://", ":\\//")  # the package takes everything with :// for a URL


def _quoted(value: str) -> str:
    """Quote a value for libpq's connection strings."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
