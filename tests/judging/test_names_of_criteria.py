"""A criterion may have a name in any language and of any form: its rating is found under it, steps
and prompts name it, and the stand-in rates it, alone and with others in one form."""

import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from evaluations.corpus.store import LoadResult
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import Judge, Project, RunState
from geval.evaluators.pairwise import Pairwise
from geval.llm.item_texts import Texts
from geval.llm.parsing import Rating, parse_rating
from geval.llm.prompts import JointCriterion, PromptParts, compose_template, render, steps_prompt
from geval.llm.replies import ReplyChoice
from geval.llm.written_steps import read_steps
from geval.standin.judging import read_comparison, read_prompt
from geval.standin.replies import chat_completion
from geval.statistics.scales import Scale
from tests.conftest import OUTPUTS

SCALE = Scale(1, 5)
NAMES = (
    "Kohärenz", "Q1", "Q 1", "10", "tool_use", "fact-check", "流暢さ", "安全性/有害性", "تماسك",
    "Ясность", "İçerik", "रवानी", "C++", "NLI", "Is it clear?", "Stil (Überzeugung)",
    "Coherence: overall", "1. Klarheit", "50/50",
)  # fmt: skip
FORMS = (
    "{}: 4", "- {}: 4", "**{}**: 4/5", "{} (1-5): 4", "| {} | 4 |", '{{"{}": 4}}', "{}：4",
    "{} = 4", "{} - 4", "The {} of this text is 4.",
)  # fmt: skip
TEXTS = Texts("The ferry sails at ten.", "A ferry sails at ten.")


def value_of(reply: str, criterion: str, others: tuple[str, ...] = ()) -> float | str:
    found = parse_rating(ReplyChoice(reply), scale=SCALE, criterion=criterion, others=others)
    return found.value if isinstance(found, Rating) else found.detail


def answer_to(prompt: str) -> str:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": prompt}], "temperature": 0}
    return str(chat_completion(body, call=0)["choices"][0]["message"]["content"])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("accents", ["NFC", "NFD"])
def test_a_rating_is_found_under_its_name(name: str, accents: str) -> None:
    written = unicodedata.normalize(accents, name)

    assert {form: value_of(form.format(written), name) for form in FORMS} == dict.fromkeys(FORMS, 4)


@pytest.mark.parametrize("name", NAMES)
def test_each_criterion_of_a_form_has_its_own_rating(name: str) -> None:
    reply = f"- Tone: 2\n- {name}: 4\n- Depth: 1"

    assert value_of(reply, name, ("Tone", "Depth")) == 4
    assert value_of(reply, "Tone", (name, "Depth")) == 2


@pytest.mark.parametrize("reply", ["10", "It rates 10 of 12 points: 3", "8-10: 3"])
def test_digits_are_a_name_only_before_a_rating(reply: str) -> None:
    assert value_of(reply, "10") != 4
    assert value_of("10", "10") == "10 is outside the scale 1-5: “10”"


@pytest.mark.parametrize("name", NAMES)
def test_the_stand_in_rates_it_alone_and_beside_others(name: str) -> None:
    alone = compose_template(PromptParts(name, SCALE, "Is it?"), steps=None)
    beside = (JointCriterion("tone", SCALE, "Is it friendly?"), None)
    together = compose_template(PromptParts(name, SCALE, "Is it?", beside=beside), steps=None)

    reading = read_prompt(render(alone, TEXTS))

    assert reading is not None
    assert (reading.criterion, reading.output) == (name.lower(), TEXTS.output)
    assert isinstance(value_of(answer_to(render(alone, TEXTS)), name), float)
    assert isinstance(value_of(answer_to(render(together, TEXTS)), name, ("tone",)), float)


@pytest.mark.parametrize("name", NAMES)
def test_steps_and_comparisons_name_it(name: str) -> None:
    parts = PromptParts(name, SCALE, "Is it?")

    steps = read_steps(ReplyChoice(answer_to(steps_prompt(parts))))
    compared = read_comparison(render(Pairwise().template(parts), Texts("s", "one", rival="two")))

    assert name.lower() in steps
    assert compared is not None
    assert compared.criterion == name.lower()


def test_prompts_keep_the_letters_of_a_name() -> None:
    prompt = compose_template(PromptParts("ironie im NLG-Text", SCALE), steps=None)

    assert "Ironie im NLG-Text (1-5)" in prompt
    assert prompt.endswith("- Ironie im NLG-Text:")


@pytest.mark.django_db(transaction=True)
def test_a_run_with_steps_judges_criteria_of_any_name(
    project: Project, load: Callable[..., LoadResult], make_judge: Callable[..., Judge]
) -> None:
    load(project, {"outputs.jsonl": OUTPUTS})
    for name in NAMES:
        project.criteria.create(name=name, definition="Is it?", scale_min=1, scale_max=5)
    judge = make_judge(project, concurrency=8)

    run = start_run(judge, list(project.criteria.all()))
    work_on_run(run.pk, "w")

    run.refresh_from_db()
    assert (run.state, run.message) == (RunState.DONE, "")
    assert run.scores.count() == len(NAMES) * 6
