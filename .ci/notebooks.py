"""The notebooks of docs/notebooks, run as a reader runs them.

    python .ci/notebooks.py     runs those that need no site, and stores what their cells show
    python .ci/notebooks.py --to FOLDER api     another, and elsewhere

A cell shows what it prints and, if its last line is an expression, that value: as text, and as HTML
or SVG where it has them. Tests run the same and compare the texts.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
ALONE = ("measure", "judge")
FORMS = {"text/html": "_repr_html_", "image/svg+xml": "_repr_svg_"}
Output = dict[str, Any]


def run_notebook(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook with the outputs of its cells, run in their order in this process."""
    names: dict[str, Any] = {"__name__": "__main__"}
    number, cells = 0, []
    for cell in notebook["cells"]:
        run = {}
        if cell["cell_type"] == "code":
            number += 1
            outputs = _outputs_of("".join(cell["source"]), names, number)
            run = {"execution_count": number, "outputs": outputs}
        cells.append(cell | run)
    return notebook | {"cells": cells}


def texts_of(notebook: dict[str, Any]) -> list[str]:
    """Return each code cell's text outputs, which do not depend on how figures are drawn."""
    return [
        "".join(
            line
            for output in cell["outputs"]
            for line in output.get("text") or output["data"]["text/plain"]
        )
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def read_notebook(name: str, folder: Path = NOTEBOOKS) -> dict[str, Any]:
    """Return a notebook by its name without the suffix."""
    return dict(json.loads((folder / f"{name}.ipynb").read_text(encoding="utf-8")))


def write_notebook(folder: Path, name: str, notebook: dict[str, Any]) -> None:
    text = json.dumps(notebook, indent=1, ensure_ascii=False)
    (folder / f"{name}.ipynb").write_text(f"{text}\n", encoding="utf-8")


def _outputs_of(source: str, names: dict[str, Any], number: int) -> list[Output]:
    tree = ast.parse(source)
    is_shown = bool(tree.body) and isinstance(tree.body[-1], ast.Expr)
    last = tree.body.pop() if is_shown else None
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
    outputs: list[Output] = []
    if text := printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(text)})
    if value is not None:
        data = {
            form: _lines(getattr(value, method)())
            for form, method in FORMS.items()
            if hasattr(value, method)
        }
        data["text/plain"] = _lines(repr(value))
        outputs.append(
            {"data": data, "execution_count": number, "metadata": {},
             "output_type": "execute_result"}
        )  # fmt: skip
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=ALONE)
    parser.add_argument("--to", type=Path, default=NOTEBOOKS)
    options = parser.parse_args()
    folder = options.to.resolve()
    for name in options.names:
        with tempfile.TemporaryDirectory() as empty, contextlib.chdir(empty):
            os.environ["XDG_CACHE_HOME"] = empty
            write_notebook(folder, name, run_notebook(read_notebook(name)))


if __name__ == "__main__":
    main()
