"""How much memory a process and its children hold, sampled while something goes on."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Watched:
    """`most` is the largest sum of resident memory seen, in bytes."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.most = 0

    def look(self) -> None:
        self.most = max(self.most, sum(_resident(pid) for pid in family(self.pid)))


@contextmanager
def watched_memory(pid: int, *, every: float = 0.05) -> Iterator[Watched]:
    watched, ended = Watched(pid), threading.Event()

    def watch() -> None:
        while not ended.wait(every):
            watched.look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield watched
    finally:
        ended.set()
        thread.join()


def family(pid: int) -> list[int]:
    """A process and all that descend from it, as far as they still live."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int(
                (folder / "stat").read_text().rsplit(") ", 1)[1].split()[1]
            )
        except (OSError, IndexError):
            continue
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _resident(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):  # what processes share counts once
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
