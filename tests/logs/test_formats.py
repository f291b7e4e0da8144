"""The log is JSON in production and readable on a terminal; the settings are checked."""

import json
import logging
import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from geval_site import environment, logs
from tests.conftest import CHECKOUT
from tests.settings.test_production import COMPLETE

LOG = """
import logging, structlog, django
django.setup()
structlog.stdlib.get_logger("evaluations.x").info("run paused", run=3, message="Two\\nlines")
structlog.stdlib.get_logger("evaluations.x").debug("not shown")
logging.getLogger("openai").info("not shown")
logging.getLogger("celery.worker").warning("lost %s", "a broker")
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("django.request").exception("Internal Server Error: %s", "/")
"""


GUNICORN = """
from gunicorn.config import Config
from geval_site.web_log import WebLogger
WebLogger(Config()).error("Error handling request %s", "/shared/a-token/?page=2")
"""


def logged(code: str = LOG, **settings: str) -> list[str]:
    kept = {name: os.environ[name] for name in ("PATH", "GEVAL_DATA_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=True,
        env=kept | {"DJANGO_SETTINGS_MODULE": "geval_site.settings"} | settings,
    )  # fmt: skip
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    "settings", [COMPLETE, {"GEVAL_MODE": "local", "GEVAL_LOG_FORMAT": "json"}]
)
def test_json_has_one_object_per_line(settings: dict[str, str]) -> None:
    read = [json.loads(line) for line in logged(**settings)]

    assert [(line["level"], line["event"]) for line in read] == [
        ("info", "run paused"),
        ("warning", "lost a broker"),
        ("error", "Internal Server Error: /"),
    ]
    assert (read[0]["run"], read[0]["message"]) == (3, "Two\\nlines")
    assert read[2]["exception"].endswith("ZeroDivisionError")


def test_the_web_server_writes_the_same_lines() -> None:
    (line,) = [json.loads(line) for line in logged(GUNICORN, GEVAL_MODE="production")]

    assert line["event"] == "Error handling request /shared/…"
    assert line["logger"] == "gunicorn.error"


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "ERROR"])
def test_other_packages_never_log_what_they_send(level: str) -> None:
    configured = logs.configure(level=level, style="json")

    assert configured["root"]["level"] == ("ERROR" if level == "ERROR" else "WARNING")
    assert configured["loggers"]["evaluations"] == {"level": level}
    assert logging.getLogger("openai").getEffectiveLevel() >= logging.WARNING


@pytest.mark.parametrize("written", ["-1", "nan", "inf", "2 s"])
def test_other_thresholds_are_refused(written: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"X is .* a number of seconds"):
        environment.seconds("X", default=2, env={"X": written})
