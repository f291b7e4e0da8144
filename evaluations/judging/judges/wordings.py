"""What a judge says in its own words, beside the criteria's."""

from collections.abc import Mapping

from evaluations.models import Criterion, Judge
from geval.evaluators.wording import shown_part, wordings_in
from geval.llm.reflection import PARTS
from geval.texts.word_differences import MarkedLine, line_differences

# What a part is called, and its lines.
ChangedPart = tuple[str, tuple[MarkedLine, ...]]


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> list[ChangedPart]:
    """The parts of a wording that say something else than before, line by line."""
    return [
        (
            PARTS[part],
            line_differences(shown_part(part, before.get(part, "")), shown_part(part, text)),
        )
        for part, text in after.items()
        if text and text != before.get(part, "")
    ]


def own_wordings(judge: Judge) -> list[tuple[str, list[ChangedPart]]]:
    """By criterion, the parts of the prompt that a judge says otherwise."""
    criteria = {one.name: one for one in judge.project.criteria.all()}
    wordings = wordings_in(judge.settings.get("wording", ""))
    return [
        (name, changed_parts(_texts_of(criteria.get(name)), wording.texts()))
        for name, wording in wordings.items()
    ]


def _texts_of(criterion: Criterion | None) -> dict[str, str]:
    if criterion is None:
        return {}
    steps = criterion.newest_steps
    return {
        "introduction": criterion.task_introduction,
        "definition": criterion.definition,
        "steps": steps.text if steps else "",
        "inputs": criterion.inputs,
        "prompt": criterion.prompt_file,
    }
