"""The message queue in the same PostgreSQL: pgmq's SQL functions, without its extension."""

from django.conf import settings
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.conninfo import make_conninfo

from geval_site.databases import PGMQ

# Any constant: a lock that prevents two `migrate` commands from installing at once.
INSTALL_LOCK = 0x67657661
# Every process that declares a queue drops and recreates its trigger; if two do so at once, one
# fails and ends (seen with pgmq 1.1.4). Creating a missing trigger, one process at a time, is
# enough.
ENABLE_ONCE = """
ALTER FUNCTION pgmq.enable_notify_insert(text, integer) RENAME TO enable_notify_insert_always;
CREATE FUNCTION pgmq.enable_notify_insert(queue_name text, throttle_interval_ms integer DEFAULT 250)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('pgmq notify ' || queue_name));
    IF NOT EXISTS (
        SELECT FROM pg_trigger WHERE tgname = 'trigger_notify_queue_insert_listeners'
        AND tgrelid = to_regclass('pgmq.' || pgmq.format_table_name(queue_name, 'q'))
    ) THEN
        PERFORM pgmq.enable_notify_insert_always(queue_name, throttle_interval_ms);
    END IF;
END $$
"""


def install_queue(connection: BaseDatabaseWrapper) -> bool:
    """Install missing functions of pgmq if the queue is in this database; return True if it
    installed them."""
    if settings.CELERY_BROKER_URL != PGMQ:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [INSTALL_LOCK])
        try:
            cursor.execute("SELECT to_regnamespace('pgmq') IS NOT NULL")
            if cursor.fetchone()[0]:
                return False
            # Every command would load its connection pool.
            from pgmq import install_pgmq_from_sql  # noqa: PLC0415

            info = connection.connection.info
            install_pgmq_from_sql(dsn=make_conninfo(info.dsn, password=info.password or None))
            cursor.execute(ENABLE_ONCE)
            return True
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [INSTALL_LOCK])
