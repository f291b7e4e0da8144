"""The playground: try a judge on a few items, with a reworded prompt if wanted.

A trial is a run under the same limits and leases as any other, and its scores count nowhere.
"""

from collections.abc import Mapping, Sequence

from evaluations.judging.judges.wordings import reworded
from evaluations.judging.runs.lifecycle import RunError
from evaluations.judging.runs.starting import RunRequest, StudyRequest, start_run
from evaluations.models import CandidateOutput, Criterion, EvaluationRun, Judge, Project
from evaluations.models.improving import withheld_documents
from evaluations.models.runs import PLAYGROUND
from geval.evaluators.llm_evaluator import LlmEvaluator

# The replies are read side by side.
MOST_ITEMS = 3
# The items are options of a form's list.
MOST_OFFERED = 200


def can_try(judge: Judge) -> bool:
    """Whether a judge rates one output at a time by asking a model, and may be run."""
    evaluator = judge.evaluator
    if evaluator is None or not issubclass(evaluator, LlmEvaluator) or evaluator.compares_pairs:
        return False
    return judge.retired_at is None and judge.endpoint is not None and not judge.endpoint.retired_at


def offered_outputs(project: Project) -> list[CandidateOutput]:
    """Return the first outputs of a project, with document and system.

    Locked documents are excluded until the last test: changes made here are tested on them.
    """
    outputs = CandidateOutput.objects.of_project(project).exclude(
        document__in=withheld_documents(project.pk)
    )
    ordered = outputs.select_related("document", "system").order_by("document_id", "pk")
    return list(ordered[:MOST_OFFERED])


def latest_trial(judge: Judge) -> EvaluationRun | None:
    """Return the last playground run of a judge."""
    return judge.runs.filter(purpose=PLAYGROUND).order_by("-pk").first()


def try_items(
    judge: Judge, criterion: Criterion, outputs: Sequence[int], texts: Mapping[str, str]
) -> EvaluationRun:
    """Judge a few outputs (by their ids) on a criterion.

    Args:
        texts: the parts of the prompt as `wording_texts` gives them, changed or not.

    Raises:
        RunError: an output is not offered, there are too many, or as `start_run`.
        PromptError: as `start_run`.
    """
    offered = {output.pk for output in offered_outputs(judge.project)}
    if not outputs or len(outputs) > MOST_ITEMS or not set(outputs) <= offered:
        raise RunError(f"Choose one to {MOST_ITEMS} of the items that are offered.")
    settings = reworded(judge, criterion, texts)
    study = StudyRequest(purpose=PLAYGROUND, outputs=outputs, changes={"settings": settings})
    return start_run(judge, [criterion], RunRequest(study=study))
