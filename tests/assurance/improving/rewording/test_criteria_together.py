"""Criteria can be rated together, in one prompt with a form of several lines: one call, and each
reads its own line."""

import json
from collections.abc import Callable

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from assurance.improving.scoring import rated_together
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Judge, ModelReply, Project, Score, Search
from geval.evaluators.geval import GEval
from geval.evaluators.wording import BesideWording, Wording, as_setting, wordings_in
from geval.llm.calls import Answer
from geval.llm.judgement import score_choices
from geval.llm.parsing import Failure, Reason, parse_rating
from geval.llm.prompts import JOINT_INTRODUCTION, PromptParts
from geval.llm.replies import ReplyChoice
from geval.llm.request_settings import RequestSettings
from geval.llm.scoring import Scored
from geval.statistics.scales import Scale
from tests.assurance.improving.rewording.doing import reworded

FLUENCY = BesideWording(criterion="fluency", scale="1-3", definition="grammar", steps="Read.")
COHERENCE = BesideWording(criterion="coherence", scale="1-5", definition="one thread")
SETTINGS = RequestSettings("m", mode="direct")


def together() -> GEval:
    wordings = {
        "coherence": Wording(definition="one thread", beside=(None, FLUENCY)),
        "fluency": Wording(definition="grammar", steps="Read.", beside=(COHERENCE, None)),
    }
    return GEval({"wording": as_setting(wordings)})


def answer(text: str) -> Answer:
    return Answer((ReplyChoice(text),), "m", "", 0, 0, 0, 0.0)


def test_the_prompt_has_every_criterion_its_steps_and_a_line_of_the_form_for_each() -> None:
    parts = PromptParts("coherence", Scale(1, 5), introduction="Rate it on one metric.")
    template = together().template(parts)
    assert template.startswith(JOINT_INTRODUCTION)
    assert "Coherence (1-5) - one thread\n\nFluency (1-3) - grammar" in template
    assert "Evaluation Steps:\n\nFluency:\nRead." in template
    assert template.endswith("Evaluation Form (scores ONLY):\n\n- Coherence:\n- Fluency:")


def test_each_criterion_reads_its_own_line_on_its_own_scale() -> None:
    evaluator, reply = together(), answer("- Coherence: 4\n- Fluency: 2")
    for criterion, scale, expected in (
        ("coherence", Scale(1, 5), 4),
        ("fluency", Scale(1, 3), 2),
    ):
        scored = score_choices([reply], evaluator.question_of(criterion, scale), SETTINGS)
        assert isinstance(scored, Scored)
        assert scored.value == expected


def test_a_reply_without_a_criterions_line_gives_it_no_score() -> None:
    question = together().question_of("fluency", Scale(1, 3))
    found = score_choices([answer("- Coherence: 2")], question, SETTINGS)
    assert isinstance(found, Failure)
    assert found.reason == Reason.NO_RATING


@pytest.mark.parametrize("reply", ["4", "The text reads well.", "4\n2"])
def test_a_reply_that_names_no_criterion_rates_none_and_says_so(reply: str) -> None:
    scored = score_choices(
        [answer(reply)], together().question_of("fluency", Scale(1, 3)), SETTINGS
    )

    assert isinstance(scored, Failure)
    assert scored.reason == Reason.NO_RATING


@given(
    points=st.lists(st.integers(1, 5), min_size=2, max_size=6),
    mark=st.sampled_from([":", " (1-5):", "**:", " ="]),
    bullet=st.sampled_from(["", "- ", "* ", "1. ", "**"]),
)
def test_of_any_form_each_name_gets_the_number_behind_it(
    points: list[int], mark: str, bullet: str
) -> None:
    names = [f"metric {letter}" for letter in "abcdef"[: len(points)]]
    text = "\n".join(
        f"{bullet}{name.title()}{mark} {point}" for name, point in zip(names, points, strict=True)
    )
    for name, point in zip(names, points, strict=True):
        others = [other for other in names if other != name]
        found = parse_rating(ReplyChoice(text), scale=Scale(1, 5), criterion=name, others=others)
        assert not isinstance(found, Failure), (text, found)
        assert found.value == point


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"beside": [None], "examples": "x"}, "rates its criterion alone"),
        ({"beside": [FLUENCY.model_dump()]}, "say once, by null"),
        ({"beside": [None, {"criterion": "fluency", "scale": "five"}]}, "highest value"),
    ],
)
def test_a_list_that_cannot_be_asked_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wordings_in(json.dumps({"coherence": wrong}))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", ["logprobs", "samples"])
def test_one_call_rates_an_output_on_all_criteria(
    small_project: Project, make_judge: Callable[..., Judge], mode: str
) -> None:
    small_project.criteria.update(inputs="")
    small_project.criteria.filter(name="fluency").update(scale_max=3)
    setting = together().settings.model_dump(mode="json")
    judge = make_judge(small_project, mode=mode, samples=4, use_steps=False, settings=setting)
    run = start_run(judge, list(small_project.criteria.all()))
    work_on_run(run.pk, "tester")
    run.refresh_from_db()
    assert run.items.filter(state="failed").count() == 0
    outputs = run.items.values("output").distinct().count()
    assert Score.objects.filter(run=run).count() == 2 * outputs
    assert ModelReply.objects.count() == run.calls == outputs


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_search_tries_them_together_and_says_so(
    planted: Project, judge: Judge, locked: object, as_role: Callable[..., object]
) -> None:
    criterion = planted.criteria.get()
    planted.criteria.create(name="grammar", definition="Is the grammar right?")
    search = Search(project=planted, judge=judge, criterion=criterion)
    change = rated_together(search.judge, criterion, Wording())
    assert change is not None
    beside = Wording.model_validate(dict(change.wording)).beside
    assert [one and one.criterion for one in beside] == [None, "grammar"]

    done = reworded(judge, criterion, change="scoring")

    tried = done.proposals.get(prompt_key="together")
    assert tried.on_batch is not None
    page = as_role("viewer").get(reverse("evaluations:improve", args=["small"]))  # type: ignore[attr-defined]
    assert "Rated in the same prompt" in page.content.decode()


@pytest.mark.django_db
def test_a_whole_prompt_or_named_points_are_not_rated_together(
    small_project: Project, make_judge: Callable[..., Judge]
) -> None:
    judge = make_judge(small_project, base_url="http://127.0.0.1:1/v1")
    first, second = small_project.criteria.all()
    assert rated_together(judge, first, Wording()) is not None
    second.prompt_file = "{{Summary}}"
    second.save()
    assert rated_together(judge, first, Wording()) is None
