"""Start a Celery worker, once it has a usable database."""

from typing import Any

from celery.signals import worker_init
from django.conf import settings
from django.core.management import CommandError
from django.db import Error as DatabaseError
from django.db import connections

from evaluations.management.base import bring_up_to_date
from geval_site.databases import EMBEDDED
from geval_site.embedded.errors import EmbeddedServerError
from geval_site.poolers import pooler_advice


@worker_init.connect
def _prepare_database(**_kwargs: Any) -> None:
    """Start the embedded PostgreSQL, which has the queue, and create its tables; check that an
    external database's pooler is usable. An unavailable database is waited for later, as during the
    worker's life.

    Raises:
        SystemExit: the database does not start, its tables are not those of this version, or its
            pooler is not usable; the message says what to do.
    """
    database = settings.DATABASES["default"]
    if database["ENGINE"] != EMBEDDED:
        if advice := pooler_advice():
            raise SystemExit("\n".join(advice))
        return
    try:
        bring_up_to_date()
    except CommandError as error:
        raise SystemExit(str(error)) from None
    except (EmbeddedServerError, DatabaseError, OSError) as error:
        raise SystemExit(
            f"The embedded PostgreSQL in {settings.DATA_DIR} does not start: {error}\nStart the"
            " worker as the user who runs the site, with the same GEVAL_DATA_DIR, or set"
            " DATABASE_URL."
        ) from None
    finally:
        connections.close_all()  # the worker's processes open their own connections
