"""compose.yaml, systemd's units and Kubernetes' manifests are well-formed, and name the commands,
settings and folders that there are."""

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

DEPLOY = CHECKOUT / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.*"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
COMPOSE = (CHECKOUT / "compose.yaml").read_text()
# systemd's own scale: 0 is locked up, 10 is a process of root that may do everything.
MOST_EXPOSED = 2.0


def validator(name: str) -> str:
    folder = os.environ.get("GEVAL_VALIDATORS", "")
    found = shutil.which(name, path=folder)
    if not found:
        pytest.skip(f"{name} is not installed; `make test-image` installs it")
    return found


def needs_systemd() -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is missing; on Debian: apt-get install systemd")


def said_by(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_compose_file_follows_the_specification() -> None:
    said_by(
        validator("check-jsonschema"), "--builtin-schema", "vendor.compose-spec",
        CHECKOUT / "compose.yaml",
    )  # fmt: skip


def test_every_variable_of_the_compose_file_is_in_the_example() -> None:
    example = (CHECKOUT / ".env.example").read_text()
    explained = set(re.findall(r"^#?([A-Z_]+)=", example, re.M))
    used = set(re.findall(r"\$\{([A-Z_]+)", COMPOSE + (DEPLOY / "Caddyfile").read_text()))
    required = set(re.findall(r"\$\{([A-Z_]+):\?", COMPOSE))

    assert used <= explained
    assert required <= set(re.findall(r"^([A-Z_]+)=", example, re.M))
    assert all(line.startswith("#") for line in before_settings(example))


def before_settings(example: str) -> list[str]:
    """The line above each setting, which explains it."""
    lines = example.splitlines()
    return [lines[at - 1] for at, line in enumerate(lines) if re.match(r"#?[A-Z_]+=", line)]


@cache
def settings_of_the_site() -> set[str]:
    table = (CHECKOUT / "docs" / "settings.md").read_text()
    return set(re.findall(r"^\| `([A-Z_]+)` \|", table, re.M))


@pytest.mark.parametrize(
    "path",
    [CHECKOUT / "compose.yaml", CHECKOUT / ".env.example", *MANIFESTS, *UNITS],
    ids=lambda path: path.name,
)
def test_every_setting_of_ours_exists(path: Path) -> None:
    named = set(re.findall(r"\b(GEVAL_[A-Z_]+)\b", path.read_text()))
    of_compose = {"GEVAL_IMAGE", "GEVAL_WEB_WORKERS", "GEVAL_RUNS_AT_ONCE"}

    assert named - settings_of_the_site() - of_compose == set()


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_the_manifests_follow_the_schemas_of_kubernetes(path: Path) -> None:
    assert "passed" in said_by(validator("kubernetes-validate"), "--strict", path)


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The units, with a program that exists on every machine instead of the site's."""
    folder = tmp_path_factory.mktemp("units")
    for path in UNITS:
        text = path.read_text().replace("/opt/geval-site/bin/geval-site", "/bin/true")
        (folder / path.name).write_text(text)
    return folder


@pytest.mark.parametrize("name", [path.name for path in UNITS])
def test_systemd_understands_the_unit(units: Path, name: str) -> None:
    needs_systemd()
    instance = name.replace("@.", "@runs.")  # `verify` takes what follows a colon for an alias

    said = said_by(
        "systemd-analyze", "verify", "--man=no", units / instance, SYSTEMD_UNIT_PATH=f"{units}:"
    )

    assert [line for line in said.splitlines() if "geval" in line] == []


@pytest.mark.parametrize("path", [one for one in UNITS if one.suffix == ".service"], ids=str)
def test_a_service_is_locked_up(path: Path) -> None:
    needs_systemd()
    threshold = str(int(MOST_EXPOSED * 10))

    said_by(
        "systemd-analyze", "security", "--offline=yes", "--no-pager",
        f"--threshold={threshold}", path,
    )  # fmt: skip


def test_all_jobs_have_a_worker_wherever_the_site_is_deployed() -> None:
    texts = {
        "compose": COMPOSE,
        "kubernetes": (DEPLOY / "kubernetes" / "workers.yaml").read_text(),
        "systemd": (DEPLOY / "systemd" / "geval-site-worker@.service").read_text(),
    }
    found = {
        name: sorted(
            job
            for jobs in re.findall(r'(?:--jobs, "?|worker@)([a-z]+(?:[,:][a-z]+)*)\b', text)
            for job in re.split("[,:]", jobs)
        )
        for name, text in texts.items()
    }

    expected = ["quick", "reports", "runs", "uploads", "webhooks"]
    assert found == dict.fromkeys(texts, expected)
