"""Start a Celery worker: the embedded PostgreSQL and its tables come first."""

from typing import Any

from celery.signals import worker_init
from django.conf import settings
from django.core.management import CommandError
from django.db import Error as DatabaseError
from django.db import connections

from evaluations.management.base import bring_up_to_date
from geval_site.databases import EMBEDDED
from geval_site.embedded.errors import EmbeddedServerError


@worker_init.connect
def _start_embedded_database(**_kwargs: Any) -> None:
    """Start the embedded PostgreSQL, which has the queue, and create its tables.

    Raises:
        SystemExit: it does not start, or its tables are not those of this version; the message says
            what to do.
    """
    if settings.DATABASES["default"]["ENGINE"] != EMBEDDED:
        return  # an external server is waited for, as during the worker's life
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
