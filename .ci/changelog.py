"""Print the changelog's section of a version, which has to be the version of this checkout."""

import re
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]


def section(changelog: str, version: str) -> str:
    """The lines under the heading of a version, without it.

    Raises:
        ValueError: there is no such heading, or nothing under it.
    """
    heading = rf"^## \[?{re.escape(version)}\]?( - \d{{4}}-\d\d-\d\d)?\n"
    found = re.search(heading + r"(?P<text>.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if found is None or not found["text"].strip():
        raise ValueError(f"CHANGELOG.md has no section about {version}; write one, then tag again.")
    return found["text"].strip() + "\n"


def main() -> None:
    version = sys.argv[1]
    own = re.search(r'__version__ = "(.+)"', (CHECKOUT / "geval_site/version.py").read_text())
    if own is None or own[1] != version:
        sys.exit(
            f"The tag says {version}, geval_site/version.py {own and own[1]}; make them equal."
        )
    try:
        sys.stdout.write(section((CHECKOUT / "CHANGELOG.md").read_text(), version))
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
