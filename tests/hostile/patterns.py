"""Every regular expression of the code, where it stands and how it is matched."""

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from geval.llm.network import spellings
from geval.llm.rating_names import Names, any_of, flexible
from geval.llm.reply_text import scale_patterns
from geval.llm.server_fit import parameters_named
from geval.statistics.scales import Scale

ROOT = Path(__file__).parents[2]
PACKAGES = ("geval", "evaluations", "annotations", "assurance", "geval_site")
# It answers prompts of the machine that it runs on, for tests and the demo.
STAND_IN = ROOT / "geval" / "standin"
CALLS = frozenset(
    {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
)
_NAMES = Names.of("Overall quality", ["Step 2", "fluency"])
_NUMBER = r"(-?\d+(?:\.\d+)?)"
# Values of what patterns are put together from within a function, or in a loop: by module.
LOCALS: dict[str, dict[str, Any]] = {
    "annotations.results.leaving": {"annotator": SimpleNamespace(name="Anna")},
    "evaluations.reports.ratings.pseudonyms": {"anybody": "Anna|Bert"},
    "geval.statistics.scales": {
        "number": _NUMBER,
        "between": r"\s*(?:-|–|to|,)\s*",
        "step": rf"(?:\s+(?:in\s+)?steps?(?:\s+of)?\s+{_NUMBER})?",
    },
    "geval.files.tools.system_columns": {"name_of": "gpt-4"},
    "geval.llm.server_fit": {
        "pattern": "|".join(
            parameters_named.__globals__["_NAMES"].values(),
        )
    },
    "geval.llm.rating_names": {
        "criteria": _NAMES.criterion.pattern,
        "names": _NAMES.of_all.pattern,
    },
    "geval.llm.reply_labels": {"names": any_of([flexible("Yes"), flexible("Not at all")])},
    "geval.llm.reply_numbers": {"written": "5"},
    "geval.llm.reply_text": {
        "pattern": "|".join(pattern.pattern for pattern in scale_patterns(Scale(1, 5)))
    },
    "geval.llm.delimiting": {"names": "source|text"},
    "geval.llm.network": {
        "spelled": [spellings('a\\b"1').pattern.decode()],
    },
}


@dataclass(frozen=True)
class Used:
    """A pattern; `method` is fullmatch or match where nothing else is done with it."""

    place: str
    pattern: re.Pattern[str]
    method: str

    def match_all(self, text: str) -> None:
        """Look for it as the code does, as often as it occurs."""
        if self.method == "finditer":
            for _match in self.pattern.finditer(text):
                pass
        else:
            getattr(self.pattern, self.method)(text)

    def __str__(self) -> str:
        return f"{self.place}: {self.pattern.pattern[:80]!r} by {self.method}"


def all_patterns() -> Iterator[Used]:
    """One for each call of `re` in the code.

    Raises:
        NameError: a pattern is put together from what `LOCALS` has no value for.
    """
    sources = {
        path: path.read_text()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if STAND_IN not in path.parents
    }
    together = "\n".join(sources.values())
    for path, source in sorted(sources.items()):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(source)):
            for name, call in _calls_in(node):
                uses = source if name.startswith("_") else together
                method = _method(call, name, uses)
                yield Used(f"{module}:{call.lineno}", _pattern_of(call, module), method)


def _calls_in(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Calls of `re` in an assignment with the name that they get, and others without one."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        if _is_call_of_re(node.value):
            node.value.named = True  # type: ignore[attr-defined]
            yield node.targets[0].id, node.value  # type: ignore[misc]
    elif _is_call_of_re(node) and not hasattr(node, "named"):
        yield "", node  # type: ignore[misc]


def _is_call_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in CALLS
    )


def _pattern_of(call: ast.Call, module: str) -> re.Pattern[str]:
    names = vars(importlib.import_module(module)) | LOCALS.get(module, {})
    source, *flags = [ast.unparse(argument) for argument in call.args]
    pattern = eval(source, dict(names))
    kept = flags[-1] if flags and re.fullmatch(r"re\.[A-Z]+(?: \| re\.[A-Z]+)*", flags[-1]) else "0"
    if isinstance(pattern, bytes):
        pattern = pattern.decode("latin-1")
    return re.compile(pattern, eval(kept))


def _method(call: ast.Call, name: str, uses: str) -> str:
    own = call.func.attr  # type: ignore[attr-defined]
    methods = (
        set(re.findall(rf"\b{re.escape(name)}\.(\w+)\(", uses))
        if own == "compile" and name
        else {own}
    )
    if methods and methods <= {"match", "fullmatch"}:
        return "match" if "match" in methods else "fullmatch"
    return "finditer"
