"""`geval-site improve FILE… --locked FILE` searches and proves from files, without a database."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from geval.command_line import is_for, main
from tests.conftest import CHECKOUT
from tests.measuring.test_improving import NOISE, PEOPLE, table


def written(path: Path, documents: int = 60) -> list[str]:
    """The command line for a file whose judges are better together than each of them."""
    rows = table(documents)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    people = [part for name in PEOPLE for part in ("--human", name)]
    judges = [part for name in NOISE for part in ("--judges", name)]
    return [
        "improve", str(path), *people, *judges, "--judge", "today", "--document", "doc",
        "--system", "system", "--locked", str(path.with_name("locked.jsonl")),
    ]  # fmt: skip


def test_what_is_proven_ends_with_0_and_needs_no_site(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *written(tmp_path / "table.csv"), "--prove"],
        check=False,
        cwd=CHECKOUT,
        # No settings could be read with this.
        env=os.environ | {"GEVAL_MODE": "nonsense", "GEVAL_DATA_DIR": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )

    assert done.stderr == ""
    assert done.returncode == 0
    assert done.stdout.startswith("today on quality: Panel of 3 is proven.")
    assert "1 of 5 looks used" in done.stdout
    assert not (tmp_path / "none").exists()


def test_a_search_alone_takes_no_look_and_says_that_it_is_too_early(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main([*written(tmp_path / "table.csv"), "--json", "--looks", "2", "--share", "0.5"])

    content = json.loads(capsys.readouterr().out)
    assert main(written(tmp_path / "table.csv")) == code == 2
    assert "Panel of 3 may be better;" in capsys.readouterr().out
    assert content["candidates"][0]["change"] == "panel"
    assert (content["looks_used"], content["looks_allowed"]) == (0, 2)
    assert content["rule"]["share"] == 0.5


@pytest.mark.parametrize(
    ("judge", "says"),
    [("today", "second on quality is not proven"), ("second", "nothing better was found")],
)
def test_what_is_not_proven_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], judge: str, says: str
) -> None:
    arguments = [*written(tmp_path / "table.csv"), "--judge", judge, "--change", "choice"]

    assert main([*arguments, "--prove"]) == 1
    assert says in capsys.readouterr().out


def test_without_a_file_of_locked_documents_it_is_the_sites_command() -> None:
    assert is_for(["improve", "scores.csv", "--locked", "locked.jsonl"])
    assert is_for(["improve", "scores.csv", "--locked=locked.jsonl"])
    for theirs in (["improve", "practice", "--judge", "J", "--lock", "0.4"], ["improve", "--help"]):
        assert not is_for(theirs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["improve", "--locked", "l.jsonl"], "arguments are required: FILE"),
        (["improve", "scores.csv", "--lock", "l.jsonl"], "arguments are required: --locked"),
        (["improve", "f.csv", "--locked", "l", "--looks", "abc"], "invalid int value: 'abc'"),
        (["check", "f.csv", "--level", "none"], "invalid choice: 'none'"),
        (["evaluate", "f.csv"], "arguments are required: --criterion, --model"),
    ],
)
def test_wrong_usage_is_an_error_and_not_too_early(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_code:
        main(arguments)

    assert exit_code.value.code == 3
    assert message in capsys.readouterr().err
