"""A name that nothing has is an error of the library, its commands, the plugin and the action."""

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import geval
from geval.evaluating import command as evaluate_command
from geval.improving import command as improve_command
from geval.measuring import command as check_command
from geval.pipelines.github import main
from geval.pytest_plugin import GevalJudge

CRITERIA = ("coherence", "fluency")
NAMED = {
    "human": ["ann", "bob"],
    "judge": ["gpt", "llama"],
    "document": "doc",
    "system": "sys",
    "criterion": "coherence",
}
ASKED = {
    "criterion": "coherence",
    "definition": "of a text",
    "model": "m",
    "base_url": "http://127.0.0.1:9/v1",
    "human": ["ann", "bob"],
    "document": "doc",
    "system": "sys",
    "kept_in": None,
    "progress": False,
}
# What each wrong name of a parameter is answered with.
MESSAGES = {
    "criterion": "(there are: coherence, fluency)",
    "document": "There is no column 'nonsense'",
    "system": "There is no column 'nonsense'",
    "output": "There is no column 'nonsense'",
    "text": "There is no column 'nonsense'",
    "human": "There is no person and no column 'nonsense'",
    "judge": "There is no judge",
    "judges": "There is no judge",
    "level": "There is no level 'nonsense' (there are: summary",
    "coefficient": "There is no coefficient 'nonsense' (there are: pearson",
    "scale": "There is no criterion 'nonsense' to have a scale",
    "changes": "There is no change 'nonsense'",
    "kind": "There is no kind 'nonsense'",
    "mode": "mode: Input should be",
    "nonsense": "There is no setting 'nonsense'",
}
VALUES = {"scale": {"nonsense": (1, 5)}, "changes": ["nonsense"], "judges": ["gpt", "nonsense"]}


def table() -> list[dict[str, Any]]:
    """Two criteria, named in each row, with a column for each person and judge."""
    return [
        {"doc": f"d{d}", "sys": f"s{s}", "criterion": criterion, "output": f"text {d} {s}",
         "ann": 1 + d * s % 5, "bob": 1 + (d * s + d) % 5, "gpt": 1 + s, "llama": 1 + (d + s) % 5}
        for d in range(12) for s in range(4) for criterion in CRITERIA
    ]  # fmt: skip


def rows() -> list[dict[str, Any]]:
    """The same with a row for each rating."""
    return [
        {"doc_id": row["doc"], "system_id": row["sys"], "criterion": row["criterion"],
         kind: name, "score": row[name]}
        for row in table()
        for kind, name in (("annotator", "ann"), ("annotator", "bob"), ("judge", "gpt"))
    ]  # fmt: skip


@pytest.fixture(scope="module")
def measured() -> geval.Measurement:
    return geval.measure(table(), **NAMED)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as target:
        writer = csv.DictWriter(target, list(table()[0]))
        writer.writeheader()
        writer.writerows(table())
    return str(path)


def wrong(name: str) -> dict[str, Any]:
    return {name: VALUES.get(name, "nonsense")}


@pytest.mark.parametrize("name", [*NAMED, "level", "coefficient", "scale"])
def test_measure(name: str) -> None:
    with pytest.raises(geval.InputError) as error:
        geval.measure(table(), **NAMED | wrong(name))

    assert MESSAGES[name] in str(error.value)


def test_the_plugin(request: pytest.FixtureRequest) -> None:
    with pytest.raises(pytest.fail.Exception) as error:
        GevalJudge(request.node)(table(), **NAMED | wrong("human"))

    assert MESSAGES["human"] in str(error.value)


@pytest.mark.parametrize("name", ["human", "judge", "judges", "criterion", "document", "changes"])
def test_improve(name: str, tmp_path: Path) -> None:
    named = NAMED | {"judge": "gpt", "judges": ["gpt", "llama"]} | wrong(name)
    with pytest.raises(geval.InputError) as error:
        geval.improve(table(), locked=tmp_path, **named)

    assert MESSAGES[name] in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "name",
    ["human", "criterion", "document", "system", "output", "text", "kind", "mode", "nonsense"],
)
def test_evaluate_before_a_model_is_asked(name: str) -> None:
    with pytest.raises(geval.InputError) as error:
        geval.evaluate(table(), **ASKED | wrong(name))

    assert MESSAGES[name] in str(error.value)


@pytest.mark.parametrize(
    "ask",
    [
        lambda result, named: geval.plan(result, **named),
        lambda result, named: geval.certify(result, ["raters>=1"], **{"judge": "gpt"} | named),
        lambda result, named: result.disagreements(**named),
        lambda result, named: geval.compare(result, "gpt", named.pop("judge", "llama"), **named),
    ],
    ids=["plan", "certify", "disagreements", "compare"],
)
@pytest.mark.parametrize("name", ["judge", "criterion"])
def test_what_a_measurement_is_asked(
    measured: geval.Measurement, ask: Callable[..., Any], name: str
) -> None:
    with pytest.raises(geval.InputError, match=f"There is no {name} 'nonsense'"):
        ask(measured, wrong(name))


@pytest.mark.parametrize(
    ("run", "more", "name"),
    [
        (check_command.run, [], "judge"),
        (
            evaluate_command.run,
            ["--model", "m", "--definition", "d", "--base-url", ASKED["base_url"]],
            "criterion",
        ),
        (improve_command.run, ["--locked", "locked.jsonl", "--judges", "gpt"], "document"),
    ],
    ids=["check", "evaluate", "improve"],
)
def test_commands(
    run: Callable[[list[str]], int],
    more: list[str],
    name: str,
    file: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    named = NAMED | {"judge": "gpt"} | wrong(name)
    options = [
        word
        for option, value in named.items() if (run, option) != (evaluate_command.run, "judge")
        for each in ([value] if isinstance(value, str) else value)
        for word in (f"--{option}", each)
    ]  # fmt: skip

    assert run([file, *more, *options]) == 3
    assert MESSAGES[name] in capsys.readouterr().err


def beside(file: str) -> dict[str, str]:
    """The checkout of a job with this file."""
    return {"GITHUB_WORKSPACE": str(Path(file).parent)}


def test_the_action(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    inputs = {
        f"INPUT_{key.upper()}": value if isinstance(value, str) else "\n".join(value)
        for key, value in (NAMED | wrong("system")).items()
    }

    assert main(inputs | {"INPUT_FILES": file, **beside(file)}) == 3
    assert MESSAGES["system"] in capsys.readouterr().out


def test_a_criterion_of_the_file_is_answered_about_alone() -> None:
    for source, named in ((table(), NAMED), (rows(), {})):
        result = geval.measure(source, **named | {"criterion": "Fluency"})
        assert [each.criterion for each in result.criteria] == ["fluency"]


def test_a_column_of_criteria_gives_all_of_them() -> None:
    for source, named in ((table(), NAMED), (rows(), {})):
        result = geval.measure(source, **named | {"criterion": "criterion"})
        assert {each.criterion for each in result.criteria} == {*CRITERIA}


def test_several_judges_and_no_name_is_an_error_of_every_gate(
    file: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = {
        **beside(file),
        "INPUT_FILES": file,
        "INPUT_HUMAN": "ann\nbob",
        "INPUT_JUDGE": "gpt\nllama",
    }
    judge = GevalJudge(request.node)(table(), **NAMED)

    with pytest.raises(pytest.fail.Exception, match="one of gpt, llama"):
        judge.require("raters>=1")
    assert (
        main(
            inputs | {"INPUT_DOCUMENT": "doc", "INPUT_SYSTEM": "sys", "INPUT_REQUIRE": "raters>=1"}
        )
        == 3
    )
    assert "one of gpt, llama" in capsys.readouterr().out
