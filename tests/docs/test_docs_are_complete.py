"""The docs mention every setting, command, switch and placeholder, and their links lead
somewhere."""

import re
from pathlib import Path

import pytest

from geval.command_line import COMMANDS
from geval.llm.prompts import PLACEHOLDERS
from tests.conftest import CHECKOUT

README = (CHECKOUT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in (CHECKOUT / "docs").glob("*.md")}
OURS = ("geval", "geval_site", "evaluations", "annotations", "assurance")


def sources() -> list[str]:
    return [path.read_text() for package in OURS for path in (CHECKOUT / package).rglob("*.py")]


def test_every_setting_is_in_the_table() -> None:
    read = {
        name
        for text in sources()
        for name in re.findall(r"(?:environment\.\w+|whole)\(\s*\"([A-Z_]+)\"", text)
        + re.findall(r"\"(OPENAI_[A-Z_]+)\"", text)
    }
    table = set(re.findall(r"^\| `([A-Z_]+)` \|", DOCS["settings.md"], re.M))

    assert len(read) > 10
    assert read == table


def test_every_command_is_in_the_docs() -> None:
    commands = {path.stem for path in CHECKOUT.glob("*/management/commands/[a-z]*.py")}
    listed = set(re.findall(r"^\| `(\w+)", DOCS["commands.md"], re.M))

    assert commands | set(COMMANDS) == listed


def test_every_placeholder_is_in_the_docs() -> None:
    assert [name for name in PLACEHOLDERS if f"{{{{{name}}}}}" not in DOCS["method.md"]] == []


@pytest.mark.parametrize(
    "path", sorted([*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").glob("*.md")])
)
def test_links_lead_somewhere(path: Path) -> None:
    targets = [
        link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text()) if "://" not in link
    ]

    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_make_targets_named_in_the_docs_exist() -> None:
    makefile = (CHECKOUT / "Makefile").read_text()
    named = {
        name
        for text in [README, (CHECKOUT / "CONTRIBUTING.md").read_text(), *DOCS.values()]
        for name in re.findall(r"`make ([\w-]+)", text) + re.findall(r"^make ([\w-]+)", text, re.M)
    }

    benchmarks = {f"bench-{path.stem}" for path in (CHECKOUT / "benchmarks").glob("*.py")}

    assert {"check", "bench-judge"} <= named
    targets = set(re.findall(r"^([\w-]+):", makefile, re.M)) | benchmarks
    assert [name for name in named if name not in targets] == []


def test_links_between_pages_lead_to_headings_that_exist() -> None:
    pages = {path.resolve(): path.read_text() for path in (CHECKOUT / "docs").rglob("*.md")}
    anchors = {path: set(map(_anchor, HEADING.findall(text))) for path, text in pages.items()}
    broken = [
        f"{path.name}: {name}#{anchor}"
        for path, text in pages.items()
        for name, anchor in re.findall(r"\]\(([\w./-]*)#([\w-]+)\)", text)
        if (target := (path.parent / name).resolve() if name else path) in anchors
        and anchor not in anchors[target]
    ]

    assert not broken


HEADING = re.compile(r"^#{1,6} +(.+)$", re.M)


def _anchor(heading: str) -> str:
    """As the docs' site makes it: small letters and digits, a dash for each blank."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
