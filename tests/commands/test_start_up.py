"""Commands that compute nothing load nothing heavy."""

import subprocess
import sys

from tests.conftest import CHECKOUT

HEAVY = {"numpy", "scipy", "openai", "plotly", "typst", "gepa", "celery"}


def test_the_version_is_said_without_heavy_packages() -> None:
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", "--version"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in said.stderr.splitlines()}

    assert "django" in loaded
    assert loaded & HEAVY == set()
