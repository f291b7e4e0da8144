"""Recognise a full disk, the site's or the database's, and tell users about it."""

import errno

from django.db import Error as DatabaseError

FULL = (
    "The site's disk is full, so nothing was stored. Ask the administrator to free some space, "
    "then try again."
)
# https://www.postgresql.org/docs/current/errcodes-appendix.html
POSTGRESQL_DISK_FULL = "53100"


def is_disk_full(error: BaseException) -> bool:
    if isinstance(error, DatabaseError):
        return getattr(error.__cause__, "sqlstate", None) == POSTGRESQL_DISK_FULL
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
