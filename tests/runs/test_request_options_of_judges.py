"""Request options from a form, a command, the API and `geval.evaluate` to the wire: they are part
of the judge's version, of its probe and of what a run froze, and no endpoint gets others."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client

import geval
from evaluations.judging.judges.judges import (
    EndpointDraft,
    JudgeDraft,
    change_judge,
    create_judge,
    draft_of,
    save_endpoint,
)
from evaluations.judging.runs.lifecycle import RunError, lay_out_run, pause_run, resume_run
from evaluations.judging.runs.starting import RunRequest, run_parameters, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Endpoint, EvaluationRun, Judge, ModelProbe, Project
from geval.llm.requests import OWN_PARAMETERS
from geval.llm.run_parameters import RunParameters
from tests.conftest import do_errands
from tests.evaluating.conftest import DEFINITION, table
from tests.server_shapes import SHAPES, Shape, ShapedServer, shaped_server

pytestmark = pytest.mark.django_db(transaction=True)
NONE = {"reasoning_effort": "none"}
FORM = {
    "kind": "geval", "name": "J", "model": "m", "samples": 20, "max_tokens": 32, "concurrency": 4,
    "timeout_seconds": 30, "min_coverage": 0.5,
}  # fmt: skip


@pytest.fixture
def server() -> Iterator[ShapedServer]:
    with shaped_server() as started:
        yield started


def shape_called(name: str) -> Shape:
    return next(shape for shape in SHAPES if shape.name == name)


@pytest.fixture
def endpoint(small_project: Project, server: ShapedServer) -> Endpoint:
    return endpoint_of(small_project, server, "GPT-5.1")


def endpoint_of(project: Project, server: ShapedServer, name: str) -> Endpoint:
    shape = shape_called(name)
    version = "2024-10-21" if shape.deployment else ""
    return save_endpoint(project, EndpointDraft(server.base_url(shape), api_version=version))


def draft(endpoint: Endpoint, **fields: Any) -> JudgeDraft:
    return replace(JudgeDraft(name="J", endpoint=endpoint, model="m"), **fields)


def test_a_model_is_probed_with_the_options_that_its_judge_has(endpoint: Endpoint) -> None:
    plain, _ = create_judge(endpoint.project, draft(endpoint))
    quick, _ = create_judge(endpoint.project, draft(endpoint, name="Quick", request_options=NONE))

    assert (plain.mode, plain.sends_temperature) == ("direct", False)
    assert (quick.mode, quick.sends_temperature) == ("logprobs", True)
    assert [probe.request_options for probe in ModelProbe.objects.order_by("pk")] == [{}, NONE]


@pytest.mark.parametrize("shape", ["GPT-5.1", "Azure", "vLLM"])
def test_every_call_of_a_run_carries_them(
    small_project: Project, server: ShapedServer, shape: str
) -> None:
    options = NONE | {"chat_template_kwargs": {"enable_thinking": False}, "seed": 3}
    endpoint = endpoint_of(small_project, server, shape)
    judge, _ = create_judge(small_project, draft(endpoint, request_options=options))
    server.bodies.clear()

    run = start_run(judge, list(small_project.criteria.all()), RunRequest(fresh=True))
    work_on_run(run.pk, "tester")

    assert run.scores.count() == run.items.count()
    assert {json.dumps(body | options) == json.dumps(body) for body in server.bodies} == {True}
    assert all(body.keys() <= OWN_PARAMETERS | options.keys() for body in server.bodies)


def test_they_make_a_version_and_are_frozen_into_a_run(endpoint: Endpoint) -> None:
    project = endpoint.project
    judge, _ = create_judge(project, draft(endpoint, mode="direct"))
    start_run(judge, list(project.criteria.all()))

    changed = change_judge(judge, replace(draft_of(judge), request_options=NONE))
    frozen = run_parameters(changed, RunRequest()).as_json()

    assert (changed.version, changed.request_options) == (2, NONE)
    assert RunParameters.from_json(frozen).request_settings.options == NONE
    assert "request_options" not in run_parameters(judge, RunRequest()).as_json()


def test_options_that_may_not_be_sent_make_no_judge(endpoint: Endpoint) -> None:
    with pytest.raises(ValidationError, match="“stream” is set by the judge itself"):
        create_judge(endpoint.project, draft(endpoint, request_options={"stream": True}))
    with pytest.raises(ValidationError, match="makes no chat requests"):
        create_judge(endpoint.project, draft(endpoint, kind="decision", request_options=NONE))

    assert not Judge.objects.exists()


def test_the_form_takes_shows_and_keeps_them(
    client: Client, owner: User, endpoint: Endpoint
) -> None:
    client.force_login(owner)
    form = FORM | {"endpoint": endpoint.pk}
    wrong = client.post("/p/small/judges/new/", form | {"request_options": '{"n": 2}'})
    given = form | {"request_options": json.dumps(NONE)}

    client.post("/p/small/judges/new/", given)
    do_errands()
    waited = ModelProbe.objects.get().pk
    client.post("/p/small/judges/new/", given | {"waited": waited})

    judge = Judge.objects.get()
    assert "“n” is set by the judge" in wrong.content.decode()
    assert (judge.request_options, judge.mode) == (NONE, "logprobs")
    for page in (f"{judge.get_absolute_url()}settings/", f"{judge.get_absolute_url()}edit/"):
        assert "&quot;reasoning_effort&quot;: &quot;none&quot;" in client.get(page).content.decode()
    shown = client.get(endpoint.get_absolute_url()).content.decode()
    assert "Asked with <code>{&quot;reasoning_effort&quot;: &quot;none&quot;}</code>" in shown


def test_the_command_takes_them(endpoint: Endpoint) -> None:
    add = ("add_judge", "small", "J", "--model", "m", "--endpoint", endpoint.name)

    with pytest.raises(CommandError, match="“messages” is set by the judge itself"):
        call_command(*add, "--request-options", '{"messages": []}')
    call_command(*add, "--request-options", json.dumps(NONE))
    call_command(*add, "--change", "--max-tokens", "40")

    judge = Judge.objects.get()
    assert (judge.request_options, judge.max_tokens) == (NONE, 40)


@pytest.fixture
def evaluate(server: ShapedServer, tmp_path: Path) -> Callable[..., geval.Evaluation]:
    def evaluated(**settings: Any) -> geval.Evaluation:
        return geval.evaluate(
            table(), criterion="coherence", definition=DEFINITION, model="m",
            base_url=server.base_url(shape_called("GPT-5.1")),
            kept_in=tmp_path / "kept.sqlite3", progress=False, **settings,
        )  # fmt: skip

    return evaluated


def test_stored_options_that_may_no_longer_be_sent_are_named_and_never_leave(
    client: Client, owner: User, endpoint: Endpoint, server: ShapedServer
) -> None:
    judge, _ = create_judge(endpoint.project, draft(endpoint, mode="direct"))
    criteria = list(endpoint.project.criteria.all())
    run = start_run(judge, criteria)
    lay_out_run(run.pk)
    pause_run(run.pk, "Enough.")
    Judge.objects.update(request_options={"store": True})
    stored = EvaluationRun.objects.get().parameters | {"request_options": {"store": True}}
    EvaluationRun.objects.update(parameters=stored)
    server.bodies.clear()
    client.force_login(owner)

    for again in (lambda: start_run(Judge.objects.get(), criteria), lambda: resume_run(run)):
        with pytest.raises(RunError, match=r"“store” is set by the judge itself.* Edit the judge"):
            again()
    EvaluationRun.objects.update(state="running")
    work_on_run(run.pk, "tester")
    edited = client.get(f"{judge.get_absolute_url()}edit/")
    saved = client.post(
        f"{judge.get_absolute_url()}edit/",
        FORM | {"endpoint": endpoint.pk, "request_options": '{"store": true}'},
    )

    assert not server.bodies
    assert {item.state for item in run.items.all()} == {"failed"}
    assert "“store” is set by" in run.items.first().detail  # type: ignore[union-attr]
    assert edited.status_code == client.get(run.get_absolute_url()).status_code == 200
    assert "“store” is set by" in saved.content.decode()
