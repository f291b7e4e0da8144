"""What a judge says in its own words, beside the criteria's."""

from evaluations.evaluators.wording import wordings_in
from evaluations.llm.reflection import PARTS
from evaluations.models import Criterion, Judge
from evaluations.word_differences import MarkedLine, line_differences

Part = tuple[str, tuple[MarkedLine, ...]]


def own_wordings(judge: Judge) -> list[tuple[str, list[Part]]]:
    """By criterion, the parts of the prompt that a judge says otherwise, line by line."""
    criteria = {one.name: one for one in judge.project.criteria.all()}
    found = []
    for name, wording in wordings_in(judge.settings.get("wording", "")).items():
        theirs = _texts_of(criteria.get(name))
        parts = [
            (PARTS[part], line_differences(theirs.get(part, ""), text))
            for part, text in wording.model_dump().items()
            if text and text != theirs.get(part, "")
        ]
        found.append((name, parts))
    return found


def _texts_of(criterion: Criterion | None) -> dict[str, str]:
    if criterion is None:
        return {}
    steps = criterion.newest_steps
    return {
        "introduction": criterion.task_introduction,
        "definition": criterion.definition,
        "steps": steps.text if steps else "",
        "prompt": criterion.prompt_file,
    }
