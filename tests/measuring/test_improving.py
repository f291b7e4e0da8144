"""`geval.improve` without a site: looks are counted in a file, and no locked rating is shown."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geval
from geval.improving.changes import NO_OTHER_JUDGE
from geval.improving.lock_file import lock_file
from geval.statistics.locked_rule import is_locked

PEOPLE = ["ann", "bob", "cyd"]
NOISE = {"today": 1.2, "second": 1.2, "third": 1.2}


def table(documents: int = 60, *, seed: int = 3) -> list[dict[str, Any]]:
    """Five outputs of each document; a panel of its judges is better than each of them."""
    rng = np.random.default_rng(seed)
    return [
        {
            "doc": f"d{document}",
            "system": f"s{system}",
            **{name: round(min(5, max(1, 3 + quality + rng.normal(0, 0.4)))) for name in PEOPLE},
            **{name: round(2 + quality + rng.normal(0, noise), 3) for name, noise in NOISE.items()},
        }
        for document in range(documents)
        for system in range(5)
        for quality in [rng.normal()]
    ]


@pytest.fixture
def improve(tmp_path: Path) -> Any:
    return partial(
        geval.improve, human=PEOPLE, judge="today", judges=list(NOISE), document="doc",
        system="system", locked=tmp_path / "locked.jsonl",
    )  # fmt: skip


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "locked.jsonl").read_text().splitlines()]


def test_what_is_proposed_on_training_documents_is_proven_on_locked_ones(improve: Any) -> None:
    result = improve(table())
    proven = result.prove()

    assert result.look is None
    assert "may be better; .prove(), or --prove, takes a look." in str(result)
    assert (proven.proposed.change, proven.look.outcome) == ("panel", "proven")
    assert proven.look.documents == proven.searched.locked
    assert proven.searched.training + proven.searched.locked == 60
    assert proven.headline == "today on quality: Panel of 3 is proven."
    assert proven.is_proven
    assert "Panel of 3: rho 0." in str(proven)
    assert "; proven: gain +" in str(proven)
    assert proven.headline in proven._repr_html_()
    assert json.loads(proven.to_json())["candidates"][0]["look"]["outcome"] == "proven"


def test_the_same_look_counts_once_also_in_another_program_and_with_systems_in_another_order(
    improve: Any, tmp_path: Path
) -> None:
    first = improve(table(), prove=True)
    rows = table()
    again = improve([rows[at ^ 1] for at in range(len(rows))]).prove()

    assert first.look == again.look
    assert again.looks_used == 1
    assert "1 of 5 looks used" in str(again)
    drawn, asked, answered = lines(tmp_path)
    assert (asked["judge"], asked["title"]) == ("today", "Panel of 3")
    assert answered["result"]["gain"] == first.look.gain
    assert drawn["looks_allowed"] == 5


def test_another_look_counts_and_when_all_are_used_none_is_given(improve: Any) -> None:
    result = improve(table(), looks=1)
    proven = result.prove("panel")

    assert proven.look.confidence == pytest.approx(0.95)
    with pytest.raises(geval.ImproveError, match="only look at the locked documents is used"):
        result.prove("calibration")
    assert result.looks_used == 1
    assert result.prove("panel").look == proven.look


def test_other_ratings_are_another_look(improve: Any) -> None:
    improve(table(), looks=1, prove=True)

    with pytest.raises(geval.ImproveError, match="only look"):
        improve(table(seed=4), prove=True)


def test_of_programs_that_take_the_last_look_at_once_the_first_line_gets_it(
    improve: Any, tmp_path: Path
) -> None:
    improve(table(), looks=1, prove=True)
    drawn, asked, _answered = lines(tmp_path)
    content = [drawn, asked | {"question": "of another program"}, asked]
    (tmp_path / "locked.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in content))
    late = improve(table())

    with pytest.raises(geval.ImproveError, match="only look"):
        late.prove()
    assert late.looks_used == 1


def test_ratings_of_locked_documents_change_nothing_that_is_shown_before_a_look(
    improve: Any, tmp_path: Path
) -> None:
    before = improve(table())
    (drawn,) = lines(tmp_path)
    turned = [
        row | {name: 6 - row[name] for name in PEOPLE}
        if is_locked(row["doc"], seed=drawn["seed"], share=drawn["share"])
        else row
        for row in table()
    ]
    after = improve(turned)

    assert turned != table()
    assert str(after) == str(before)
    assert after.to_json() == before.to_json()
    assert after._repr_html_() == before._repr_html_()
    assert repr(after) == repr(before)
    assert after.prove().look != before.prove().look


def test_a_deleted_file_gives_the_same_locked_documents(improve: Any, tmp_path: Path) -> None:
    improve(table())
    (drawn,) = lines(tmp_path)
    (tmp_path / "locked.jsonl").unlink()
    improve(table()[::-1])

    assert lines(tmp_path)[0]["seed"] == drawn["seed"]


def test_a_draw_stays_as_it_is(improve: Any) -> None:
    improve(table(), share=0.5)

    with pytest.raises(geval.ImproveError, match=r"with share=0\.5\. They stay as they are"):
        improve(table(), share=0.3)
    with pytest.raises(geval.ImproveError, match="with looks=5"):
        improve(table(), looks=9)


def test_too_few_documents_are_refused_and_draw_nothing(improve: Any, tmp_path: Path) -> None:
    with pytest.raises(geval.ImproveError, match="of 20 training documents"):
        improve(table(20), share=0.2, looks=3)
    assert not (tmp_path / "locked.jsonl").exists()


def test_looks_of_two_copies_that_were_merged_all_count(improve: Any, tmp_path: Path) -> None:
    path = tmp_path / "locked.jsonl"
    improve(table(), looks=1)
    drawn = path.read_text()
    improve(table(), prove=True)
    first = path.read_text()
    path.write_text(drawn)
    improve(table()).prove("calibration")
    path.write_text(first + path.read_text().removeprefix(drawn))

    result = improve(table())

    assert result.looks_used == 2
    assert "More than the 1 looks that" in str(result)


def test_where_nothing_is_better_no_look_is_taken(improve: Any) -> None:
    result = improve(table(), judges="today", changes=["choice", "panel"], prove=True)

    assert result.look is None
    assert result.looks_used == 0
    assert "nothing better was found; no look" in str(result)
    assert f"Panel is not proposed: {NO_OTHER_JUDGE}" in str(result)
    assert "Calibration map is not proposed" in str(result)


def test_a_judge_without_scores_of_every_output_is_left_out_and_named(improve: Any) -> None:
    first, *others = table()
    result = improve([first | {"second": None}, *others])

    assert "second is not proposed: scores are" in str(result)


@pytest.mark.parametrize("text", ["", "not JSON\n", "[]\n", '{"share": 0.4}\n'])
def test_a_file_of_something_else_is_not_written_over(
    improve: Any, tmp_path: Path, text: str
) -> None:
    (tmp_path / "locked.jsonl").write_text(text)

    with pytest.raises(geval.ImproveError, match="line 1: this is no record of locked documents"):
        improve(table())
    assert (tmp_path / "locked.jsonl").read_text() == text


@pytest.mark.parametrize("line", [
    '{"question": ["a"]}', '{"question": "a", "result": null}',
    '{"question": "a", "result": {"x": 1}}', '{"question": "a", "res',
])  # fmt: skip
def test_a_damaged_line_is_named_and_the_file_is_to_be_restored(
    improve: Any, tmp_path: Path, line: str
) -> None:
    improve(table())
    with (tmp_path / "locked.jsonl").open("a") as file:
        file.write(line)

    with pytest.raises(geval.ImproveError, match=r"line 2: .* Restore it, from version control"):
        improve(table(), prove=True)


@pytest.mark.parametrize("change", [
    {"looks_allowed": 1_000_000}, {"looks_allowed": -1}, {"share": 1.5}, {"seed": None},
])  # fmt: skip
def test_a_draw_that_nobody_could_have_made_is_refused(
    improve: Any, tmp_path: Path, change: dict[str, Any]
) -> None:
    improve(table())
    (drawn,) = lines(tmp_path)
    (tmp_path / "locked.jsonl").write_text(json.dumps(drawn | change) + "\n")

    with pytest.raises(geval.ImproveError, match=r"line 1: .* Restore it, from version control"):
        improve(table())


def test_a_file_that_an_editor_saved_still_counts_looks(improve: Any, tmp_path: Path) -> None:
    path = tmp_path / "locked.jsonl"
    result = improve(table())
    path.write_text("\ufeff\n" + path.read_text().strip() + "\n\n  \n" + '{"question": "other"}')

    result.prove()

    assert improve(table()).looks_used == 2
    assert path.read_text().endswith("}\n")


def test_a_draw_is_whole_as_soon_as_it_can_be_read(
    improve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "locked.jsonl"
    write = Path.write_text

    def watched(beside: Path, *args: Any, **named: Any) -> int:
        done = write(beside, *args, **named)
        assert not path.exists()
        return done

    monkeypatch.setattr(Path, "write_text", watched)
    improve(table())

    assert [file.name for file in tmp_path.iterdir()] == ["locked.jsonl"]


def test_a_look_that_cannot_be_counted_is_not_taken(improve: Any, tmp_path: Path) -> None:
    result = improve(table())
    (tmp_path / "locked.jsonl").unlink()

    with pytest.raises(geval.ImproveError, match="cannot be read"):
        result.prove()


def test_turns_of_a_session_are_locked_together_and_open_documents_are_turns(
    improve: Any, tmp_path: Path
) -> None:
    turns = [row | {"session_id": f"t{int(row['doc'][1:]) % 45}"} for row in table()]

    result = improve(turns)

    units = {row["doc"]: row["session_id"] for row in turns}
    drawn = lock_file(tmp_path, list(dict.fromkeys(units.values())))
    hidden = {name for name, unit in units.items() if drawn.among([unit])[0]}
    assert {*result.open_documents} == {*units} - hidden
    assert result.searched.locked == len({units[name] for name in hidden})
    assert result.searched.training + result.searched.locked == 45
    measured = geval.measure(
        turns, human=PEOPLE, judge=list(NOISE), document="doc", system="system"
    )
    again = geval.improve(measured, judge="today", locked=tmp_path)
    assert again.to_dict() == result.to_dict()


def test_rows_whose_numbers_would_be_their_names_are_refused(improve: Any, tmp_path: Path) -> None:
    unnamed = [{name: row[name] for name in (*PEOPLE, *NOISE)} for row in table()]
    measured = geval.measure(unnamed, human=PEOPLE, judge=list(NOISE))

    with pytest.raises(geval.InputError, match=r"need names that stay.*pass document=…"):
        improve(unnamed, document=None, system=None)
    with pytest.raises(geval.InputError, match="need names that stay"):
        geval.improve(measured, judge="today", locked=tmp_path)
    assert not (tmp_path / "locked.jsonl").exists()


def test_what_was_measured_is_improved_without_naming_columns_again(
    improve: Any, tmp_path: Path
) -> None:
    measured = geval.measure(
        table(), human=PEOPLE, judge=list(NOISE), document="doc", system="system"
    )
    result = geval.improve(measured, judge="today", locked=tmp_path)

    assert result.to_dict() == improve(table()).to_dict()
    with pytest.raises(geval.InputError, match="name their columns there"):
        geval.improve(measured, judge="today", human=PEOPLE, locked=tmp_path)


def verdicts(outputs: int, *rights: float, seed: int = 0) -> list[dict[str, Any]]:
    """One expert's verdicts on answers to questions of their own, a quarter of them fails, and
    those of judges that are right so often."""
    rng = np.random.default_rng(seed)
    passes = rng.random(outputs) > 0.25
    judged = [passes == (rng.random(outputs) < right) for right in rights]
    return [
        {
            "id": f"q{number}",
            "human": "pass" if passes[number] else "fail",
            **{f"judge{at}": "pass" if each[number] else "fail" for at, each in enumerate(judged)},
        }
        for number in range(outputs)
    ]


def improved(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Any:
    judges = [name for name in rows[0] if name.startswith("judge")]
    return geval.improve(
        rows, human="human", judge="judge0", judges=judges, document="id", locked=folder, **options
    )


@pytest.mark.parametrize(
    ("rights", "change", "outcome"),
    [
        ((0.75, 0.95), "choice", "proven"),
        ((0.75, 0.75, 0.95), "choice", "proven"),
        ((0.7, 0.8, 0.8, 0.8), "panel", "proven"),
        ((0.95, 0.7, 0.7), None, None),
        ((0.85, 0.88), "choice", "not proven"),
    ],
)
def test_on_pass_or_fail_balanced_accuracy_is_improved(
    tmp_path: Path, rights: tuple[float, ...], change: str | None, outcome: str | None
) -> None:
    result = improved(tmp_path, verdicts(800, *rights), changes=["choice", "panel"], prove=True)

    assert (result.proposed and result.proposed.change) == change
    assert (result.look and result.look.outcome) == outcome
    assert "gain in balanced accuracy" in str(result)
    today = result.searched.today
    assert today == pytest.approx(rights[0], abs=0.06)
    if result.look:
        assert result.look.measure == "balance"


def test_a_score_on_another_scale_is_improved_by_its_threshold(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [
        row | {"judge1": round((row["judge1"] == "pass") + rng.normal(2, 0.2), 3)}
        for row in verdicts(400, 0.7, 0.97)
    ]

    result = improved(tmp_path, rows, changes=["choice"], prove=True)

    assert result.look.outcome == "proven"
    low, high = result.looked_at.formula.points
    assert (low[1], high[1]) == (0, 1)
    assert 2.2 < low[0] < high[0] < 2.8
