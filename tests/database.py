"""The test databases: made from one template with all tables, and emptied quickly between tests."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.db import OperationalError, connection, transaction
from django.test import TransactionTestCase
from psycopg.errors import DeadlockDetected

from geval_site.databases import EMBEDDED

TEMPLATE = "test_geval_template"
# Nothing here has to outlive a loss of power.
RISKY = ("fsync", "synchronous_commit", "full_page_writes")
# A request that a test's browser left behind may lock rows in another order.
TRIES = 5
# What migrations put in there stays as it is; no test makes one.
KEPT = (ContentType._meta.db_table, Permission._meta.db_table)
_keeps_rows = False
_djangos_way = TransactionTestCase._fixture_teardown


def use_template() -> None:
    """Have the test database copied from a template, which the first process to come here makes.

    Only on the embedded server, which is the tests' own and goes away with them.
    """
    if connection.settings_dict["ENGINE"] != EMBEDDED:
        return
    folder = Path(os.environ["GEVAL_TEST_DATA_DIR"])
    with (folder / "template.lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = folder / "template.made"
        if not made.exists():
            _make_template()
            made.touch()
    connection.settings_dict["TEST"]["TEMPLATE"] = TEMPLATE


def _make_template() -> None:
    with connection._nodb_cursor() as cursor:
        for setting in RISKY:
            cursor.execute(f"ALTER SYSTEM SET {setting} = off")
        cursor.execute("SELECT pg_reload_conf()")
    usual, test = connection.settings_dict["NAME"], connection.settings_dict["TEST"]
    name, test["NAME"] = test["NAME"], TEMPLATE
    connection.creation.create_test_db(verbosity=0, serialize=False)
    connection.close()  # nobody may be connected to what is copied
    test["NAME"] = name
    connection.settings_dict["NAME"] = settings.DATABASES[connection.alias]["NAME"] = usual


@cache
def _tables() -> list[str]:
    found = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return sorted(set(found) - set(KEPT))


@contextmanager
def keep_rows() -> Iterator[None]:
    """The tables are emptied at the end, and not after each test until then."""
    global _keeps_rows
    _keeps_rows = True
    yield
    _keeps_rows = False
    empty_tables(TransactionTestCase())


def empty_tables(case: TransactionTestCase) -> None:
    """After a test with transactions: delete the rows of the few tables that hold any.

    Django truncates all tables and makes all permissions anew, which takes longer than most tests.
    """
    if _keeps_rows:
        return
    connection.ensure_connection()
    if connection.connection.info.parameter_status("is_superuser") != "on":
        _djangos_way(case)
        return
    for left in reversed(range(TRIES)):
        try:
            _delete_rows()
        except OperationalError as error:
            if not (left and isinstance(error.__cause__, DeadlockDetected)):
                raise
        else:
            return


def _delete_rows() -> None:
    holds_rows = " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT FROM {table})" for table in _tables()
    )
    with transaction.atomic(), connection.cursor() as cursor:
        # In any order: what refers to a deleted row is deleted too.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(holds_rows)
        for (table,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {table}")


TransactionTestCase._fixture_teardown = empty_tables
