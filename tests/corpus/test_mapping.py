"""What columns are is guessed by names and first rows; what somebody says of them is taken; nothing
else is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.files.mapping import (
    TARGETS,
    flattened,
    guess_columns,
    kind_of,
    problems_of,
    renamed,
    renamed_header,
    structure_of,
)


@pytest.mark.parametrize(
    ("row", "guess"),
    [
        (
            {"doc_id": "d", "system_id": "s", "source": "t", "output": "o"},
            {"doc_id": "doc_id", "system_id": "system_id", "source": "source", "output": "output"},
        ),
        ({"Article": "a", "Highlights": "h"}, {"Article": "source", "Highlights": "output"}),
        (
            {"question": "q", "answer": "a", "contexts": "c", "expected answer": "e" * 300},
            {"question": "source", "answer": "output", "contexts": "context"},
        ),
        (
            {"doc_id": "d", "system": "s", "aspect": "c", "rater": "r", "rating": "3"},
            {"doc_id": "doc_id", "system": "system_id", "aspect": "criterion", "rater": "annotator",
                "rating": "score"},
        ),
        (
            {"id": "d", "model": "s", "metric": "ROUGE", "value": "0.4"},
            {"id": "doc_id", "model": "system_id", "metric": "judge", "value": "score"},
        ),
        (
            {"question_id": "1", "model_a": "x", "model_b": "y", "winner": "model_a", "judge": "z"},
            {
                "question_id": "doc_id", "model_a": "system_a", "model_b": "system_b",
                "winner": "winner",
                "judge": "annotator",
            },
        ),
        (
            {"input": "i", "output": "o", "rater": "r", "fluency": "3", "note": "good"},
            {"input": "source", "output": "output", "rater": "annotator", "fluency": "ratings",
                "note": "metadata"},
        ),
        (
            {"input": "i", "output": "o", "rater": "r", "note": "good"},
            {"input": "source", "output": "output", "rater": "metadata", "note": "metadata"},
        ),
        (
            {"source": "i", "output": "o", "ratings.fluency": "3", "metadata.year": "2024"},
            {"source": "source", "output": "output", "ratings.fluency": "ratings",
                "metadata.year": "metadata"},
        ),
    ],
)  # fmt: skip
def test_columns_are_guessed(row: dict[str, str], guess: dict[str, str]) -> None:
    assert guess_columns(list(row), [row]) == guess


@pytest.mark.parametrize(
    ("targets", "kind"),
    [
        (["doc_id", "system_a", "system_b", "winner", "annotator"], "preferences"),
        (["doc_id", "system_id", "criterion", "annotator", "score"], "ratings"),
        (["doc_id", "system_id", "criterion", "judge", "score"], "scores of judges"),
        (["source", "output"], "outputs"),
        (["source", "output", "ratings"], "outputs with ratings"),
        (["doc_id", "system_id", "ratings"], "ratings in columns"),
        (["source"], ""),
        ([], ""),
    ],
)
def test_what_columns_make(targets: list[str], kind: str) -> None:
    columns = {f"c{number}": target for number, target in enumerate(targets)}

    assert kind_of(columns) == kind
    assert (problems_of(columns) == []) == bool(kind)


def test_an_annotator_and_a_judge_are_one_too_many() -> None:
    columns = {
        name: name for name in ("doc_id", "system_id", "criterion", "annotator", "judge", "score")
    }

    (problem,) = problems_of(columns)
    assert "to an annotator or to a" in problem


def test_fields_of_objects_are_columns_one_level_deep() -> None:
    record = {"vars": {"q": "Why?", "deep": {"x": 1}}, "out": "o"}

    assert flattened(record) == {"vars.q": "Why?", "vars.deep": {"x": 1}, "out": "o"}
    assert renamed(record, {"vars.q": "source", "out": "output", "gone": "context"}) == {
        "source": "Why?",
        "output": "o",
    }


def test_a_table_s_header_is_renamed_in_place() -> None:
    header = ["Frage", "Notiz", "Jahr", "fluency"]
    columns = {"Frage": "source", "Jahr": "metadata", "fluency": "ratings"}

    assert renamed_header(header, columns) == (
        "source",
        "(left out 1)",
        "metadata.Jahr",
        "ratings.fluency",
    )


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"system_output": "o"}, "an object of the G-Eval or UniEval release"),
        ({"messages": []}, "a conversation"),
        ({"vars": {"a": 1}, "response": "r"}, "promptfoo's results"),
        ({"ann": {"1__a__b__1": "a"}}, "preferences by annotator"),
        ({"key": "1__a__b__1", "winner": "a"}, "comparisons named as MT-bench does"),
        ({"key": "k", "output": "o"}, ""),
        ({}, ""),
    ],
)
def test_records_with_more_than_columns_are_known(record: dict[str, object], said: str) -> None:
    assert structure_of(record) == said


@given(
    st.dictionaries(
        st.text(max_size=20), st.one_of(st.text(max_size=30), st.integers(), st.none()), max_size=12
    )
)
def test_a_guess_names_columns_that_are_there_and_each_target_once(row: dict[str, object]) -> None:
    guess = guess_columns(list(row), [row])

    assert set(guess) <= set(row)
    assert set(guess.values()) <= set(TARGETS)
    single = [target for target in guess.values() if target not in ("metadata", "ratings")]
    assert len(single) == len(set(single))
    assert set(renamed(row, guess)) >= {
        target for name, target in guess.items() if row[name] is not None
    } - {
        "metadata",
        "ratings",
    }
