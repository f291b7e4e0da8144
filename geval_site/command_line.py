"""The command line: `geval-site` where it is installed, `python manage.py` in a checkout."""

import os
import sys
from importlib.util import find_spec

from geval.command_line import COMMANDS, ON_A_SITE, is_for
from geval.command_line import main as without_a_site
from geval_site.embedded.paths import EmbeddedServerError

WITHOUT_A_SITE = (
    f"Installed without what a site needs, so there are only: {', '.join(COMMANDS)} (each takes"
    f" --help), and with --site: {', '.join(ON_A_SITE)}. For a site: pip install"
    " 'geval-site[site]'."
)


def main() -> None:
    """Run a command: one that needs no site, or a management command, which uses local mode unless
    GEVAL_MODE says otherwise. Ctrl-C ends it without a traceback."""
    try:
        _run()
    except KeyboardInterrupt:
        sys.exit(130)  # like a program ended by SIGINT


def _run() -> None:
    has_site = find_spec("django") is not None
    if is_for(sys.argv[1:]) or (not has_site and set(sys.argv[1:2]) & set(COMMANDS)):
        sys.exit(without_a_site(sys.argv[1:]))
    if not has_site:
        sys.exit(WITHOUT_A_SITE)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "geval_site.settings")
    os.environ.setdefault("GEVAL_MODE", "local")
    try:
        _execute(sys.argv)
        sys.stdout.flush()
    except EmbeddedServerError as error:
        sys.exit(str(error))
    except BrokenPipeError:
        # The reader of the output, such as `head`, has enough; flush nothing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)  # like a program ended by SIGPIPE


def _execute(arguments: list[str]) -> None:
    import django  # noqa: PLC0415 (settings are read once the environment names them)
    from django.core.management import execute_from_command_line  # noqa: PLC0415

    if arguments[1:] in ([], ["help"], ["--help"], ["-h"]):
        django.setup()
        from geval_site.command_help import help_text  # noqa: PLC0415

        sys.stdout.write(f"{help_text()}\n")
    elif arguments[1:] == ["help", "--all"]:
        execute_from_command_line([*arguments[:1], "help"])
    else:
        execute_from_command_line(arguments)
