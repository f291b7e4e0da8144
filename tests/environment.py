"""What the tests run in, set before Django reads its settings: a data folder of their own, removed
at the end.

Loaded with `-p tests.environment`; workers of pytest-xdist inherit it from the process that starts
them.
"""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

# A shell's background jobs are started deaf to Ctrl-C, and would pass that on to the commands that
# tests interrupt.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.setdefault("GEVAL_MODE", "local")
# Tests ask one after the other, as fast as they can. A day, because a page asks the database once
# more where a new window begins, and some tests count what a page asks.
os.environ.setdefault("GEVAL_REQUEST_RATE", "1000000/d")
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "GEVAL_MODEL"):
    os.environ.pop(name, None)

if "GEVAL_TEST_DATA_DIR" not in os.environ:
    folder = Path(tempfile.mkdtemp(prefix="geval-tests-"))
    folder.chmod(0o755)  # as root the embedded server runs as a user of its own, who has to get in
    os.environ["GEVAL_TEST_DATA_DIR"] = str(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
os.environ["GEVAL_DATA_DIR"] = os.environ["GEVAL_TEST_DATA_DIR"]
# Each pytest worker has a database of its own, so each needs a queue of its own where the broker is
# shared.
session = zlib.crc32(os.environ["GEVAL_TEST_DATA_DIR"].encode())
os.environ["GEVAL_QUEUE"] = f"t{session:08x}_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
(Path(os.environ["GEVAL_DATA_DIR"]) / "static").mkdir(
    exist_ok=True
)  # WhiteNoise warns where it is missing
_MAKE = "import django; django.setup(); from tests.database import use_template; use_template()"
_making: list[subprocess.Popen[bytes]] = []


def pytest_configure(config: Any) -> None:
    """Have the template of the test databases made while workers still collect the tests."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        checkout = Path(__file__).resolve().parents[1]
        settings = {"DJANGO_SETTINGS_MODULE": "tests.site_settings"}
        _making.append(
            subprocess.Popen([sys.executable, "-c", _MAKE], cwd=checkout, env=os.environ | settings)
        )


def pytest_unconfigure() -> None:
    for process in _making:
        process.wait()
