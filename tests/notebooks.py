"""Notebooks, which show what they store: `.ci/notebooks.py` as a test's tool."""

import runpy
from typing import Any

from tests.conftest import CHECKOUT

NOTEBOOKS = runpy.run_path(str(CHECKOUT / ".ci" / "notebooks.py"), run_name="notebooks")


def assert_same_texts(run: dict[str, Any], stored: dict[str, Any]) -> None:
    """Compare the texts that cells show, but not figures; python .ci/notebooks.py stores anew."""
    texts_of = NOTEBOOKS["texts_of"]

    assert any(texts_of(stored))
    assert texts_of(run) == texts_of(stored)
