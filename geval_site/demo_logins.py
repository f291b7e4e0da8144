"""Names and passwords of the demo, which everybody knows: for a machine of one's own, and for
nothing else."""

from django.conf import settings

PASSWORDS = {"ada": "demo-ada", "ben": "demo-ben", "vera": "demo-vera", "ann": "demo-ann"}


def is_refused(username: str, password: str) -> bool:
    """Whether somebody signs in to a production site as the README says of the demo."""
    return bool(settings.PRODUCTION) and PASSWORDS.get(username) == password
