"""`geval-site check FILE…` answers in one screen, without a database."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from geval.command_line import is_for, main
from tests.conftest import CHECKOUT
from tests.measuring.conftest import made_up, written


def test_it_prints_one_screen_and_needs_no_database(files: list[Path], tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", *map(str, files)],
        check=False,
        cwd=CHECKOUT,
        # No settings could be read with this.
        env=os.environ | {"GEVAL_MODE": "nonsense", "GEVAL_DATA_DIR": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )

    assert done.stderr == ""
    assert "coherence: " in done.stdout
    assert done.returncode in (0, 1, 2)
    assert not (tmp_path / "none").exists()


def test_json_html_and_card_say_the_same(
    files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, card = tmp_path / "page.html", tmp_path / "card.svg"

    code = main(["check", *map(str, files), "--json", "--html", str(page), "--card", str(card)])

    content = json.loads(capsys.readouterr().out)
    assert (
        set(content["criteria"]) == {"coherence", "fluency"}
        if isinstance(content["criteria"], dict)
        else len(content["criteria"]) == 2
    )
    assert "<script" not in page.read_text()
    assert "near" in page.read_text()
    drawing = ET.fromstring(card.read_text())
    assert "near, rho" in "".join(drawing.itertext())
    assert code in (0, 1, 2)


@pytest.mark.parametrize(("noise", "code"), [("usable", 0), ("useless", 1), ("few", 2)])
def test_the_exit_code_says_whether_a_judge_is_usable(
    tmp_path: Path, noise: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    content = made_up(1, documents=4 if noise == "few" else 40)
    judge = "near" if noise != "useless" else "far"

    assert main(["check", *map(str, written(tmp_path, content)), "--judge", judge]) == code


def test_an_error_ends_with_3_and_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,x,y,gpt\n" + "".join(f"{n},{n % 5},{n % 4},{n % 3}\n" for n in range(9)))

    assert main(["check", str(path)]) == 3
    assert "Name the columns: human and judge" in capsys.readouterr().err
    assert main(["check", str(path), *["--human", "x", "--human", "y", "--judge", "gpt"]]) == 2


@pytest.mark.parametrize(
    ("scales", "error"),
    [
        (["1-10"], ""),
        (["coherence=1-10", "fluency=0 to 10 step 0.5"], ""),
        (["coherence=1-3"], "is outside coherence's scale 1-3"),
        (["1-10", "coherence=1-5"], "1-10: write CRITERION=LOWEST-HIGHEST."),
        (["ten"], "--scale ten: write the lowest and the highest value, such as 1-5."),
    ],
)
def test_a_scale_can_be_said_of_a_criterion_or_of_all(
    files: list[Path], capsys: pytest.CaptureFixture[str], scales: list[str], error: str
) -> None:
    options = [option for scale in scales for option in ("--scale", scale)]

    code = main(["check", *map(str, files), *options])

    assert (code == 3) == bool(error)
    said = capsys.readouterr().err
    assert said == f"{error}\n" or (error in said and ".csv:" in said) or not error


def test_djangos_own_check_is_left_alone() -> None:
    assert is_for(["check", "file.csv"])
    assert is_for(["check", "--help"])
    for theirs in (["check"], ["check", "--deploy"], ["check", "--tag", "models"], ["migrate"], []):
        assert not is_for(theirs)


@pytest.mark.parametrize(("required", "code"), [("raters>=3", 0), ("raters>=4", 1)])
def test_requirements_decide_the_exit_code(
    files: list[Path], capsys: pytest.CaptureFixture[str], required: str, code: int
) -> None:
    check = ["check", *map(str, files), "--require", required]
    assert main([*check, "--judge", "near"]) == code
    assert main(check) == 3  # of several judges one has to be named
    assert f"met: {required}" in capsys.readouterr().out
