"""Whatever is written in a tool's form comes back, and damage gives errors with their line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geval.files.rows import OutputRow
from tests.corpus.tools.reading import outputs, ratings, read, read_records, scores

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=40)
# Texts that are JSON would be read as what they say.
PLAIN = TEXT.filter(lambda text: text.strip() and text.lstrip()[:1] not in '{["')
NAME = st.text("abcdefgh -_.Äß7", min_size=1, max_size=20).map(str.strip).filter(bool)
POINTS = st.integers(1, 5)


class Case(NamedTuple):
    """An output with a person's rating and a judge's score."""

    name: str
    system: str
    source: str
    output: str
    person: str
    points: int


CASE = st.builds(Case, NAME, NAME, PLAIN, PLAIN, NAME, POINTS)
CASES = st.lists(CASE, min_size=1, max_size=3)
CHEAP = settings(
    max_examples=8,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def batch(case: Case) -> dict[str, Any]:
    body = {"model": case.system, "choices": [{"text": case.output}]}
    asked = {"custom_id": case.name, "body": {"prompt": case.source}}
    return {
        "custom_id": case.name,
        "response": {"status_code": 200, "body": body},
        "request": asked,
    }


def langfuse(case: Case) -> dict[str, Any]:
    score = {"name": "quality", "value": case.points}
    return {
        "id": case.name, "userId": None, "sessionId": None, "model": case.system,
        "input": case.source, "output": {"answer": case.output},
        "scores": [score | {"source": "ANNOTATION", "authorUserId": case.person},
                   score | {"source": "EVAL"}],
    }  # fmt: skip


def langsmith(case: Case) -> dict[str, Any]:
    given = {"key": "quality", "score": case.points}
    return {
        "id": case.name, "name": case.system, "run_type": "chain",
        "inputs": {"question": case.source}, "outputs": {"output": case.output},
        "feedback": [given | {"feedback_source": {"type": "app", "user_name": case.person}},
                     given | {"feedback_source": {"type": "model"}}],
    }  # fmt: skip


def phoenix(case: Case) -> dict[str, Any]:
    return {
        "context.span_id": case.name,
        "attributes.llm.model_name": case.system,
        "attributes.input.value": case.source,
        "attributes.output.value": case.output,
        "eval.quality.score": case.points,
    }


def mlflow(case: Case) -> dict[str, Any]:
    given = {"assessment_name": "quality", "feedback": {"value": case.points}}
    people = given | {"source": {"source_type": "HUMAN", "source_id": case.person}}
    judges = given | {"source": {"source_type": "LLM_JUDGE", "source_id": "gpt"}}
    info = {
        "trace_id": case.name,
        "trace_metadata": {"mlflow.modelId": case.system},
        "assessments": [people, judges],
    }
    span = {
        "parent_span_id": None,
        "attributes": {
            "mlflow.spanInputs": json.dumps({"question": case.source}),
            "mlflow.spanOutputs": json.dumps(case.output),
        },
    }
    return {"info": info, "data": {"spans": [span]}}


def promptfoo(case: Case) -> dict[str, Any]:
    human = {"score": case.points, "assertion": {"type": "human"}}
    return {
        "vars": {"id": case.name, "question": case.source},
        "provider": {"id": case.system},
        "response": {"output": case.output},
        "namedScores": {"quality": case.points},
        "gradingResult": {"componentResults": [human]},
    }


def inspect_log(case: Case) -> dict[str, Any]:
    sample = {
        "id": case.name,
        "input": case.source,
        "output": {"model": case.system, "choices": [{"message": _said(case)}]},
        "scores": {"quality": {"value": case.points}},
    }
    return {"eval": {"model": case.system}, "sample": sample}


def helm(case: Case) -> dict[str, Any]:
    return {
        "instance": {"id": case.name, "input": {"text": case.source}},
        "request": {"model": case.system},
        "result": {"completions": [{"text": case.output}]},
    }


def argilla(case: Case) -> dict[str, Any]:
    return {
        "fields": {"source": case.source, "output": case.output},
        "metadata": {"doc_id": case.name, "system_id": case.system},
        "responses": {"quality": [{"value": case.points, "user_id": case.person}]},
        "suggestions": {"quality": {"value": case.points, "agent": "gpt"}},
    }


def label_studio(case: Case) -> dict[str, Any]:
    result = {"type": "rating", "from_name": "quality", "value": {"rating": case.points}}
    data = {"doc_id": case.name, "system_id": case.system}
    return {
        "data": data | {"source": case.source, "output": case.output},
        "annotations": [{"completed_by": {"email": case.person}, "result": [result]}],
        "predictions": [{"model_version": "gpt", "result": [result]}],
    }


def doccano(case: Case) -> dict[str, Any]:
    return {
        "id": 1, "doc_id": case.name, "system_id": case.system, "source": case.source,
        "text": case.output, "label": [str(case.points)], "annotator": case.person,
    }  # fmt: skip


def harness(case: Case) -> dict[str, Any]:
    return {
        "doc_id": case.name, "doc": {}, "model": case.system, "metrics": ["quality"],
        "arguments": {"gen_args_0": {"arg_0": case.source}}, "resps": [[case.output]],
        "quality": case.points,
    }  # fmt: skip


def _said(case: Case) -> dict[str, str]:
    return {"role": "assistant", "content": case.output}


Write = Callable[[Case], dict[str, Any]]
ALL: tuple[Write, ...] = (
    batch, langfuse, langsmith, phoenix, mlflow, promptfoo, inspect_log, helm, argilla,
    label_studio, doccano, harness,
)  # fmt: skip
WITHOUT_PEOPLE = (batch, phoenix, inspect_log, helm, harness)
WITHOUT_JUDGES = (batch, helm, doccano)


@pytest.mark.parametrize("write", ALL, ids=lambda write: write.__name__)
@CHEAP
@given(cases=CASES)
def test_what_was_written_comes_back(tmp_path: Path, write: Write, cases: list[Case]) -> None:
    rows, errors = read_records(tmp_path, map(write, cases))

    assert [str(error) for error in errors.listed] == []
    assert outputs(rows) == [(c.name, c.system, c.source, c.output) for c in cases]
    if write not in WITHOUT_PEOPLE:
        assert {(who, points) for _, who, points in ratings(rows)} >= {
            (c.person, c.points) for c in cases if write is not promptfoo
        }
    if write not in WITHOUT_JUDGES:
        found = {points for name, _, points in scores(rows) if name == "quality"}
        assert found == {c.points for c in cases}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "x", "\ud800"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.just("role"), inner),
    max_leaves=3,
)


@pytest.mark.parametrize("write", ALL, ids=lambda write: write.__name__)
@CHEAP
@given(case=CASE, data=st.data())
def test_damage_gives_rows_or_errors_with_their_line(
    tmp_path: Path, write: Write, case: Case, data: st.DataObject
) -> None:
    record = write(case)
    path = data.draw(st.sampled_from(list(_paths(record))))
    at: Any = record
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = data.draw(ANYTHING)
    file = tmp_path / "file.json"
    file.write_text(json.dumps([write(case), record]))

    rows, errors = read(file)

    assert all(error.line == 2 and error.message for error in errors.listed)
    assert any(isinstance(row, OutputRow) for row in rows)


def _paths(value: Any, before: tuple[Any, ...] = ()) -> Any:
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for name, part in inner:
        yield (*before, name)
        yield from _paths(part, (*before, name))
