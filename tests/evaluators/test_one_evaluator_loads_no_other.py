"""Looking up the evaluator of a judge loads its module alone, and a broken one is tried once."""

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from geval.evaluators import registry
from geval.evaluators.base import EvaluatorError


def test_a_judges_evaluator_is_loaded_alone() -> None:
    code = (
        "import sys; from geval.evaluators.registry import find_evaluator;"
        "assert find_evaluator('bleu').kind == 'bleu';"
        "print('geval.evaluators.bleu' in sys.modules, 'geval.evaluators.bertscore' in sys.modules)"
    )

    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )

    assert printed.stdout.split() == ["True", "False"]


def test_a_broken_evaluator_is_loaded_once_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("broken", "no_such_package:Evaluator", registry.ENTRY_POINTS)
    loads: list[str] = []

    def load(point: EntryPoint) -> None:
        loads.append(point.name)
        raise ImportError("no such package")

    monkeypatch.setattr(registry, "entry_points", lambda **_: EntryPoints([broken]))
    monkeypatch.setattr(registry, "_load", load)
    caches = (registry._points, registry._loaded, registry.evaluators)
    try:
        for cached in caches:
            cached.cache_clear()
        assert registry.find_evaluator("broken") is None
        with pytest.raises(EvaluatorError, match="ImportError: no such package"):
            registry.evaluator_class("broken")
        assert registry.evaluators() == {}
        assert [each.kind for each in registry.broken_evaluators()] == ["broken"]
        assert loads == ["broken"]
    finally:
        for cached in caches:
            cached.cache_clear()
