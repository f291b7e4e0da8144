"""The pairwise judge: both orders, position bias measured and cancelled, ties, and what reports
make of it."""

import asyncio
from collections.abc import Callable

import pytest

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, PairScore, Project, RunState
from geval.evaluators.base import Item
from geval.evaluators.pairwise import Pairwise
from geval.llm.calls import Answer
from geval.llm.item_texts import Texts
from geval.llm.prompts import PromptParts
from geval.llm.replies import ReplyChoice, Token
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import ChatRequest
from geval.llm.scoring import Preferred
from geval.statistics.scales import Scale

PARTS = PromptParts("Coherence", Scale(1, 5), definition="How well it hangs together.")
PREFERENCES = "doc_id,system_a,system_b,criterion,annotator,winner\n" + "\n".join(
    f"d{d},good,odd,{criterion},ann,{'good' if d < 3 else 'odd'}"
    for d in (1, 2, 3)
    for criterion in ("coherence",)
)


def preferred(
    said: Callable[[str], ReplyChoice], mode: str = "logprobs", **settings: object
) -> object:
    evaluator = Pairwise(settings)
    settings = RequestSettings("m", mode, samples=4)  # type: ignore[arg-type]
    item = Item(
        Texts("the source", "first text", rival="second text"),
        "coherence",
        evaluator.template(PARTS),
    )
    question = evaluator.question(item, Scale(1, 5), settings)

    async def ask(request: ChatRequest) -> Answer:
        choices = tuple(said(request.prompt) for _ in range(request.n))
        return Answer(choices, "m", "", 1, 1, 1, 0.0)

    return asyncio.run(evaluator.judge(question, settings, ask)).outcome


def token(shares: dict[str, float]) -> ReplyChoice:
    import math

    likeliest = max(shares, key=lambda name: shares[name])
    alternatives = tuple((name, math.log(share)) for name, share in shares.items())
    return ReplyChoice(
        likeliest, tokens=(Token(likeliest, math.log(shares[likeliest]), alternatives),)
    )


def test_a_model_that_always_says_a_has_no_preference_and_a_bias_of_one() -> None:
    outcome = preferred(lambda _prompt: ReplyChoice("A"), "direct")

    assert outcome == Preferred(0.5, {1.0: 0.5, 0.5: 0.0, 0.0: 0.5}, 1.0, left=1.0)


def test_a_model_that_sees_the_better_text_wherever_it_stands_has_no_bias() -> None:
    outcome = preferred(
        lambda prompt: ReplyChoice("A" if prompt.index("first") < prompt.index("second") else "B"),
        "direct",
    )

    assert outcome == Preferred(1.0, {1.0: 1.0, 0.5: 0.0, 0.0: 0.0}, 1.0, left=0.5)


def test_probabilities_of_both_orders_are_averaged_with_a_tie_as_half() -> None:
    def said(prompt: str) -> ReplyChoice:
        in_order = prompt.index("first") < prompt.index("second")
        return token({"A": 0.6, "B": 0.2, "C": 0.2} if in_order else {"A": 0.4, "B": 0.4, "C": 0.2})

    outcome = preferred(said)

    # In order: .6 + .1 = .7 for the first; exchanged: 1 - (.4 + .1) = .5. Shown first: (.7 + .5) /
    # 2.
    assert isinstance(outcome, Preferred)
    assert outcome.value == pytest.approx(0.6)
    assert outcome.left == pytest.approx(0.6)
    assert outcome.distribution == {
        1.0: pytest.approx(0.5),
        0.5: pytest.approx(0.2),
        0.0: pytest.approx(0.3),
    }


def test_one_order_asks_half_and_knows_no_bias() -> None:
    outcome = preferred(lambda _prompt: ReplyChoice("B"), "direct", both_orders=False)

    assert outcome == Preferred(0.0, {1.0: 0.0, 0.5: 0.0, 0.0: 1.0}, 1.0, left=None)


def test_samples_are_counted_in_each_order() -> None:
    replies = iter(["A", "A", "A", "B", "B", "B", "C", "A"])

    outcome = preferred(lambda _prompt: ReplyChoice(next(replies)), "samples")

    # 0.75 in order; exchanged 1 - (1 + 0.5) / 4 = 0.625.
    assert isinstance(outcome, Preferred)
    assert outcome.value == pytest.approx((0.75 + 0.625) / 2)


@pytest.fixture
def compared(small_project: Project, load: Callable[..., object]) -> Project:
    load(small_project, {"preferences.csv": PREFERENCES})
    return small_project


def run_of(
    project: Project, start_standin: Callable[..., object], **settings: object
) -> EvaluationRun:
    base_url = start_standin().base_url  # type: ignore[attr-defined]
    endpoint, _ = project.endpoints.get_or_create(name="e", base_url=base_url)
    draft = JudgeDraft(
        f"pairs {settings}",
        endpoint=endpoint,
        model="offline-stand-in",
        kind="pairwise",
        settings=settings,
    )
    run = start_run(create_judge(project, draft)[0], list(project.criteria.all()))
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    return run


@pytest.mark.django_db(transaction=True)
def test_a_run_compares_the_pairs_that_people_compared_and_scores_outputs_by_their_wins(
    compared: Project, start_standin: Callable[..., object]
) -> None:
    run = run_of(compared, start_standin)

    pairs = list(PairScore.objects.filter(run=run).select_related("output__system", "criterion"))
    assert run.state == RunState.DONE
    assert len(pairs) == 3
    assert {pair.criterion.name for pair in pairs} == {"coherence"}
    assert all(
        pair.left is not None and pair.left > 0.5 for pair in pairs
    )  # the stand-in leans to the left
    assert run.calls == 6
    scores = {score.output_id: score.value for score in run.scores.all()}
    for pair in pairs:
        assert scores[pair.output_id] == pytest.approx(pair.value)
        assert scores[pair.rival_id] == pytest.approx(1 - pair.value)
