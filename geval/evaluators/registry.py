"""The registry of evaluators, loaded through entry points of this and other packages."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from geval.evaluators.base import ENTRY_POINTS, Evaluator, EvaluatorError, LocalEvaluator

FAMILIES = ("LLM", "Lexical", "Neural", "Other")


@dataclass(frozen=True)
class Broken:
    """An entry point that cannot be loaded, and why."""

    kind: str
    message: str


@cache
def evaluators() -> dict[str, type[Evaluator]]:
    """Return all evaluators that can be loaded, by kind, in the order in which families are
    shown. For one of them use `find_evaluator`, which loads no other."""
    loadable = [loaded for kind in _points() if isinstance(loaded := _loaded(kind), type)]
    in_order = sorted(loadable, key=lambda each: (FAMILIES.index(each.family), each.kind))
    return {each.kind: each for each in in_order}


def broken_evaluators() -> tuple[Broken, ...]:
    """Return entry points of other packages that cannot be loaded."""
    return tuple(
        Broken(kind, f"{point.value} cannot be loaded: {_in_words(error)}")
        for kind, point in _points().items()
        if isinstance(error := _loaded(kind), Exception)
    )


def evaluator_class(kind: str) -> type[Evaluator]:
    """Return the evaluator of a kind, without loading any other.

    Raises:
        EvaluatorError: there is none; its package may be missing or broken.
    """
    if kind not in _points():
        kinds = ", ".join(sorted(_points()))
        raise EvaluatorError(
            f"There is no evaluator {kind!r} here (there are: {kinds}). Is the package that brings"
            " it installed?"
        )
    loaded = _loaded(kind)
    if isinstance(loaded, Exception):
        raise EvaluatorError(
            f"The evaluator {kind!r} cannot be loaded: {_in_words(loaded)}"
        ) from loaded
    return loaded


def find_evaluator(kind: str) -> type[Evaluator] | None:
    """Return the evaluator of a kind, without loading any other; None if its package is missing or
    broken."""
    try:
        return evaluator_class(kind)
    except EvaluatorError:
        return None


def make_evaluator(kind: str, settings: Mapping[str, Any]) -> Evaluator:
    """Create an evaluator with its settings.

    Raises:
        EvaluatorError: there is no such evaluator.
        SettingsError: it rejects these settings.
    """
    return evaluator_class(kind)(settings)


def make_local(kind: str, settings: Mapping[str, Any]) -> LocalEvaluator:
    """Create an evaluator that computes on this machine."""
    made = make_evaluator(kind, settings)
    assert isinstance(made, LocalEvaluator)
    return made


@cache
def _points() -> dict[str, EntryPoint]:
    """Return entry points by kind; finding them reads the metadata of every installed package."""
    points: dict[str, EntryPoint] = {}
    for point in entry_points(group=ENTRY_POINTS):
        points.setdefault(point.name, point)
    return points


@cache
def _loaded(kind: str) -> type[Evaluator] | Exception:
    """Return the evaluator of an entry point, or why it cannot be loaded: a third-party package
    must not take the site down."""
    try:
        return _load(_points()[kind])
    except Exception as error:
        return error


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _load(point: EntryPoint) -> type[Evaluator]:
    loaded = point.load()
    if not (isinstance(loaded, type) and issubclass(loaded, Evaluator)):
        raise TypeError("it is not a subclass of geval.evaluators.base.Evaluator")
    if loaded.kind != point.name:
        raise TypeError(f"its kind is {loaded.kind!r}, and the entry point is named {point.name!r}")
    return loaded
