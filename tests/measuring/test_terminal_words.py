"""Errors of commands about files name options, not the arguments of the library's functions."""

import pytest

from geval.measuring.terminal import write_error


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Pass document='q' to take rows.", "Pass --document 'q' to take rows."),
        ("They need names: document=… and system=….", "They need names: --document and --system."),
        ("Or document= with another column.", "Or --document with another column."),
        ("Name one: judge=… (there are: gpt).", "Name one: --judge (there are: gpt)."),
        ("The field a.system=b is none.", "The field a.system=b is none."),
        ("Use --judge=gpt and group:judge=x.", "Use --judge=gpt and group:judge=x."),
    ],
)
def test_arguments_are_written_as_options(
    text: str, written: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_error(ValueError(text))

    assert capsys.readouterr().err == f"{written}\n"
