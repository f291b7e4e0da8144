"""Servers of all shapes × scoring modes: each pair is right or refused when the judge is created;
the suggested mode is right. The measured table stands in docs/models.md."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from django.core.exceptions import ValidationError

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.judges import EndpointDraft, JudgeDraft, create_judge, save_endpoint
from evaluations.judging.runs.starting import RunRequest, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Endpoint, EvaluationRun, ItemState, ModelProbe, Project, RunState
from geval.llm.findings import Findings, findings_rows
from geval.llm.requests import ChatRequest
from tests.conftest import CHECKOUT
from tests.processes import StandInProcess
from tests.server_shapes import SHAPES, Shape, ShapedServer, right_scores, shaped_server
from tests.servers.asking import reply_at

MODES = ("", "direct", "samples", "logprobs")
# Answered at length.
STEPS = f"Is every statement supported? {'It is. ' * 20}\n\nEvaluation Steps:"
HEADING = "## Shapes tried"


@pytest.fixture(scope="module")
def server() -> Iterator[ShapedServer]:
    with shaped_server() as started:
        yield started


def endpoint_of(project: Project, server: ShapedServer, shape: Shape) -> Endpoint:
    version = "2024-10-21" if shape.deployment else ""
    draft = EndpointDraft(server.base_url(shape), name=shape.name, api_version=version)
    return save_endpoint(project, draft)


def measured(endpoint: Endpoint, mode: str) -> str:
    """What becomes of a judge in a mode: "right", "refused", or what is wrong; with the mode that
    was suggested."""
    draft = JudgeDraft(name=f"Judge {mode}", endpoint=endpoint, model="some-model", mode=mode)
    try:
        judge, _ = create_judge(endpoint.project, draft)
    except ValidationError as error:
        return "refused" if all(error.messages) else "refused without a reason"
    run = start_run(judge, list(endpoint.project.criteria.all()), RunRequest(fresh=True))
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    outcome = outcome_of(run)
    return outcome if mode else f"{outcome} ({judge.mode})"


def outcome_of(run: EvaluationRun) -> str:
    unscored = run.items.exclude(state=ItemState.DONE)
    if run.state != RunState.DONE or unscored:
        reasons = {*unscored.values_list("reason", flat=True)}
        return f"fails: {run.state} {run.message} {reasons}"
    is_greedy = run.frozen.temperature == 0
    wrong = [
        (score.output.text, score.value)
        for score in run.scores.select_related("output")
        if not any(
            score.value == pytest.approx(value, abs=1e-5)
            for value in right_scores(score.output.text, run.frozen.mode, is_greedy=is_greedy)
        )
    ]
    return f"wrong: {wrong[:3]}" if wrong else "right"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_a_judge_is_right_or_refused_in_every_mode(
    small_project: Project,
    server: ShapedServer,
    shape: Shape,
) -> None:
    endpoint = endpoint_of(small_project, server, shape)
    suggested = documented_modes()[shape.name]

    outcomes = [measured(endpoint, mode) for mode in MODES]

    logprobs = "right" if suggested == "logprobs" else "refused"
    assert outcomes == [f"right ({suggested})", "right", "right", logprobs]


def test_the_docs_list_every_shape() -> None:
    assert set(documented_modes()) == {shape.name for shape in SHAPES}


def documented_modes() -> dict[str, str]:
    """The mode that the docs say is suggested, by shape."""
    text = (CHECKOUT / "docs" / "models.md").read_text(encoding="utf-8")
    section = text.partition(HEADING)[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.M)
    return {name: mode for mode, names in rows for name in names.split("; ")}


def shape_called(name: str) -> Shape:
    return next(shape for shape in SHAPES if shape.name == name)


@pytest.mark.django_db(transaction=True)
def test_a_prompt_that_a_content_filter_stops_is_a_refusal(
    project: Project, load: Callable[..., object], server: ShapedServer
) -> None:
    row = {"doc_id": "d1", "system_id": "s", "source": "A text.", "output": "A bomb was found."}
    load(project, {"outputs.jsonl": json.dumps(row)})
    project.criteria.create(name="fluency")
    endpoint = endpoint_of(project, server, shape_called("Azure"))
    draft = JudgeDraft(name="J", endpoint=endpoint, model="m", mode="direct", use_steps=False)
    judge, _ = create_judge(project, draft)

    run = start_run(judge, list(project.criteria.all()))
    work_on_run(run.pk, "tester")

    assert list(run.items.values_list("state", "reason")) == [(ItemState.FAILED, "refusal")]


@pytest.mark.parametrize(
    "shape", [shape for shape in SHAPES if shape.responses], ids=lambda shape: shape.name
)
def test_a_reply_that_its_limit_has_cut_is_cut_also_where_the_server_does_not_say_so(
    server: ShapedServer, shape: Shape
) -> None:
    request = ChatRequest("m", STEPS, temperature=None)

    cut, whole = (
        reply_at(server.base_url(shape), replace(request, max_tokens=most)) for most in (40, 4096)
    )

    assert (cut.choices[0].is_cut, whole.choices[0].is_cut) == (True, False)
    assert whole.prompt_tokens == len(STEPS) // 4
    assert cut.completion_tokens == 40


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("plain", "logprobs"),
        ("n = 1", "samples"),
        ("Anthropic's layer", "samples"),
        ("o-series", "direct"),
        ("SGLang, Responses", "logprobs"),
    ],
)
def test_without_a_probe_the_first_calls_find_what_the_server_takes(
    small_project: Project, server: ShapedServer, name: str, mode: str
) -> None:
    endpoint = endpoint_of(small_project, server, shape_called(name))
    draft = JudgeDraft(name="J", endpoint=endpoint, model="m", mode=mode, max_tokens=300)
    judge, _ = create_judge(small_project, draft, probe=False)

    run = start_run(judge, list(small_project.criteria.all()))
    work_on_run(run.pk, "tester")

    run.refresh_from_db()
    assert run.frozen.fit.as_json() == {}
    assert run.items.exclude(state=ItemState.DONE).count() == 0, run.message
    if name != "o-series":  # whose one reply is at its own temperature
        assert outcome_of(run) == "right"


@pytest.mark.django_db(transaction=True)
def test_what_calls_learn_stands_with_the_findings(
    small_project: Project, server: ShapedServer
) -> None:
    endpoint = endpoint_of(small_project, server, shape_called("Anthropic's layer"))
    # Findings of an earlier version, which did not look for these.
    ModelProbe.objects.create(
        endpoint=endpoint, model="m", findings=Findings("m", modes={"samples": ""}).as_json()
    )
    draft = JudgeDraft(name="J", endpoint=endpoint, model="m", mode="samples", use_steps=False)
    judge, _ = create_judge(small_project, draft)

    run = start_run(judge, list(small_project.criteria.all()))
    work_on_run(run.pk, "tester")

    findings = known_findings(endpoint, "m")
    assert outcome_of(EvaluationRun.objects.get(pk=run.pk)) == "right"
    assert findings is not None
    assert (findings.most_choices, findings.top_p) == (1, False)
    assert "Please use only one" in findings.notes["top_p"]


@pytest.mark.django_db
def test_a_judge_that_no_mode_fits_is_refused_until_somebody_chooses_one(
    small_project: Project, start_standin: Callable[..., StandInProcess]
) -> None:
    address = start_standin("--unparseable-rate", "1").base_url
    endpoint = save_endpoint(small_project, EndpointDraft(address))
    draft = JudgeDraft(name="J", endpoint=endpoint, model="m")

    with pytest.raises(ValidationError, match="No scoring mode could be read"):
        create_judge(small_project, draft)
    chosen, _ = create_judge(small_project, replace(draft, mode="direct"))

    findings = known_findings(endpoint, "m")
    assert chosen.mode == "direct"
    assert findings is not None
    assert findings_rows(findings)[0].found == "none"
