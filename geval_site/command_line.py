"""The command line: `geval-site` where it is installed, `python manage.py` in a checkout."""

import os
import sys


def main() -> None:
    """Run a management command; commands are for this machine unless GEVAL_MODE says otherwise."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")
    os.environ.setdefault("GEVAL_MODE", "local")
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads the output, such as `head`, has enough; the exit flushes into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)  # as a program that SIGPIPE ends
