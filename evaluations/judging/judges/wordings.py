"""The parts of a prompt that a judge words differently from its criteria."""

from collections.abc import Mapping
from typing import Any

from evaluations.judging.judges.judges import change_judge, draft_of
from evaluations.models import Criterion, Judge
from geval.evaluators.geval import GEvalSettings
from geval.evaluators.wording import Wording, as_setting, shown_part, wordings_in
from geval.llm.reflection import PARTS
from geval.texts.word_differences import MarkedLine, line_differences

# A part's title and its lines.
ChangedPart = tuple[str, tuple[MarkedLine, ...]]


def changed_parts(before: Mapping[str, str], after: Mapping[str, str]) -> list[ChangedPart]:
    """Return the parts that differ between two wordings, line by line."""
    return [
        (
            PARTS[part],
            line_differences(shown_part(part, before.get(part, "")), shown_part(part, text)),
        )
        for part, text in after.items()
        if text and text != before.get(part, "")
    ]


def own_wordings(judge: Judge) -> list[tuple[str, list[ChangedPart]]]:
    """Return the parts of the prompt that a judge rewords, by criterion."""
    criteria = {criterion.name: criterion for criterion in judge.project.criteria.all()}
    wordings = wordings_in(judge.settings.get("wording", ""))
    return [
        (name, changed_parts(_texts_of(criteria.get(name)), wording.texts()))
        for name, wording in wordings.items()
    ]


def editable_parts(judge: Judge, criterion: Criterion) -> tuple[str, ...]:
    """Return the parts of the prompt that a judge can reword; none if it cannot."""
    if judge.evaluator is None or not issubclass(judge.evaluator.Settings, GEvalSettings):
        return ()
    wording = wordings_in(judge.settings.get("wording", "")).get(criterion.name, Wording())
    if criterion.prompt_file or wording.prompt:
        return ("prompt",)
    return ("definition", "steps") if judge.use_steps or wording.steps else ("definition",)


def wording_texts(settings: Mapping[str, Any], criterion: Criterion) -> dict[str, str]:
    """Return the parts of a criterion's prompt as a judge with these settings words them."""
    wording = wordings_in(settings.get("wording", "")).get(criterion.name, Wording())
    return _texts_of(criterion) | wording.texts()


def reworded(judge: Judge, criterion: Criterion, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return a judge's settings with these parts of the prompt. Parts that are empty or equal to
    the criterion's are not stored."""
    if not texts:
        return dict(judge.settings)
    before, criterions = judge.settings.get("wording", ""), _texts_of(criterion)
    wordings = wordings_in(before)
    typed = {part: "\n".join(text.strip().splitlines()) for part, text in texts.items()}
    parts = {part: "" if text == criterions[part].strip() else text for part, text in typed.items()}
    wording = wordings.pop(criterion.name, Wording())
    changed = Wording.model_validate(wording.model_dump() | parts)
    if changed != Wording():
        wordings[criterion.name] = changed
    if not wordings and not before:
        return dict(judge.settings)
    return dict(judge.settings) | {"wording": as_setting(wordings) if wordings else ""}


def keep_wording(judge: Judge, criterion: Criterion, texts: Mapping[str, str]) -> Judge:
    """Reword a judge's prompt, which creates its next version once runs have used it.

    Raises:
        ValidationError: as `change_judge`.
    """
    draft = draft_of(judge).changed(settings=reworded(judge, criterion, texts))
    # The requests have the same form, so the endpoint need not be probed again.
    return change_judge(judge, draft, probe=False)


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
