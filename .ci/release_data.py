"""`make release-data`: what tests keep of a release, so that every later version migrates it.

Writes tests/data/VERSION.sql.gz, the demo project's database as this version leaves it, and
VERSION.report.json.gz, the report that this version makes of it. Run it on the commit that is
released, before its tag, and commit both files.
"""

import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))

from geval_site.embedded.paths import DATABASE, USER, socket_dir  # noqa: E402
from geval_site.embedded.programs import packaged_programs  # noqa: E402
from geval_site.embedded.server import embedded_server  # noqa: E402
from geval_site.version import __version__  # noqa: E402


def main(target: Path) -> int:
    with tempfile.TemporaryDirectory(prefix="geval-release-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root, PostgreSQL runs under another account
        manage(folder, "demo", "--no-serve")
        # The demo alone: the other project would make the file six times as large.
        manage(folder, "delete_project", "three-answers", "--confirm", "three-answers")
        server = embedded_server(folder)
        server.ensure_running()
        try:
            report = manage(folder, "report", "demo", "--format", "json")
            dump = dump_of(folder)
        finally:
            server.release()
    for kind, text in (("sql", dump), ("report.json", report)):
        path = target / f"{__version__}.{kind}.gz"
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


def manage(folder: Path, *arguments: str) -> str:
    """What a command of this checkout prints, on a site in a folder."""
    kept = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT, env={**kept, "GEVAL_MODE": "local", "GEVAL_DATA_DIR": str(folder)},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def dump_of(folder: Path) -> str:
    """The database as SQL that any connection can run, on any supported server."""
    done = subprocess.run(
        [packaged_programs() / "pg_dump", "--inserts", "--rows-per-insert=200", "--no-owner",
         "--no-privileges", "--no-comments", "--exclude-schema=pgmq",
         "--host", socket_dir(folder), "--username", USER, DATABASE],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    left_out = ("\\restrict", "\\unrestrict", "SET transaction_timeout")
    lines = done.stdout.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(left_out))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "tests" / "data"))
