"""A full disk, ours or the database's: somebody has to make room, and until then people are told
so."""

import errno

from django.db import Error as DatabaseError

FULL = (
    "The site's disk is full, so nothing was stored. Ask its administrator to make room, then try"
    " again."
)
# https://www.postgresql.org/docs/current/errcodes-appendix.html
POSTGRESQL_DISK_FULL = "53100"


def is_disk_full(error: BaseException) -> bool:
    if isinstance(error, DatabaseError):
        return getattr(error.__cause__, "sqlstate", None) == POSTGRESQL_DISK_FULL
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
