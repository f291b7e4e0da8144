"""Notebooks that need no site show what they store, in an empty folder and without a key."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import CHECKOUT
from tests.notebooks import NOTEBOOKS, assert_same_texts

# Pictures and words, not a library that draws.
MOST_BYTES = 20_000


def test_notebooks_show_what_they_store(tmp_path: Path) -> None:
    without = {"GEVAL_MODEL", "GEVAL_ENDPOINT", "OPENAI_API_KEY"}
    env = {name: value for name, value in os.environ.items() if name not in without}

    subprocess.run(
        [sys.executable, CHECKOUT / ".ci" / "notebooks.py", "--to", tmp_path],
        env=env | {"PYTHONPATH": str(CHECKOUT)},
        cwd=tmp_path,
        check=True,
    )

    for name in NOTEBOOKS["ALONE"]:
        stored = NOTEBOOKS["read_notebook"](name)
        assert_same_texts(NOTEBOOKS["read_notebook"](name, tmp_path), stored)
        assert "geval.load_example(" in "".join(stored["cells"][1]["source"])
        assert any("image/svg+xml" in output.get("data", {}) for cell in stored["cells"]
                   for output in cell.get("outputs", ()))  # fmt: skip
        assert (NOTEBOOKS["NOTEBOOKS"] / f"{name}.ipynb").stat().st_size < MOST_BYTES
