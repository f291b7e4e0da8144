"""A probe asks as the judge that it is for: with texts between tags, or with the paper's prompt."""

from dataclasses import replace
from typing import Any

import pytest
from django.core.management import call_command

from evaluations.judging.judges import probing
from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.judges.probing import probe_endpoint
from evaluations.models import Endpoint, Judge, JudgeKind, Project
from geval.llm.findings import Findings
from geval.llm.judgement import JudgeQuestion
from geval.llm.prompts import NOTE

pytestmark = pytest.mark.django_db
MODEL = "m"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each probe put texts between tags."""
    found: list[bool] = []

    async def note(
        _client: Any, _model: str, questions: list[JudgeQuestion], **_more: Any
    ) -> Findings:
        found.append(NOTE in questions[0].prompt)
        return Findings(MODEL)

    monkeypatch.setattr(probing, "probe_model", note)
    monkeypatch.setattr(probing, "models_listed_by", lambda _endpoint: [])
    return found


@pytest.fixture
def endpoint(small_project: Project) -> Endpoint:
    return small_project.endpoints.create(name="e", base_url="http://127.0.0.1:9/v1")


def make_judge(endpoint: Endpoint, name: str, **fields: Any) -> Judge:
    return endpoint.project.judges.create(name=name, endpoint=endpoint, model=MODEL, **fields)


@pytest.mark.parametrize(("delimited", "expected"), [(False, False), (True, True), (None, True)])
def test_a_new_judge_is_probed_as_it_will_ask(
    endpoint: Endpoint, asked: list[bool], delimited: bool | None, expected: bool
) -> None:
    draft = JudgeDraft(name="J", endpoint=endpoint, model=MODEL)
    if delimited is not None:
        draft = replace(draft, settings={"delimited": delimited})

    judge, _made = create_judge(endpoint.project, draft)

    assert asked == [expected]
    assert judge.settings.get("delimited", False) == expected


def test_the_command_probes_a_judge_as_it_asks(endpoint: Endpoint, asked: list[bool]) -> None:
    make_judge(endpoint, "paper")
    make_judge(endpoint, "tags", settings={"delimited": True})

    for name in ("paper", "tags"):
        call_command("probe", "small", "--judge", name)

    assert asked == [False, True]


@pytest.mark.parametrize(
    ("judges", "expected"),
    [
        ([], True),
        ([{}], False),
        ([{}, {"delimited": True}], True),
    ],
)
def test_an_endpoint_is_probed_as_its_judges_ask_and_new_ones_where_it_has_none(
    endpoint: Endpoint, asked: list[bool], judges: list[dict[str, Any]], expected: bool
) -> None:
    make_judge(endpoint, "of another kind", kind=JudgeKind.IMPORTED)
    for number, settings in enumerate(judges):
        make_judge(endpoint, f"J{number}", settings=settings)

    probe_endpoint(endpoint, MODEL)

    assert asked == [expected]
