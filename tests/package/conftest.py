"""The wheel, built from the sdist, and installed into new environments outside the checkout."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import conftest as chromium
from tests.conftest import CHECKOUT
from tests.sites_of_their_own import temporary_folder

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
# What decides about packages and the network is the machine's; nothing else of ours is handed on.
HANDED_ON = re.compile(r"PIP_\w+|SSL_\w+|\w+_proxy|\w+_PROXY|REQUESTS_CA_BUNDLE|LANG")
BUILD_SDIST = "from setuptools import build_meta; import sys; build_meta.build_sdist(sys.argv[1])"


def outside() -> dict[str, str]:
    """An environment that knows nothing of the checkout."""
    kept = {name: value for name, value in os.environ.items() if HANDED_ON.fullmatch(name)}
    return kept | {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}


def run(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=outside(), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def others_may_use(program: Path) -> bool:
    """Whether every user can run it, so that none of its folders is private."""
    return all(place.stat().st_mode & 0o001 for place in (program, *program.parents))


@cache
def interpreter(version: str) -> Path | None:
    """A Python of this version on this machine; one that every user can run, if there is one."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    # A version that pyenv has installed but not switched on.
    folders += Path(os.environ.get("PYENV_ROOT", "/nowhere")).glob(f"versions/{version}.*/bin")
    folders.append(Path(sys.executable).parent)
    found = [folder / f"python{version}" for folder in folders]
    found = [path for path in found if path.exists()]
    # Shims of version managers are scripts that may have nothing behind them.
    real = []
    for path in found:
        asked = [path, "-c", "import ensurepip, venv, sys; print(sys.base_prefix)"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            real.append(Path(done.stdout.strip()) / "bin" / f"python{version}")
    return next((path for path in real if others_may_use(path)), real[0] if real else None)


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    with temporary_folder() as folder:
        yield folder


@pytest.fixture(scope="session")
def wheel(folder: Path) -> Path:
    """Built from the sdist in an environment of its own, as package managers do."""
    files = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=CHECKOUT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    source = folder / "source"
    for name in filter(None, files):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if (CHECKOUT / name).is_file():
            shutil.copy(CHECKOUT / name, source / name)
    run(sys.executable, "-c", BUILD_SDIST, folder, cwd=source)
    shutil.rmtree(source)
    (sdist,) = folder.glob("*.tar.gz")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, sdist, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(folder: Path, wheel: Path) -> Callable[[str], Path]:
    """`pip install 'geval-site[local,site]'` with a Python; returns its programs' folder."""

    @cache
    def install(version: str) -> Path:
        python = interpreter(version)
        if python is None:
            pytest.skip(f"there is no Python {version} on this machine")
        place = folder / f"python{version}"
        run(python, "-m", "venv", place, cwd=folder)
        constraints = CHECKOUT / "constraints.txt"
        site = f"{wheel}[local,site]"
        run(place / "bin" / "pip", "install", "-c", constraints, site, cwd=folder)
        return place / "bin"

    return install


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    yield from chromium.browser.__wrapped__()  # type: ignore[attr-defined]
