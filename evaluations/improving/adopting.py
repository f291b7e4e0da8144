"""Using a change: it becomes a judge like any other, or the next version of one."""

import json

from django.db import transaction

from evaluations.judges.judges import JudgeDraft, change_judge, create_judge, newest_version
from evaluations.models import Candidate, EvaluationRun, Judge
from evaluations.runs.lifecycle import start_run

SUFFIX = " improved"


def name_of_improved(judge: Judge) -> str:
    """The name of the judge that a judge's changes are adopted as."""
    return judge.name if judge.name.endswith(SUFFIX) else f"{judge.name}{SUFFIX}"


@transaction.atomic
def adopt(candidate: Candidate) -> tuple[Judge, EvaluationRun]:
    """The judge that a candidate makes, and its run on every output; changes on several criteria
    make one judge.

    Raises:
        ValidationError: the name is another judge's.
        RunError: it cannot run.
    """
    search = candidate.search
    name = name_of_improved(search.judge)
    there = newest_version(search.project, name)
    formulas = json.loads(there.settings.get("formula", "{}")) if there else {}
    formulas[search.criterion.name] = candidate.formula
    draft = JudgeDraft(name=name, kind="formula", settings={"formula": json.dumps(formulas)})
    judge = change_judge(there, draft) if there else create_judge(search.project, draft)[0]
    criteria = list(search.project.criteria.filter(name__in=formulas))
    run = start_run(judge, criteria)
    Candidate.objects.filter(pk=candidate.pk).update(adopted_as=judge)
    candidate.adopted_as = judge
    return judge, run
