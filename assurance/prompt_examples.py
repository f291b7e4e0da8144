"""Rated outputs as few-shot examples in a judge's prompt.

No prompt shows a judge an example from the document that it judges
(`geval/llm/prompt_examples.py`).
"""

from collections.abc import Sequence

from django.core.exceptions import ValidationError

from evaluations.judging.judges.judges import change_judge, draft_of, newest_version
from evaluations.models import CandidateOutput, Criterion, Judge
from geval.evaluators.registry import find_evaluator
from geval.evaluators.wording import LONGEST_EXAMPLES, Wording, as_setting, wordings_in
from geval.llm.prompt_examples import example_block, has_delimiter
from geval.llm.prompts import has_placeholder
from geval.statistics.scales import Scale, short


def is_usable_example(output: CandidateOutput) -> bool:
    """Whether an output's texts can be shown unchanged: no placeholders that a prompt would fill,
    and nothing that would end the example."""
    texts = f"{output.document.source}\n{output.text}"
    return not has_placeholder(texts) and not has_delimiter(texts)


def example_of(output: CandidateOutput, rating: float, scale: Scale) -> str:
    """Return the block for a prompt; a mean rating is written as the nearest point of the scale, or
    its label, which the judge can give."""
    point = min(scale.points, key=lambda point: abs(point - rating))
    labels = {at: label for label, at in scale.labels.items()}
    return example_block(output.document.source, output.text, labels.get(point, short(point)))


def why_no_examples(judge: Judge, criterion: Criterion) -> str:
    """Return why a judge's prompt on a criterion takes no examples, or an empty text."""
    evaluator = find_evaluator(judge.kind)
    if evaluator is None or "wording" not in evaluator.Settings.model_fields:
        return f"{judge.label} takes no examples: only judges of G-Eval have them."
    wording = wordings_in(judge.settings.get("wording", "")).get(criterion.name, Wording())
    if criterion.prompt_file or wording.prompt or wording.beside:
        return f"{criterion.name} is asked by a whole prompt; write the example into it."
    return ""


def add_examples(
    judge: Judge, criterion: Criterion, rated: Sequence[tuple[CandidateOutput, float]]
) -> tuple[Judge, int]:
    """Add outputs with their mean ratings to the examples of a judge on a criterion.

    Returns:
        The newest version of the judge (a new one if runs used the last), and how many examples it
        has on the criterion.

    Raises:
        ValidationError: this judge or criterion takes no examples, or they are too long; the
            message says what to do.
    """
    newest = newest_version(judge.project, judge.name) or judge
    if reason := why_no_examples(newest, criterion):
        raise ValidationError(reason)
    wordings = wordings_in(newest.settings.get("wording", ""))
    wording = wordings.get(criterion.name, Wording())
    blocks = [wording.examples] if wording.examples else []
    for output, rating in rated:
        if not is_usable_example(output):
            raise ValidationError(
                f"{output.system.name} on {output.document.doc_id} holds tags or placeholders of"
                " prompts, so it cannot be an example. Choose another output."
            )
        block = example_of(output, rating, criterion.scale)
        if not any(block in other for other in blocks):
            blocks.append(block)
    examples = "\n\n".join(blocks)
    if len(examples) > LONGEST_EXAMPLES:
        raise ValidationError(
            f"Examples of {criterion.name} would have {len(examples)} characters, and at most"
            f" {LONGEST_EXAMPLES} fit. Choose fewer or shorter outputs."
        )
    wordings[criterion.name] = wording.model_copy(update={"examples": examples})
    settings = newest.settings | {"wording": as_setting(wordings)}
    changed = change_judge(newest, draft_of(newest).changed(settings=settings), probe=False)
    return changed, examples.count("<example>")
