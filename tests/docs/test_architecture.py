"""The docs of the code name files that exist, and imports point down the table of rooms."""

import ast
import re
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import CHECKOUT

PAGE = (CHECKOUT / "docs" / "architecture.md").read_text()
WALKS = (CHECKOUT / "docs" / "walks.md").read_text()
# In which folders the short paths of a page are.
ROOMS = {
    "docs/rules.md": ("evaluations", "annotations", "geval"),
    "evaluations/judging/README.md": (
        "evaluations/judging",
        "evaluations/judging/runs",
        "evaluations",
        "geval",
    ),
    "evaluations/corpus/README.md": ("evaluations", "evaluations/projects"),
    "evaluations/reports/README.md": ("evaluations", "geval"),
    "annotations/README.md": ("annotations",),
    "geval_site/README.md": ("geval_site", "geval_site/embedded"),
}
# From how many rooms to how many others something is imported.
MOST_ARROWS = 182
LINTER = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]
LAYERS: list[list[str]] = [
    re.findall(r"[\w.]+", layer) for layer in LINTER["contracts"][0]["layers"]
]
# What is below all rooms, in the table's last row.
GROUND = {*LAYERS[-1], "geval_site.extensions"}
# The rooms of the table, from top to bottom.
TABLE = [
    path.replace("/", ".").removesuffix(".py").rstrip(".")
    for row in re.findall(r"^\| (`\w+/[^|]*) \|", PAGE, re.M)
    for path in re.findall(r"`([\w/.]+)`", row)
]


def test_every_file_that_the_pages_name_by_its_whole_path_exists() -> None:
    named = re.findall(
        r"`((?:geval|evaluations|annotations|assurance|geval_site|templates)/[\w./]+)`",
        PAGE + WALKS,
    )

    assert [name for name in named if not (CHECKOUT / name).exists()] == []


@pytest.mark.parametrize("page", ROOMS)
def test_every_file_that_a_room_names_exists(page: str) -> None:
    named = re.findall(r"`([\w/]+\.py)`", (CHECKOUT / page).read_text())
    folders = ("", *ROOMS[page])

    assert [n for n in named if not any((CHECKOUT / f / n).exists() for f in folders)] == []


def test_the_layers_of_imports_name_every_room() -> None:
    named = [name for layer in LAYERS for name in layer]
    rooms = {
        f"{package}.{path.stem}"
        for package in LINTER["root_packages"]
        for path in (CHECKOUT / package).iterdir()
        if path.suffix == ".py" or any(path.glob("*.py"))
    }
    ignored = {"__init__", "__main__", "apps", "migrations"}

    assert [
        room
        for room in sorted(rooms)
        if room.rpartition(".")[2] not in ignored
        and not any(layer == room or layer.startswith(f"{room}.") for layer in named)
    ] == []


def test_imports_point_down_the_table_of_rooms_in_few_arrows_and_no_circle() -> None:
    modules = {
        ".".join(path.relative_to(CHECKOUT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in LINTER["root_packages"]
        for path in (CHECKOUT / package).rglob("*.py")
        if "migrations" not in path.parts
    }
    rooms = {module: room_of(module, path) for module, path in modules.items()}
    arrows = {
        (rooms[module], rooms[imported]): f"{module} imports {imported}"
        for module, path in modules.items()
        for name in imports(path)
        if (imported := next((m for m in beginnings(name) if m in modules), ""))
        and rooms[module] != rooms[imported]
    }
    below = {room: {to for start, to in arrows if start == room} for room in set(rooms.values())}

    assert set(TABLE) <= set(rooms.values())
    assert [
        sentence
        for (start, to), sentence in arrows.items()
        if {start, to} <= set(TABLE) and TABLE.index(start) > TABLE.index(to)
    ] == []
    assert list(TopologicalSorter(below).static_order())  # raises CycleError
    assert len(arrows) <= MOST_ARROWS


def room_of(module: str, path: Path) -> str:
    """The room of the table; that of what is in none, such as configs of apps, is its folder."""
    if any(name in GROUND for name in beginnings(module)):
        return TABLE[-1]
    room = next((name for name in beginnings(module) if name in TABLE), "")
    return room or ".".join(path.relative_to(CHECKOUT).parent.parts)


def beginnings(name: str) -> Iterator[str]:
    """`a.b.c`, `a.b`, `a`."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def imports(path: Path) -> Iterator[str]:
    """What a module imports, except for types alone."""
    tree = ast.parse(path.read_text())
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
