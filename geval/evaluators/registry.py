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
    shown."""
    return dict(
        sorted(_loaded()[0].items(), key=lambda pair: (FAMILIES.index(pair[1].family), pair[0]))
    )


def broken_evaluators() -> tuple[Broken, ...]:
    """Return entry points of other packages that cannot be loaded."""
    return _loaded()[1]


@cache
def evaluator_class(kind: str) -> type[Evaluator]:
    """Return the evaluator of a kind, without loading any other.

    Raises:
        EvaluatorError: there is none; its package may be missing or broken.
    """
    points = entry_points(group=ENTRY_POINTS, name=kind)
    if not points:
        kinds = ", ".join(sorted(entry_points(group=ENTRY_POINTS).names))
        raise EvaluatorError(
            f"There is no evaluator {kind!r} here (there are: {kinds}). Is the package that brings"
            " it installed?"
        )
    try:
        return _load(next(iter(points)))
    except Exception as error:
        raise EvaluatorError(
            f"The evaluator {kind!r} cannot be loaded: {type(error).__name__}: {error}"
        ) from error


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
def _loaded() -> tuple[dict[str, type[Evaluator]], tuple[Broken, ...]]:
    by_kind: dict[str, type[Evaluator]] = {}
    broken: list[Broken] = []
    for point in entry_points(group=ENTRY_POINTS):
        try:
            by_kind[point.name] = _load(point)
        except Exception as error:
            # A third-party package must not take the site down; its error is shown in the list.
            broken.append(
                Broken(
                    point.name, f"{point.value} cannot be loaded: {type(error).__name__}: {error}"
                )
            )
    return by_kind, tuple(broken)


def _load(point: EntryPoint) -> type[Evaluator]:
    loaded = point.load()
    if not (isinstance(loaded, type) and issubclass(loaded, Evaluator)):
        raise TypeError("it is not a subclass of geval.evaluators.base.Evaluator")
    if loaded.kind != point.name:
        raise TypeError(f"its kind is {loaded.kind!r}, and the entry point is named {point.name!r}")
    return loaded
