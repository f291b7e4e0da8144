"""The commands on the site of the tests, and a file that has everything."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

WHOLE = """\
# yaml-language-server: $schema=project.schema.json
project: small
name: Ferry summaries
description: |
  Two lines
  about ferries.
guidelines: Read *twice*.
formats: {output_format: markdown, text_language: de}
criteria:
  coherence:
    definition: Sentences build on each other.
    guidelines: Look at the joints.
  faithful:
    definition: yes
    scale_min: 0
    scale_max: 1
    scale_labels: {0: No, 1: "Yes"}
endpoints:
  here:
    base_url: http://127.0.0.1:1/v1/
    key_env: OPENAI_API_KEY
    parallel_calls: 4
judges:
  overlap:
    kind: rouge
    settings: {variant: rouge2}
campaigns:
  First round:
    criteria: [Coherence]
    overlap: 1
    practice_items: 1
    practice_pass: 50
    check_percent: 10
    gold:
      - {doc_id: d1, system_id: good, criterion: coherence, score: 4}
      - {doc_id: d2, system_id: odd, criterion: coherence, score: 1}
    deadline: 2027-01-31T18:00:00+01:00
    goal: {kind: systems, criterion: coherence, system: good, other: odd}
"""
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def in_file(tmp_path: Path) -> Callable[[str], str]:
    """The path of a file with this text."""

    def write(text: str, name: str = "project.yaml") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def run(in_file: Callable[[str], str], owner: User) -> Run:
    """`run("apply", text)`: the exit code, and what the command says."""

    def call(name: str, text: str, *options: str) -> tuple[int, str]:
        out = io.StringIO()
        try:
            call_command(name, in_file(text), *options, stdout=out)
        except CommandError as error:
            return error.returncode, str(error)
        except SystemExit as ended:
            return int(str(ended.code)), out.getvalue()
        return 0, out.getvalue()

    return call
