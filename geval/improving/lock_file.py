"""The locked documents and every look at them, in a file next to the data.

The first line is the draw. A look adds a line when it is taken, which counts it, and a second one
with its result: lines are only appended, so if two programs take the last look at the same time,
the file's order decides which gets it. The file contains no text, rating or score of an output.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from geval.improving.ground import ImproveError
from geval.improving.proving import LookResult, all_looks_used
from geval.statistics.locked_rule import (
    LEAST_SHARE,
    LOOKS,
    MOST_LOOKS,
    MOST_SHARE,
    SHARE,
    locked_flags,
)

NAME = "locked.jsonl"
_RESULT = TypeAdapter(LookResult)


class LockFile(BaseModel):
    """A draw of locked documents, which is the first line of its file."""

    model_config = ConfigDict(strict=True, frozen=True)

    path: Path = Field(exclude=True)
    share: float = Field(ge=LEAST_SHARE, le=MOST_SHARE)
    seed: str
    looks_allowed: int = Field(ge=1, le=MOST_LOOKS)
    locked_at: str
    by_group: bool = False

    def among(self, units: Sequence[str], groups: Sequence[str] = ()) -> list[bool]:
        """Return for each document or session, with its group if any has one, whether it is
        locked, by the rule of a site."""
        return locked_flags(units, groups, seed=self.seed, share=self.share, by_group=self.by_group)

    def looks(self) -> list[dict[str, Any]]:
        """Return the looks that were taken, in order, without repetitions; `result` is missing if a
        program was stopped before it had one."""
        looks: dict[str, dict[str, Any]] = {}
        for line in _read(self.path)[1]:
            looks.setdefault(line["question"], {}).update(line)
        # Extra looks without a result were requested at the same time as the last one, and refused;
        # those with a result were taken in another copy of the file.
        return [
            look
            for number, look in enumerate(looks.values())
            if number < self.looks_allowed or "result" in look
        ]

    def kept(self) -> "LockFile":
        """Return the same draw, saved to its file if it was not yet.

        Raises:
            ImproveError: the file cannot be written, or another draw was saved there in the
                meantime.
        """
        draw = self.model_dump(exclude_defaults=True)
        try:
            if not self.path.exists():
                _create(self.path, json.dumps(draw) + "\n")
        except FileExistsError:
            pass
        except OSError as error:
            raise ImproveError(f"{self.path} cannot be written ({error.strerror}).") from None
        lock, _looks = _read(self.path)
        if lock.model_copy(update={"locked_at": self.locked_at}) != self:
            raise ImproveError(f"Somebody else just locked documents in {self.path}; try again.")
        return lock

    def look(
        self, question: str, about: dict[str, Any], answer: Callable[[], LookResult]
    ) -> LookResult:
        """Take a look, which counts from now on; repeating the question returns the first look.

        Args:
            question: a digest of everything that the answer depends on.
            about: the question, for people who read the file.

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
            earlier: LookResult = taken["result"]
            return earlier
        result = answer()
        self._add({"question": question, "result": asdict(result)})
        return result

    def _taken(self, question: str) -> dict[str, Any] | None:
        return next((look for look in self.looks() if look["question"] == question), None)

    def _add(self, line: dict[str, Any]) -> None:
        try:
            with self.path.open("ab+") as file:
                file.seek(-1, os.SEEK_END)
                start = b"" if file.read(1) == b"\n" else b"\n"  # as an editor left it
                file.write(start + json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise ImproveError(
                f"{self.path} cannot be written ({error.strerror}), so no look can be counted, and"
                " none is taken."
            ) from None


def lock_file(
    at: Path,
    units: Sequence[str],
    *,
    by_group: bool = False,
    share: float | None = None,
    looks: int | None = None,
) -> LockFile:
    """Return the locked documents of a file; if there is none yet, draw them, and `kept` creates
    it.

    The draw is determined by all documents' names: deleting the file does not give another draw,
    unless documents were added or removed.

    Args:
        at: the file, or its folder.
        units: names of all documents, or of sessions.
        by_group: whether those of a group are locked together, when they are drawn.
        share: the share of documents, 0.4 by default.
        looks: the number of allowed looks, 5 by default.

    Raises:
        ImproveError: a number is out of range or differs from the draw's, or the file cannot be
            read.
    """
    path = at / NAME if at.is_dir() else at
    if share is not None and not LEAST_SHARE <= share <= MOST_SHARE:
        raise ImproveError(f"Lock a share from {LEAST_SHARE:g} to {MOST_SHARE:g}.")
    if looks is not None and not 1 <= looks <= MOST_LOOKS:
        raise ImproveError(f"Allow 1 to {MOST_LOOKS} looks.")
    if not path.exists():
        return draw_lock(
            path,
            units,
            by_group=by_group,
            share=SHARE if share is None else share,
            looks=LOOKS if looks is None else looks,
        )
    lock, _looks = _read(path)
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


def draw_lock(
    path: Path, units: Sequence[str], *, by_group: bool, share: float, looks: int
) -> LockFile:
    """Return the draw that all documents' names determine; no file is written."""
    seed = hashlib.sha256("\0".join(sorted(units)).encode()).hexdigest()[:16]
    return LockFile(
        path=path, share=share, seed=seed, looks_allowed=looks, locked_at=_now(), by_group=by_group
    )


def _create(path: Path, text: str) -> None:
    """Create a file atomically, so that nobody reads half a draw.

    Raises:
        FileExistsError: the file exists.
    """
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        beside.write_text(text, encoding="utf-8")
        os.link(beside, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    finally:
        beside.unlink(missing_ok=True)


def _read(path: Path) -> tuple[LockFile, list[dict[str, Any]]]:
    """Read the draw and the lines of looks; blank lines are left out."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise ImproveError(f"{path} cannot be read.") from None
    # Split only at the line ends that were written: names may contain other line separators.
    written = [each for each in enumerate(text.split("\n"), start=1) if each[1].strip()]
    (number, first), *others = written or [(1, "")]
    is_draw = not first or '"share"' in first
    try:
        lock = LockFile.model_validate({**json.loads(first), "path": path})
        looks = []
        for number, line in others:  # noqa: B007 - the message names it
            looks.append(_look_in(line))
    except (TypeError, ValueError):
        remedy = "Restore it, from version control for instance" if is_draw else "Name another file"
        raise ImproveError(
            f"{path}, line {number}: this is no record of locked documents. {remedy}."
        ) from None
    return lock, looks


def _look_in(line: str) -> dict[str, Any]:
    """Parse a line about a look.

    Raises:
        TypeError, ValueError: it is not about a look.
    """
    look = json.loads(line)
    if not isinstance(look, dict) or not isinstance(look.get("question"), str):
        raise TypeError(line)
    if "result" in look:
        look["result"] = _RESULT.validate_python(look["result"])
    return look


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
