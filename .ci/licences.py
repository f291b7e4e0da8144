"""Licences of all packages that the site is made of: `python .ci/licences.py`.

Ends with 1 if a package of requirements.lock has a licence that is not listed here. The docs' page
of licences is made from the same table.
"""

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

LOCK = Path(__file__).resolve().parent.parent / "requirements.lock"
PERMISSIVE = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "MIT", "MIT-0",
    "PSF-2.0", "Zlib",
}  # fmt: skip
# Copyleft that ends at the package's own files, which nobody here changes.
WEAK = {
    "orjson": "MPL-2.0", "tqdm": "MPL-2.0",
    # Used as a library that a user can replace, as the licence asks.
    "psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only", "psycopg-pool": "LGPL-3.0-only",
}  # fmt: skip
# What packages without an SPDX expression say.
SPELLINGS = {
    "Apache 2.0": "Apache-2.0", "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0", "BSD": "BSD-3-Clause", "BSD License": "BSD-3-Clause",
    "MIT License": "MIT", "New BSD": "BSD-3-Clause", "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}  # fmt: skip
# Packages whose metadata do not say it, or that are installed on other systems only; read in their
# repositories.
KNOWN = {"async-timeout": "Apache-2.0", "httpx2-jsfetch": "BSD-3-Clause", "tzdata": "Apache-2.0"}


def main() -> None:
    problems = [
        f"{name}: {licence or 'states no licence'}"
        for name, licence in licences().items()
        if not is_accepted(name, licence)
    ]
    print(*problems, f"{len(licences())} licences, {len(problems)} not accepted", sep="\n")
    raise SystemExit(bool(problems))


def licences(lock: Path = LOCK) -> dict[str, str]:
    """The SPDX expression of each locked package by name; empty where it states none."""
    names = re.findall(r"^([A-Za-z0-9._-]+)==", lock.read_text(), re.M)
    return {name: KNOWN.get(name) or licence_of(name) for name in sorted(set(names))}


def licence_of(name: str) -> str:
    try:
        metadata = distribution(name).metadata
    except PackageNotFoundError:
        return ""
    if expression := metadata.get("License-Expression"):
        return str(expression)
    stated = (metadata.get("License") or "").strip()
    parts = re.split(r" (?:AND|OR) ", stated)
    if stated and all(SPELLINGS.get(part, part) in PERMISSIVE | {"MPL-2.0"} for part in parts):
        return SPELLINGS.get(stated, stated)
    # A text in full, or nothing: then the classifiers say it.
    classified = [
        SPELLINGS.get(line.rpartition(" :: ")[2], line.rpartition(" :: ")[2])
        for line in metadata.get_all("Classifier") or []
        if line.startswith("License ::") and line.count("::") > 1
    ]
    return " OR ".join(sorted(set(classified)))


def is_accepted(name: str, licence: str) -> bool:
    """Whether every licence that has to be kept is permissive, or is a known weak copyleft."""
    allowed = PERMISSIVE | ({WEAK[name]} if name in WEAK else set())

    def kept(part: str) -> bool:
        return any(one.strip("() ") in allowed for one in part.split(" OR "))

    return bool(licence) and all(kept(part) for part in split_outside(licence))


def split_outside(expression: str) -> list[str]:
    """The parts that AND joins, but for those in parentheses."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(expression):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0 and expression.startswith(" AND ", at):
            parts.append(expression[start:at])
            start = at + len(" AND ")
    return [*parts, expression[start:]]


def markdown() -> str:
    """The table as a page of the docs."""
    rows = "\n".join(f"| {name} | {licence} |" for name, licence in licences().items())
    return f"""# Licences

geval_site is under Apache-2.0, the font Arimo in its package (a subset, for PNG and PDF) under
OFL-1.1. These are the packages of the container image and of
`pip install 'geval-site[assurance,evaluators,local,site]'`. Copyleft is among them only where it
ends at the package's own files (orjson, tqdm) or is that of a library that you can replace
(psycopg); `make lint` refuses any other.

| package | licence |
|---|---|
{rows}
"""


if __name__ == "__main__":
    sys.exit(main())
