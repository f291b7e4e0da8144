"""The demo's public names and passwords: for local use only."""

from django.conf import settings

PASSWORDS = {"ada": "demo-ada", "ben": "demo-ben", "vera": "demo-vera", "ann": "demo-ann"}


def is_refused(username: str, password: str) -> bool:
    """Whether this is the demo's published login on a production site."""
    return bool(settings.PRODUCTION) and PASSWORDS.get(username) == password
