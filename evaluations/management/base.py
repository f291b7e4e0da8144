"""Base classes of our commands: the database is ready, or the error says what to do."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DEFAULT_DB_ALIAS, connections
from django.db import Error as DatabaseError
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor

from evaluations.models.row_by_row import FULL, is_disk_full
from geval.texts.program import command

_LOCK = 0x6D696772  # any constant: a lock for creating tables
LOOK_SECONDS = 0.1


class SiteCommand(BaseCommand):
    """A command that needs our tables, which are created automatically except in production."""

    # Django's checks would import every page of the site each time; `manage.py check` runs them.
    requires_system_checks = ()

    # Errors that the user can fix, reported without a traceback.
    REFUSALS: tuple[type[Exception], ...] = ()

    def execute(self, *args: Any, **options: Any) -> str | None:
        bring_up_to_date()
        try:
            return super().execute(*args, **options)
        except ValidationError as error:
            raise CommandError(_in_words(error)) from None
        except self.REFUSALS as error:
            raise CommandError(str(error)) from None
        except (DatabaseError, OSError) as error:
            if is_disk_full(error):
                raise CommandError(FULL) from None
            raise


class StartingCommand(SiteCommand):
    """A command that new users run first: it announces each step, and how long it takes on two
    cores."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        self.say("Starting the database (about 2 s; about 25 s the first time)")
        return super().execute(*args, **options)

    def say(self, line: str) -> None:
        """Print a line immediately, even into a pipe."""
        self.stdout.write(line)
        self.stdout.flush()


class GateCommand(SiteCommand):
    """A command whose exit code answers a pipeline's question; errors have a separate code."""

    ERROR = 3

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except CommandError as error:
            error.returncode = self.ERROR
            raise


def _in_words(error: ValidationError) -> str:
    """Format a form's or record's errors as one line for the terminal."""
    if not hasattr(error, "error_dict"):
        return " ".join(error.messages)
    return "; ".join(f"{name}: {' '.join(texts)}" for name, texts in error.message_dict.items())


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Allow one process at a time to create the tables, when several start together."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        # An index built concurrently waits for every running statement, so a statement that itself
        # waits for the lock would make it wait for ever.
        while not _taken(cursor):
            time.sleep(LOOK_SECONDS)
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _taken(cursor: CursorWrapper) -> bool:
    cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
    return bool(cursor.fetchone()[0])


def bring_up_to_date() -> None:
    """Check that the tables are those of this version; locally, create them.

    Raises:
        CommandError: they are not, and the mode is production.
    """
    executor = MigrationExecutor(connections[DEFAULT_DB_ALIAS])
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        if settings.PRODUCTION:
            raise CommandError(f"The database is not up to date; run `{command('migrate')}` first.")
        with _one_at_a_time():
            call_command("migrate", verbosity=0)
