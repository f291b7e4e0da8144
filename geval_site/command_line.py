"""The command line: `geval-site` where it is installed, `python manage.py` in a checkout."""

import os
import sys


def main() -> None:
    """Run a management command; commands are for this machine unless GEVAL_MODE says otherwise."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")
    os.environ.setdefault("GEVAL_MODE", "local")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    execute_from_command_line(sys.argv)
