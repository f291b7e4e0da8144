"""A run of GPTScore over a few outputs, and what it sends before each of them."""

import json
from collections.abc import Callable, Mapping

from evaluations.judging.judges.judges import JudgeDraft, create_judge
from evaluations.judging.runs.starting import start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import EvaluationRun, Project, RunState


def run_gptscore(
    project: Project,
    load: Callable[..., object],
    texts: Mapping[str, str],
    *,
    base_url: str,
    model: str,
) -> EvaluationRun:
    """A finished run over one output of each document; none of them may fail."""
    rows = (
        json.dumps({"doc_id": doc, "system_id": "s", "source": source_of(doc), "output": text})
        for doc, text in texts.items()
    )
    load(project, {"outputs.jsonl": "\n".join(rows)})
    criterion = project.criteria.create(name="fluency")
    endpoint = project.endpoints.create(name="server", base_url=base_url)
    draft = JudgeDraft(name="GPTScore", kind="gptscore", endpoint=endpoint, model=model)
    judge, _ = create_judge(project, draft)
    run = start_run(judge, [criterion])
    work_on_run(run.pk, "tester")
    run = EvaluationRun.objects.get(pk=run.pk)
    assert run.state == RunState.DONE, run.message
    assert [item.detail for item in run.items.filter(state="failed")] == []
    return run


def source_of(doc: str) -> str:
    return f"source of {doc}"


def sent_before(run: EvaluationRun, doc: str) -> str:
    """What is sent of a document before the blank and its output."""
    template: str = run.run_criteria.get().template
    return template.replace("{{Given}}", source_of(doc)).partition("{{Scored}}")[0].rstrip(" ")
