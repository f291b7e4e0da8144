"""An installed package adds an importer by an entry point; one that is broken stops nobody."""

import sys
import types
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from geval.files import tools
from tests.corpus.tools.reading import outputs, read

MODULE = """
TITLE = "answers of quizzer"
MARKS = ("quiz",)

def knows(record):
    return "quiz" in record and "reply" in record

def read(record):
    yield {
        "source": record["quiz"].text(),
        "system_id": record["bot"].name(),
        "output": record["reply"].text(),
    }
"""
RECORD = '{"quiz": "When?", "bot": "b-7", "reply": "At 8."}\n'


def forget_tools() -> None:
    for cached in (tools.all_tools, tools.record_holders, tools._marks):
        cached.cache_clear()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = types.ModuleType("quizzer")
    exec(MODULE, module.__dict__)
    monkeypatch.setitem(sys.modules, "quizzer", module)
    points = EntryPoints(
        EntryPoint(name, value, tools.ENTRY_POINTS)
        for name, value in (("broken", "no_such_package.at_all"), ("quizzer", "quizzer"))
    )
    monkeypatch.setattr(tools, "entry_points", lambda group: points.select(group=group))
    forget_tools()
    yield
    forget_tools()


def test_an_importer_of_another_package_reads_its_records(installed: None, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(RECORD)

    rows, errors = read(path)

    assert [str(error) for error in errors.listed] == []
    [(_, system, source, output)] = outputs(rows)
    assert (system, source, output) == ("b-7", "When?", "At 8.")


def test_a_broken_one_is_logged_and_left_out(
    installed: None, caplog: pytest.LogCaptureFixture
) -> None:
    titles = [tool.title for tool in tools.all_tools()]

    assert titles[-1] == "answers of quizzer"
    assert "broken (no_such_package.at_all) cannot be loaded" in caplog.text
