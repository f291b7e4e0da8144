"""Production settings are safe by default, and what is missing is said before anything starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT
from tests.processes import run_to_its_end

pytestmark = pytest.mark.processes
COMPLETE = {
    "GEVAL_MODE": "production",
    "GEVAL_SECRET_KEY": "a-long-random-text-of-more-than-fifty-characters-1234567890",
    "GEVAL_HOSTS": "scores.example.org",
    "DATABASE_URL": "postgresql://user@db.example.org/geval",
}


def without_ours(environment: dict[str, str]) -> dict[str, str]:
    """An environment as a service has it: nothing of the tests' own but the folder."""
    return {name: os.environ[name] for name in ("PATH", "GEVAL_DATA_DIR")} | environment


def manage(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run_to_its_end("manage.py", *arguments, env=without_ours(environment), timeout=60)


def setting(expression: str, **environment: str) -> str:
    code = f"from django.conf import settings; print({expression})"
    done = run_to_its_end(
        "-c",
        code,
        env=without_ours({"DJANGO_SETTINGS_MODULE": "geval_site.settings"} | environment),
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.slow
def test_djangos_own_deployment_check_finds_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=CHECKOUT, env=without_ours(COMPLETE), capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"GEVAL_SECRET_KEY": ""}, "GEVAL_SECRET_KEY is not set"),
        ({"GEVAL_HOSTS": ""}, "GEVAL_HOSTS is not set"),
        ({"DATABASE_URL": ""}, "DATABASE_URL is not set"),
        ({"GEVAL_DEBUG": "1"}, "GEVAL_DEBUG=1 shows settings to visitors"),
        ({"GEVAL_MODE": "prod"}, "one of local, production"),
    ],
)
def test_what_is_missing_or_unsafe_is_refused(change: dict[str, str], said: str) -> None:
    done = manage("check", **COMPLETE | change)

    assert done.returncode != 0
    assert said in done.stderr


def test_the_mode_is_production_unless_it_is_said_otherwise() -> None:
    environment = {name: value for name, value in COMPLETE.items() if name != "GEVAL_MODE"}

    shown = (
        "settings.MODE, settings.DEBUG, settings.SESSION_COOKIE_SECURE,"
        " settings.SECURE_SSL_REDIRECT"
    )
    assert setting(shown, **environment) == "production False True True"


def test_local_mode_shows_no_debug_pages_either_and_keeps_its_secret(tmp_path: Path) -> None:
    local = {"GEVAL_MODE": "local", "GEVAL_DATA_DIR": str(tmp_path)}

    first, second = (setting("settings.DEBUG, settings.SECRET_KEY", **local) for _ in range(2))

    assert first == second
    assert first.startswith("False ")
    assert len(first) > 50
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


def test_the_demo_is_not_made_on_a_production_site(
    manage: object, database_url: str, db: None
) -> None:
    done = manage(  # type: ignore[operator]
        "demo", "--no-serve", **COMPLETE | {"DATABASE_URL": database_url}
    )

    assert done.returncode == 1
    assert "well-known passwords" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hides processes")
@pytest.mark.parametrize(
    ("module", "mode", "dumpable"),
    [
        ("geval_site.settings", "production", "0"),
        ("geval_site.web_server", "production", "0"),
        ("geval_site.settings", "local", "1"),
    ],
)
def test_no_other_process_reads_the_environment_of_a_production_site(
    module: str, mode: str, dumpable: str
) -> None:
    code = f"import ctypes, {module}; print(ctypes.CDLL(None).prctl(3))"
    done = run_to_its_end("-c", code, env=without_ours(COMPLETE | {"GEVAL_MODE": mode}), timeout=60)

    assert done.stdout.split()[-1:] == [dumpable], done.stderr
