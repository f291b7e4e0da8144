"""A judge's own wording: in its prompt, on its page, in the archive, and refused where it is
wrong."""

import json

import pytest
from django.core.exceptions import ValidationError

from evaluations.judging.judges.criteria import prompt_parts
from evaluations.judging.judges.judges import JudgeDraft, change_judge, create_judge
from evaluations.models import Criterion, Project
from geval.evaluators.geval import GEval
from geval.evaluators.wording import Wording, as_setting, wordings_in

pytestmark = pytest.mark.django_db
OWN = Wording(definition="Whether sentences follow from each other.", steps="1. Read it aloud.")


@pytest.fixture
def criterion(small_project: Project) -> Criterion:
    criterion = small_project.criteria.get(name="coherence")
    criterion.definition = "Whether it hangs together."
    criterion.save()
    return criterion


def test_the_prompt_has_the_judges_own_words_on_that_criterion_alone(criterion: Criterion) -> None:
    judge = GEval({"wording": as_setting({"coherence": OWN})})
    prompt = judge.template(prompt_parts(criterion), "1. Read it.")
    assert OWN.definition in prompt
    assert "1. Read it aloud." in prompt
    assert criterion.definition not in prompt
    criterion.name = "fluency"
    other = judge.template(prompt_parts(criterion), "1. Read it.")
    assert criterion.definition in other
    assert "aloud" not in other


def test_a_judge_without_own_words_has_the_settings_that_it_always_had() -> None:
    assert GEval({}).settings.model_dump(mode="json") == {}
    assert GEval({"wording": ""}).settings.model_dump(mode="json") == {}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("{", "not JSON"),
        ("[]", "an object with a wording for each criterion"),
        ('{"coherence": {"tone": "kind"}}', "coherence.tone"),
        ('{"coherence": {"prompt": "P", "steps": "S"}}', "has no other parts"),
    ],
)
def test_a_wording_that_cannot_be_read_is_refused_with_the_place(
    project: Project, wrong: str, said: str
) -> None:
    draft = JudgeDraft(name="J", settings={"wording": wrong})
    with pytest.raises(ValidationError, match=said):
        create_judge(project, draft, probe=False)


def test_what_is_written_is_read_again() -> None:
    wordings = {"coherence": OWN, "fluency": Wording(prompt="Rate „it“: {{Output}}")}
    assert wordings_in(as_setting(wordings)) == wordings


def test_a_changed_wording_makes_a_new_version_of_a_judge_that_ran(
    judged_project: Project,
) -> None:
    judge = judged_project.judges.get()
    draft = JudgeDraft(
        name=judge.name,
        endpoint=judge.endpoint,
        model=judge.model,
        mode=judge.mode,
        temperature=judge.temperature,
        settings={"wording": json.dumps({"coherence": {"definition": "New."}})},
    )
    assert change_judge(judge, draft, probe=False).version == judge.version + 1
