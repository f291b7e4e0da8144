"""The examples of other tools' files in the docs load as they say."""

import json
import re
from pathlib import Path

import pytest

from geval.files.tools import all_tools, held_by, tool_of
from tests.conftest import CHECKOUT
from tests.corpus.tools.reading import outputs, read, scores

TEXT = (CHECKOUT / "docs" / "data-format.md").read_text()
SECTION = TEXT.split("## From other tools\n")[1].split("\n## ")[0]
EXAMPLES = {
    name: re.findall(r"`([^`]+)`", record)
    for name, record in re.findall(r"^\| ([^|]+) \| (`\{[^|]+`) \|", SECTION, re.MULTILINE)
}


@pytest.mark.parametrize("records", EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_gives_its_output(tmp_path: Path, records: list[str]) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(len(records))]
    for path, record in zip(paths, records, strict=True):
        path.write_text(record)

    rows, errors = read(paths[-1], *paths[:-1])

    assert [str(error) for error in errors.listed] == []
    if outputs(rows):
        *_, source, output = outputs(rows)[-1]
        assert source.removeprefix("user: ") == "When?"
        assert output == "At 8."
    else:  # judgments of answers that are loaded with them
        assert scores(rows) == {("overall", "gpt-4", 7.0)}


def test_every_tool_has_an_example() -> None:
    shown = [json.loads(record) for records in EXAMPLES.values() for record in records]
    held = [found.records[0] for record in shown if (found := held_by(record))]

    known = {tool.title for record in (*shown, *held) if (tool := tool_of(record))}
    assert known == {tool.title for tool in all_tools()}
