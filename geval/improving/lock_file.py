"""Which documents are locked, and every look at them, in a file beside the data.

The first line is the draw. A look adds a line when it is taken, which counts it, and a second one
with what came out: lines are only ever added, so of two programs that take the last look at once,
the file's order says which has it. The file holds no text, no rating and no score of an output.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from geval.improving.ground import ImproveError
from geval.improving.locked_rule import (
    LEAST_SHARE,
    LOOKS,
    MOST_LOOKS,
    MOST_SHARE,
    SHARE,
    which_are_locked,
)
from geval.improving.proving import LookResult, all_looks_used

NAME = "locked.jsonl"


@dataclass(frozen=True)
class LockFile:
    """A draw of locked documents and the file that remembers it."""

    path: Path
    share: float
    seed: str
    looks_allowed: int
    locked_at: str

    def among(self, units: Sequence[str]) -> list[bool]:
        """Of each of some documents or sessions whether it is locked, by the rule of a site."""
        return which_are_locked(units, seed=self.seed, share=self.share)

    def looks(self) -> list[dict[str, Any]]:
        """The looks that were taken, each once, in the order in which they were; `result` is
        missing where a program was stopped before it had one."""
        looks: dict[str, dict[str, Any]] = {}
        for line in _lines(self.path)[1:]:
            looks.setdefault(line["question"], {}).update(line)
        # Those beyond were asked for at the same moment as the last one, and not given.
        return list(looks.values())[: self.looks_allowed]

    def look(
        self, question: str, about: dict[str, Any], answer: Callable[[], LookResult]
    ) -> LookResult:
        """Take a look, which counts from now on; the same question again gives the first look.

        Args:
            question: a digest of all that the answer depends on.
            about: what is asked, for people who read the file.

        Raises:
            ImproveError: all looks are used, or the file cannot be written.
        """
        taken = self._taken(question)
        if taken is None and len(self.looks()) < self.looks_allowed:
            self._add({"question": question, "at": _now(), **about})
            taken = self._taken(question)
        if taken is None:
            raise ImproveError(all_looks_used(self.looks_allowed))
        if "result" in taken:
            return LookResult(**taken["result"])
        result = answer()
        self._add({"question": question, "result": asdict(result)})
        return result

    def _taken(self, question: str) -> dict[str, Any] | None:
        return next((look for look in self.looks() if look["question"] == question), None)

    def _add(self, line: dict[str, Any]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise ImproveError(
                f"{self.path} cannot be written ({error.strerror}), so no look can be counted, and"
                " none is taken."
            ) from None


def lock_file(
    at: Path, units: Sequence[str], *, share: float | None = None, looks: int | None = None
) -> LockFile:
    """The locked documents that a file remembers; where there is none yet, they are drawn.

    The draw follows from the documents' names, so that a deleted file does not give another one.

    Args:
        at: the file, or its folder.
        units: names of all documents, or of sessions.
        share: of the documents, 0.4 by default.
        looks: that are allowed, 5 by default.

    Raises:
        ImproveError: a number is out of range, the draw has another, or the file cannot be read or
            written.
    """
    path = at / NAME if at.is_dir() else at
    if share is not None and not LEAST_SHARE <= share <= MOST_SHARE:
        raise ImproveError(f"Lock a share from {LEAST_SHARE:g} to {MOST_SHARE:g}.")
    if looks is not None and not 1 <= looks <= MOST_LOOKS:
        raise ImproveError(f"Allow 1 to {MOST_LOOKS} looks.")
    draw = {
        "share": SHARE if share is None else share,
        "seed": hashlib.sha256("\0".join(sorted(units)).encode()).hexdigest()[:16],
        "looks_allowed": LOOKS if looks is None else looks,
        "locked_at": _now(),
    }
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(json.dumps(draw) + "\n")
    except FileExistsError:
        pass
    except OSError as error:
        raise ImproveError(f"{path} cannot be written ({error.strerror}).") from None
    lock = _lock_in(path)
    for given, drawn, name in (
        (share, lock.share, "share"),
        (looks, lock.looks_allowed, "looks"),
    ):
        if given is not None and given != drawn:
            raise ImproveError(
                f"{path} has locked documents already, with {name}={drawn:g}. They stay as they"
                f" are: a new draw would let in what was learned from the first. Leave {name} out."
            )
    return lock


def _lock_in(path: Path) -> LockFile:
    try:
        draw = _lines(path)[0]
        return LockFile(
            path,
            float(draw["share"]),
            str(draw["seed"]),
            int(draw["looks_allowed"]),
            str(draw["locked_at"]),
        )
    except (IndexError, KeyError, TypeError, ValueError):
        raise ImproveError(_no_lock(path, 1)) from None


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ImproveError(f"{path} cannot be read.") from None
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            content = json.loads(line)
        except ValueError:
            content = None
        if not isinstance(content, dict) or (number > 1 and "question" not in content):
            raise ImproveError(_no_lock(path, number))
        lines.append(content)
    return lines


def _no_lock(path: Path, line: int) -> str:
    return f"{path}, line {line}: this is no record of locked documents. Name another file."


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
