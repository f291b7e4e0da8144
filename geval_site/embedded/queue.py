"""The message queue that lives in the same PostgreSQL: pgmq's SQL functions, without its extension."""

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from pgmq import install_pgmq_from_sql
from psycopg.conninfo import make_conninfo

from geval_site.databases import PGMQ

# Any constant will do: it keeps two `migrate` commands from installing at once.
INSTALL_LOCK = 0x67657661


def install_queue(connection: BaseDatabaseWrapper) -> bool:
    """Install pgmq's functions if the queue is in this database and they are not there yet; True if it did."""
    if settings.CELERY_BROKER_URL != PGMQ:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [INSTALL_LOCK])
        try:
            cursor.execute("SELECT to_regnamespace('pgmq') IS NOT NULL")
            if cursor.fetchone()[0]:
                return False
            info = connection.connection.info
            install_pgmq_from_sql(dsn=make_conninfo(info.dsn, password=info.password or None))
            return True
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [INSTALL_LOCK])
