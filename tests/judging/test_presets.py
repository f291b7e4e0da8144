"""Presets: every task in both wordings, each a prompt that can be sent, and found for the criteria
of a file."""

import pytest

from geval.llm.item_texts import Texts
from geval.llm.presets import Preset, presets, presets_for
from geval.llm.prompts import PromptParts, compose_template, render
from geval.llm.scoring import why_not_by_logprobs
from geval.statistics.scales import Scale
from geval.texts.turns import Turn

TASKS = {
    "summarisation": {"coherence", "consistency", "fluency", "relevance"},
    "dialogue": {"naturalness", "coherence", "engagingness", "groundedness", "understandability"},
    "hallucination": {"consistency"},
}

ASKED, SAID = Turn("user", "Go on."), Turn("assistant", "the output")
PLAIN = Texts("the source", "the output", "the fact")
TEXTS = dict.fromkeys(TASKS, PLAIN) | {
    "turn": Texts("the source", "the output", "the fact", history=(ASKED,), turns=(SAID,)),
    "session": Texts("the source", "user: Go on.", turns=(ASKED, SAID)),
}


@pytest.mark.parametrize("domain", ["news", "any"])
def test_every_task_has_its_criteria_in_both_wordings(domain: str) -> None:
    found = {
        task: {p.name for p in presets() if (p.task, p.domain) == (task, domain)} for task in TASKS
    }

    assert found == TASKS


@pytest.mark.parametrize("preset", presets(), ids=lambda preset: preset.key)
def test_every_preset_makes_a_prompt_that_can_be_sent_and_scored(preset: Preset) -> None:
    parts = PromptParts(
        preset.name, preset.scale, preset.definition, preset.introduction, preset.inputs
    )

    prompt = render(compose_template(parts, steps="1. Read."), TEXTS[preset.task.split()[-1]])

    assert "the output" in prompt
    assert "{{" not in prompt
    assert why_not_by_logprobs(preset.scale) == ""
    assert not {"news", "article"} & set(prompt.lower().split()) or preset.domain == "news"


def test_of_several_tasks_the_one_that_knows_most_of_the_names_is_taken() -> None:
    three = Scale(1, 3)

    found = presets_for({"coherence": three, "naturalness": three, "engagingness": three})

    assert {preset.task for preset in found.values()} == {"dialogue"}
