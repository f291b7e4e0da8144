"""`make bench-start`: how long commands take to start, what the library costs
(`benchmarks/library.py`), and what a web worker holds before its first request.

Times depend on the machine and are only printed beside their goal; memory does not, and fails.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.library import print_figures
from benchmarks.site import CHECKOUT, temporary_site

COMMAND_SECONDS, WORKER_MB = 0.6, 120
REPEATS = 9


def command_seconds() -> float:
    """The median time of `manage.py --version`."""
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "manage.py", "--version"],
            cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def below(pid: int) -> list[int]:
    """A process's children, with theirs."""
    return [one for child in children_of(pid) for one in (child, *below(child))]


def megabytes(pid: int) -> float:
    """What a process holds in memory; pages that several share count by parts (PSS)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("Pss:"))


def worker_megabytes() -> float:
    """The largest web worker, once it waits for requests."""
    from evaluations.management.commands.serve import open_site
    from geval_site.processes import Processes

    with Processes() as processes:
        open_site(processes, port=8178)
        time.sleep(10)
        names = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in below(os.getpid())}
        servers = {pid for pid, name in names.items() if b"gunicorn" in name}
        workers = {pid for pid in servers if not set(below(pid)) & servers}
        return max(megabytes(pid) for pid in workers)


def main() -> None:
    seconds = command_seconds()
    print(
        f"manage.py --version: {seconds:.2f} s (wanted: at most {COMMAND_SECONDS}, ratio"
        f" {seconds / COMMAND_SECONDS:.2f})"
    )
    is_small = print_figures()
    with temporary_site():
        held = worker_megabytes()
    print(
        f"a web worker before its first request: {held:.0f} MB (goal: at most {WORKER_MB}, ratio"
        f" {held / WORKER_MB:.2f})"
    )
    if held > WORKER_MB:
        sys.exit("A web worker holds more than its goal.")
    if not is_small:
        sys.exit("The library is larger than its goal.")


if __name__ == "__main__":
    main()
