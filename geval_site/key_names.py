"""Endpoint keys are read only from environment variables that the operator lists."""

import re
from collections.abc import Iterable

from django.core.exceptions import ImproperlyConfigured

# Any variable but the site's own: the default on one's own machine.
ANY = frozenset({"*"})
# Variables of the site, its database and its processes. A user's endpoint never gets them, even
# with a wrong setting.
_OWN = re.compile(
    r"(GEVAL|CELERY|DJANGO|PG|POSTGRES|RABBITMQ|PYTHON|LD|GUNICORN)(_.*)?|PG[A-Z]+|PYTHON[A-Z]+|DATABASE_URL|SECRET_KEY"
    r"|PATH|HOME|USER|SHELL|PWD|HOSTNAME",
    re.I,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def key_names(listed: Iterable[str]) -> frozenset[str]:
    """Return the names in `GEVAL_ENDPOINT_KEYS`.

    Raises:
        ImproperlyConfigured: a name is invalid, or is a variable that the site itself uses.
    """
    names = frozenset(listed)
    for name in sorted(names):
        if not _NAME.fullmatch(name):
            raise ImproperlyConfigured(
                f"GEVAL_ENDPOINT_KEYS has {name!r}, which is not a variable's name."
            )
        if _OWN.fullmatch(name):
            raise ImproperlyConfigured(
                f"GEVAL_ENDPOINT_KEYS has {name}, which this site itself uses: users could have it "
                "sent to their own server. Remove it, and keep each endpoint's key in a separate "
                "variable."
            )
    return names


def why_not_allowed(name: str, allowed: Iterable[str]) -> str:
    """Return why an endpoint's key is not read from a variable, and what to do; empty if it may
    be."""
    names = sorted(allowed)
    takes_any = ANY.issubset(names)
    is_own = _OWN.fullmatch(name)
    if not name or (_NAME.fullmatch(name) and not is_own and (takes_any or name in names)):
        return ""
    if is_own:
        return (
            f"{name} is one of this site's own variables, which are never sent to endpoints. Enter "
            "the key itself."
        )
    if takes_any:
        return f"{name[:100]!r} is not a variable's name."
    instead = f"The names allowed here are {', '.join(names)}. " if names else ""
    return (
        f"Keys are not read from the variable {name} on this site. {instead}"
        "Enter the key itself, or ask the administrator to allow the name in GEVAL_ENDPOINT_KEYS."
    )
