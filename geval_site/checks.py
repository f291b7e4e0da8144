"""Checks of `manage.py check --deploy`: demo accounts and unconfigured proxies."""

from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import Error as DatabaseError

from geval_site.demo_logins import PASSWORDS


@register(Tags.security, deploy=True)
def demo_accounts(**_kwargs: Any) -> list[CheckMessage]:
    """Warn about demo accounts that still have public passwords. There is no warning without a
    reachable database."""
    try:
        users = list(get_user_model().objects.filter(username__in=PASSWORDS))
    except DatabaseError:
        return []
    accounts = [
        user.get_username() for user in users if user.check_password(PASSWORDS[user.get_username()])
    ]
    if not accounts:
        return []
    names = ", ".join(sorted(accounts))
    return [
        Warning(
            f"Accounts of the demo are in this database: {names}. Their passwords are in the"
            " README.",
            hint=(
                "They do not work in production. Delete the accounts and the demo project on the "
                "admin pages."
            ),
            id="geval_site.W001",
        )
    ]


@register(Tags.security, deploy=True)
def proxies_are_counted(**_kwargs: Any) -> list[CheckMessage]:
    """Warn about a proxy that is not configured, behind which every visitor has the proxy's
    address."""
    if settings.SECURE_PROXY_SSL_HEADER is None or settings.PROXIES:
        return []
    return [
        Warning(
            "GEVAL_BEHIND_PROXY is set and GEVAL_PROXIES is 0: all visitors count as one, for "
            "limits and lockouts.",
            hint=(
                "Set GEVAL_PROXIES to the number of your proxies, and let each add to"
                " X-Forwarded-For."
            ),
            id="geval_site.W002",
        )
    ]
