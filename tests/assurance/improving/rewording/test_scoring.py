"""How a judge scores is tried as a change: its mode, its replies, and the scale it is asked for."""

from collections.abc import Callable

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from assurance.improving.adopting import adopt
from assurance.improving.trials import Trials, spent_on
from assurance.improving.work import SearchLimits
from evaluations.judging.judges.probing import probe_endpoint
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    CandidateOutput,
    Change,
    Criterion,
    ErrandState,
    Judge,
    LockedDocuments,
    ModelReply,
    Project,
    RunItem,
    Score,
    Search,
)
from geval.evaluators.geval import GEval
from geval.evaluators.wording import Wording, as_setting
from geval.llm.calls import Answer
from geval.llm.judgement import score_choices
from geval.llm.prompts import PromptParts
from geval.llm.replies import ReplyChoice
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored
from geval.standin.planted import BEST
from geval.statistics.scales import Scale
from tests.assurance.improving.rewording.doing import reworded, work_on_look

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def coarse(planted: Project, make_judge: Callable[..., Judge], criterion: Criterion) -> Judge:
    """A judge that is told what people weigh, and gives whole points."""
    planted.criteria.update(definition=BEST)
    judge = make_judge(planted, name="Coarse", mode="direct", use_steps=False)
    probe_endpoint(judge.endpoint, judge.model)  # type: ignore[arg-type]
    work_on_run(start_run(judge, [criterion]).pk, "tester")
    return judge


def searched(judge: Judge, criterion: Criterion, calls: int = 600) -> Search:
    search = reworded(judge, criterion, SearchLimits(most_calls=calls), change=Change.SCORING)
    assert search.state == ErrandState.DONE, search.message
    return search


@pytest.mark.slow
def test_a_judge_that_gives_whole_points_is_improved_by_its_scoring(
    coarse: Judge,
    criterion: Criterion,
    locked: LockedDocuments,
    as_role: Callable[[str], Client],
) -> None:
    search = searched(coarse, criterion)
    tried = {row.prompt_key: row for row in search.proposals.exclude(number=0)}
    assert set(tried) == {"mode-logprobs", "mode-samples", "scale-1-10", "scale-0-100"}
    assert sum(bool(row.on_selection) for row in tried.values()) == 2  # the better half
    candidate = search.candidates.get()
    page = as_role("viewer").get(reverse("evaluations:improve", args=["small"])).content.decode()
    assert candidate.title in page
    assert "one reply as it is" in page  # today's scoring, beside what was tried
    assert "20 sampled replies" in page
    assert "not in the better half" in page
    assert candidate.change == Change.SCORING
    assert candidate.training["gain"] > 0.03
    work_on_look(candidate)
    new, run = adopt(candidate)
    assert (new.name, new.version) == (coarse.name, 2)
    changed = new.mode != coarse.mode or "scale" in new.settings.get("wording", "")
    assert changed
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    assert run.items.filter(state="failed").count() == 0
    values = Score.objects.filter(run=run).values_list("value", flat=True)
    assert criterion.scale.spans(min(values), max(values))


@pytest.mark.slow
def test_fewer_samples_are_read_from_the_replies_there_are(
    planted: Project,
    make_judge: Callable[..., Judge],
    criterion: Criterion,
    locked: LockedDocuments,
) -> None:
    judge = make_judge(
        planted, name="Many", mode="samples", samples=12, temperature=1.0, use_steps=False
    )
    work_on_run(start_run(judge, [criterion]).pk, "tester")
    search = Search.objects.create(
        project=planted, judge=judge, criterion=criterion, changes=[Change.SCORING], state="paused"
    )
    trials = Trials(search, Shift())
    outputs = list(CandidateOutput.objects.order_by("pk").values_list("pk", flat=True)[:20])
    before = ModelReply.objects.count()
    whole = trials.known(Wording(), outputs)
    trials.scoring = trials.scoring.merged({"samples": 5})
    few = trials.scores(Wording(), outputs)
    assert spent_on(search).calls == 0
    assert ModelReply.objects.count() == before
    item = RunItem.objects.get(output=outputs[0])
    assert item.reply is not None
    read = [float(one["text"].split()[-1]) for one in item.reply.choices]
    assert whole[0] == pytest.approx(sum(read) / 12)
    assert few[0] == pytest.approx(sum(read[:5]) / 5)
    assert not np.array_equal(whole, few)


def test_a_score_on_an_own_scale_is_brought_to_the_criterions() -> None:
    evaluator = GEval({"wording": as_setting({"q": Wording(scale="1-10")})})
    parts = PromptParts(criterion="q", scale=Scale(1, 5))
    assert "(1-10)" in evaluator.template(parts)
    question = evaluator.question_of("q", Scale(1, 5))
    assert (question.scale, question.onto) == (Scale(1, 10), Scale(1, 5))
    scored = score_choices(
        [answer("10"), answer("7")], question, RequestSettings("m", mode="samples", samples=2)
    )
    assert isinstance(scored, Scored)
    assert scored.value == pytest.approx((5 + (1 + 6 * 4 / 9)) / 2)
    assert sorted(scored.distribution) == [pytest.approx(1 + 6 * 4 / 9), 5]


@pytest.mark.parametrize("wrong", ["ten", "5-1"])
def test_a_scale_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"scale|lowest"):
        Wording(scale=wrong)


def answer(text: str) -> Answer:
    return Answer((ReplyChoice(text),), "m", "", 0, 0, 0, 0.0)
