"""Adopt a change: it becomes a judge, or the next version of one."""

import json

from django.db import transaction

from assurance.improving.rewording import change_of, wording_of
from evaluations.judging.judges.judges import (
    JudgeDraft,
    change_judge,
    create_judge,
    draft_of,
    newest_version,
    same_but_for_settings,
)
from evaluations.judging.runs.starting import start_run
from evaluations.models import Candidate, Change, EvaluationRun, Judge, Proposal
from geval.evaluators.wording import as_setting, wordings_in
from geval.improving.ground import ImproveError

SUFFIX = " improved"


def name_of_improved(judge: Judge) -> str:
    """Return the name of the judge under which a judge's changes are adopted."""
    return judge.name if judge.name.endswith(SUFFIX) else f"{judge.name}{SUFFIX}"


@transaction.atomic
def adopt(candidate: Candidate) -> tuple[Judge, EvaluationRun]:
    """Create the judge of a candidate, and start its run on every output.

    A wording becomes the judge's next version. Formulas on several criteria together become one
    separate judge.

    Raises:
        ImproveError: the judge has changed since the search.
        ValidationError: the name belongs to another judge.
        RunError: the judge cannot run.
    """
    if candidate.proposal is None:
        judge, names = _with_formula(candidate)
    else:
        judge, names = _with_wording(candidate, candidate.proposal)
    run = start_run(judge, list(judge.project.criteria.filter(name__in=names)))
    Candidate.objects.filter(pk=candidate.pk).update(adopted_as=judge)
    candidate.adopted_as = judge
    return judge, run


def _with_formula(candidate: Candidate) -> tuple[Judge, list[str]]:
    search = candidate.search
    name = name_of_improved(search.judge)
    existing = newest_version(search.project, name)
    formulas = json.loads(existing.settings.get("formula", "{}")) if existing else {}
    formulas[search.criterion.name] = candidate.formula
    draft = JudgeDraft(name=name, kind="formula", settings={"formula": json.dumps(formulas)})
    judge = change_judge(existing, draft) if existing else create_judge(search.project, draft)[0]
    return judge, list(formulas)


def _with_wording(candidate: Candidate, proposal: Proposal) -> tuple[Judge, list[str]]:
    """Create the next version, and run it on every criterion on which the searched one ran."""
    search = candidate.search
    searched, newest = search.judge, newest_version(search.project, search.judge.name)
    if newest is None or not same_but_for_settings(newest, searched):
        raise ImproveError(
            f"{searched.name} has been changed since the search, so what was proven does not hold"
            " for it. Search again."
        )
    own = wordings_in(newest.settings.get("wording", ""))
    changed = change_of(proposal)
    is_asked_the_same = changed == Change.SCORING and proposal.part != "scale"
    wordings = (
        own if is_asked_the_same else own | {search.criterion.name: wording_of(proposal.texts)}
    )
    draft = draft_of(newest).changed(
        settings=newest.settings | ({"wording": as_setting(wordings)} if wordings else {}),
        **dict(proposal.scoring),
    )
    ran = searched.runs.counting().values_list("run_criteria__criterion__name", flat=True)
    names = {name for name in ran if name} | {search.criterion.name}
    return change_judge(newest, draft, probe=False), sorted(names)
