"""G-Eval, pairwise judges, steps and explanations on a real model with a real tokenizer: SmolLM2 on
llama.cpp's server.

It is far too small to judge well. What counts is that nothing is misread: its weighted scores are
its own probabilities, every score is on the scale, and every item without one says why.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.errands import request_explanation, work_on_errand
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    CandidateOutput,
    EvaluationRun,
    ItemState,
    Judge,
    ModelReply,
    PairScore,
    Project,
    RunState,
)
from geval.llm.parsing import Reason
from tests.processes import ModelProcess
from tests.servers.asking import weighted_rating

pytestmark = pytest.mark.django_db(transaction=True)
OUTPUTS = [
    {
        "doc_id": f"d{number}",
        "system_id": system,
        "source": f"The {place} ferry sails at {number} in the morning. It carries cars, and it is"
        " late in winter.",
        "output": text.format(place, number),
    }
    for number, place in enumerate(("Aran", "Bergen", "Calais", "Dover", "Elba"), start=5)
    for system, text in (
        ("good", "The {} ferry leaves at {} in the morning and takes cars."),
        ("short", "{}, {}."),
        ("wrong", "{} has {} airports, and none of them has a ferry."),
        ("odd", "Ferry ferry {} a ferry {} sails sails, naïvely …"),
    )
]
# Why a reply of a model may not count: it is none of these that we failed to ask or to compute.
UNREADABLE = {
    Reason.NO_RATING, Reason.OUT_OF_SCALE, Reason.TWO_RATINGS, Reason.BETWEEN_POINTS, Reason.CUT,
    Reason.REFUSAL, Reason.EMPTY, Reason.LOW_COVERAGE,
}  # fmt: skip


@pytest.fixture
def corpus(project: Project, load: Callable[..., object]) -> Project:
    """Twenty outputs, and a criterion with steps."""
    load(project, {"outputs.jsonl": "\n".join(json.dumps(row) for row in OUTPUTS)})
    criterion = project.criteria.create(
        name="coherence", definition="the summary reads as one text and keeps to the source"
    )
    criterion.steps.create(version=1, text="1. Read both texts.\n2. Rate the summary from 1 to 5.")
    return project


def judge_of(corpus: Project, model: ModelProcess, **about: object) -> Judge:
    endpoint, _ = corpus.endpoints.get_or_create(
        name="local", defaults={"base_url": model.base_url}
    )
    draft = JudgeDraft(
        name=f"SmolLM2 {len(corpus.judges.all())}",
        endpoint=endpoint,
        model="smollm2",
        timeout_seconds=600,
        **about,
    )
    return create_judge(corpus, draft)[0]


def run_of(judge: Judge) -> EvaluationRun:
    """A whole run of a judge on all criteria; without a score it has failed."""
    run = start_run(judge, list(judge.project.criteria.all()))
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    counts = run.items_by_state()
    expected = RunState.DONE if counts[ItemState.DONE] else RunState.FAILED
    assert run.state == expected, run.message
    assert counts[ItemState.PENDING] == 0
    reasons = set(run.items.filter(state=ItemState.FAILED).values_list("reason", flat=True))
    assert reasons <= UNREADABLE
    return run


def test_the_probe_finds_what_the_server_can_do(corpus: Project, local_llm: ModelProcess) -> None:
    # A prompt of one's own, which has no tags: between tags the model answers at length, and the
    # probe finds that samples serve better.
    corpus.criteria.update(
        prompt_file="Source: {{Document}}\n\nSummary: {{Summary}}\n\nRate the summary's coherence"
        " from 1 to 5.\n\nEvaluation Form (scores ONLY):\n\n- Coherence:"
    )
    judge = judge_of(corpus, local_llm)

    findings = known_findings(judge.endpoint, "smollm2")
    assert findings is not None
    assert findings.logprobs >= 5
    assert findings.temperature
    assert not findings.echo
    assert judge.mode == "logprobs"


def as_sent(choice: dict[str, Any]) -> dict[str, Any]:
    """A stored choice as the server sent it: asked again it may answer otherwise, as it computes
    several requests at once."""
    tokens = [
        {"token": text, "top_logprobs": [{"token": t, "logprob": p} for t, p in alternatives]}
        for text, _logprob, alternatives in choice["tokens"]
    ]
    return {"choices": [{"logprobs": {"content": tokens}}]}


def test_weighted_scores_are_the_models_own_probabilities_of_the_same_request(
    corpus: Project, local_llm: ModelProcess
) -> None:
    # To this question, unlike those for a number, the model answers in a word most of the time.
    corpus.criteria.update(
        scale_min=0,
        scale_max=1,
        prompt_file="Is every statement of the summary supported by the source? Answer Yes or No."
        "\n\nSource: {{Document}}\n\nSummary: {{Summary}}\n",
    )
    judge = judge_of(corpus, local_llm, mode="logprobs", max_tokens=8, min_coverage=0.1)

    run = run_of(judge)

    compared = 0
    for score in run.scores.select_related("output"):
        reply = run.items.get(output=score.output, criterion=score.criterion).reply
        assert reply is not None
        choice = reply.choices[0]
        if score.note:
            continue  # it was asked again, and this is the reply before
        compared += 1
        points = {"yes": 1.0, "1": 1.0, "no": 0.0, "0": 0.0}
        value, coverage = weighted_rating(as_sent(choice), points)
        assert score.value == pytest.approx(value, abs=1e-6)
        assert score.coverage == pytest.approx(coverage, abs=1e-6)
    assert compared >= len(OUTPUTS) / 2


@pytest.mark.parametrize(
    ("mode", "about"), [("direct", {}), ("samples", {"samples": 2, "temperature": 1.0})]
)
def test_ratings_in_words_are_on_the_scale_or_say_why_there_is_none(
    corpus: Project, local_llm: ModelProcess, mode: str, about: dict[str, object]
) -> None:
    judge = judge_of(corpus, local_llm, mode=mode, max_tokens=8, **about)

    run = run_of(judge)

    scores = list(run.scores.all())
    assert len(scores) + run.items.filter(state=ItemState.FAILED).count() == len(OUTPUTS)
    assert all(1 <= score.value <= 5 for score in scores)
    assert ModelReply.objects.filter(items__run=run).exists()


def test_pairs_are_compared_in_both_orders(corpus: Project, local_llm: ModelProcess) -> None:
    corpus.documents.exclude(doc_id="d5").delete()
    judge = judge_of(
        corpus, local_llm, kind="pairwise", settings={"pairs": "all"}, mode="logprobs", max_tokens=8
    )

    run = run_of(judge)

    pairs = list(PairScore.objects.filter(run=run))
    assert len(pairs) + run.items.filter(state=ItemState.FAILED).count() == 6
    assert all(0 <= pair.value <= 1 and pair.left is not None for pair in pairs)


# A small model repeats some lists without end, and which of them depends on the processor.
DEFINITIONS = {
    "coherence": "the summary reads as one text and keeps to the source",
    "consistency": "every statement of the summary is supported by the source",
    "fluency": "the summary is grammatical and easy to read",
    "clarity": "the summary can be understood without the source",
}


def test_the_model_writes_steps_and_an_explanation(
    corpus: Project, local_llm: ModelProcess
) -> None:
    corpus.documents.exclude(doc_id="d5").delete()
    corpus.criteria.all().delete()
    judge = judge_of(corpus, local_llm, mode="logprobs", max_tokens=8)

    finished = []
    for name, definition in DEFINITIONS.items():
        criterion = corpus.criteria.create(name=name, definition=definition)
        run = start_run(judge, [criterion])
        work_on_run(run.pk, "tester")
        run.refresh_from_db()
        steps = criterion.newest_steps
        if run.state == RunState.PAUSED:
            # So small a model also runs on, or repeats a step.
            reasons = ("cut off before their end", "wrote no evaluation steps")
            assert any(reason in run.message for reason in reasons)
            assert steps is None
            continue
        assert steps is not None
        assert steps.written_by == "smollm2"
        assert steps.text in run.run_criteria.get().template
        finished.append(run)
        break  # each takes the model minutes where other work slows it down

    assert finished
    run = finished[0]
    output = CandidateOutput.objects.of_project(corpus)[0]
    score, _ = run.scores.get_or_create(
        output=output, criterion=run.run_criteria.get().criterion, defaults={"value": 4}
    )
    explanation = request_explanation(score)
    work_on_errand("explanation", explanation.pk)
    explanation.refresh_from_db()
    assert explanation.state == "done", explanation.message
    assert len(explanation.text) > 20
