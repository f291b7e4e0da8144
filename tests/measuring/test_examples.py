"""The examples that the package has: three raters on a scale, and one expert's pass or fail."""

import pytest

import geval
from geval.command_line import main
from geval.measuring.inputs import InputError


@pytest.mark.parametrize(
    ("name", "raters", "verdict"), [("summaries", 3, "spot"), ("support", 1, "agrees")]
)
def test_an_example_is_measured_without_a_question(
    name: str, raters: int, verdict: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (criterion,) = geval.measure(geval.load_example(name)).criteria

    assert (criterion.raters, criterion.verdict) == (raters, verdict)
    assert main(["check", f"example:{name}"]) == 0
    assert str(geval.measure(f"example:{name}")) in capsys.readouterr().out


def test_another_name_is_an_error_that_lists_them() -> None:
    with pytest.raises(InputError, match=r"'suport' \(there are: summaries, support\)"):
        geval.load_example("suport")
    with pytest.raises(InputError, match="there are: summaries, support"):
        geval.measure("example:../support")
