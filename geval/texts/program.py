"""How users call this site's commands, for messages; the only place with this rule.

`geval-site` where it is installed, `manage.py` in a checkout. A process that neither of them
started, such as a web server or worker, uses the name in its installation.
"""

import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

CHECKED_OUT, INSTALLED = "manage.py", "geval-site"


def program(started_as: str, *, checkout: Path = CHECKOUT) -> str:
    """Return the program's name, from how this process was started (`sys.argv[0]`)."""
    name = Path(started_as).name
    if name in {CHECKED_OUT, INSTALLED}:
        return name
    return CHECKED_OUT if (checkout / CHECKED_OUT).is_file() else INSTALLED


PROGRAM = program(sys.argv[0] if sys.argv else "")


def command(words: str) -> str:
    """Return a command as it is typed here: `command("judge PROJECT")`."""
    return f"{PROGRAM} {words}"
