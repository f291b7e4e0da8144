"""Use a policy: outputs that come later are kept or sent to a campaign, with random checks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from pydantic import TypeAdapter

from annotations.models import Campaign
from annotations.planning.campaigns import close_campaign
from annotations.planning.filling import add_outputs, open_standing_campaign
from assurance.keeping.proofs import distributions_of
from evaluations.models import CandidateOutput, Policy, PolicyDecision, Role
from evaluations.models.row_by_row import for_each
from evaluations.reports.data import load_data
from geval.improving.confidence import ConfidenceRule, ScoredOutputs
from geval.improving.ground import ImproveError
from geval.improving.promises import PromiseKind, parse_promise
from geval.statistics.locked_rule import is_locked
from geval.statistics.types import FloatArray

_RULE: TypeAdapter[ConfidenceRule] = TypeAdapter(ConfidenceRule)


@transaction.atomic
def use_policy(policy: Policy, *, by: Any) -> Policy:
    """Use a policy from now on, in place of another one of the judge on the criterion, with a
    campaign for the project's annotators; where there is none, for the user.

    Raises:
        ImproveError: it promises nothing.
        AnnotationError: the project has too few annotators.
    """
    if policy.kept is None:
        raise ImproveError("This policy promises nothing, so it cannot be used.")
    others = Policy.objects.filter(judge=policy.judge, criterion=policy.criterion)
    for other in others.filter(used_at__isnull=False, ended_at=None).exclude(pk=policy.pk):
        stop_policy(other)
    policy = Policy.objects.select_for_update(of=("self",)).get(pk=policy.pk)
    if policy.is_in_use:
        return policy
    newest = CandidateOutput.objects.of_project(policy.project).aggregate(newest=Max("pk"))
    name = f"To people: {policy.judge.label} on {policy.criterion.name}"
    # Whether a judge is as close as one person takes a second one.
    overlap = 2 if parse_promise(policy.promise).kind == PromiseKind.ONE_PERSON else 1
    users = _annotators(policy, by)
    campaign = open_standing_campaign(policy.criterion, name, users, overlap=overlap)
    policy.used_at, policy.used_by, policy.ended_at = timezone.now(), by, None
    policy.after_output, policy.campaign = newest["newest"] or 0, campaign.pk
    policy.save()
    return policy


def _annotators(policy: Policy, by: Any) -> list[Any]:
    members = get_user_model()._default_manager.filter(
        memberships__project=policy.project, memberships__role=Role.ANNOTATOR
    )
    return [*members] or [by]


def stop_policy(policy: Policy) -> None:
    """Stop using a policy, and close its campaign."""
    policy.ended_at = timezone.now()
    policy.save(update_fields=["ended_at"])
    for campaign in Campaign.objects.filter(pk=policy.campaign or 0, project=policy.project_id):
        close_campaign(campaign)


def decide_new_outputs() -> None:
    """Decide the outputs that came since each policy in use was last looked at."""
    in_use = Policy.objects.filter(
        used_at__isnull=False, ended_at=None, judge__retired_at=None, project__archived_at=None
    )
    for_each(in_use.select_related("judge__project", "criterion"), decide_outputs, job="policies")


def undecided_outputs(policy: Policy) -> Any:
    """Return the new outputs that are neither kept nor sent to people, as a queryset."""
    outputs = CandidateOutput.objects.of_project(policy.project)
    decided = PolicyDecision.objects.filter(policy=policy).values("output")
    return outputs.filter(pk__gt=policy.after_output).exclude(pk__in=decided)


@transaction.atomic
def decide_outputs(policy: Policy) -> int:
    """Keep the judge's answers on new outputs, or send these to people; return how many were
    decided. Outputs wait until the judge has scored them, and other judges whose agreement is the
    confidence; and while the campaign is closed."""
    # Two workers must not both add the same outputs.
    policy = (
        Policy.objects.select_for_update(of=("self",), skip_locked=True)
        .filter(pk=policy.pk, ended_at=None)
        .select_related("judge__project", "criterion")
        .first()
        or policy
    )
    waiting = np.array(
        sorted(undecided_outputs(policy).values_list("pk", flat=True)), dtype=np.int64
    )
    if not policy.is_in_use or policy.kept is None or not len(waiting):
        return 0
    ids, confidence = _confidence_of(policy, waiting)
    least = policy.kept["threshold"]
    is_kept = confidence >= (-np.inf if least is None else least)
    share = policy.check_share
    kept = set(ids[is_kept].tolist())
    checked = {
        pk for pk in kept if is_locked(str(pk), seed=f"checks of policy {policy.pk}", share=share)
    }
    asked = set(ids.tolist()) - kept
    probabilities = {pk: share if pk in kept else 1.0 for pk in sorted(kept | asked)}
    if not probabilities or not policy.campaign:
        return 0
    if not add_outputs(policy.campaign, asked | checked, probabilities, seed=min(probabilities)):
        return 0
    PolicyDecision.objects.bulk_create(
        (
            PolicyDecision(
                policy=policy, output_id=pk, is_kept=pk in kept, is_checked=pk in checked
            )
            for pk in probabilities
        ),
        batch_size=1000,
    )
    return len(probabilities)


def _confidence_of(policy: Policy, waiting: np.ndarray) -> tuple[np.ndarray, FloatArray]:
    """Return the ids of those outputs that have all scores, and their confidence (NaN for none)."""
    rule, about = _RULE.validate_python(policy.rule), policy.criterion
    named = {each.label: each for each in policy.project.judges.all()}
    others = {name: named[name] for name in _needed(rule) if name in named}
    judges = [policy.judge, *others.values()]
    data = load_data(policy.project, judges, [about], with_withheld=True)
    missing = np.full(len(data.output_ids), np.nan)
    scores, *scores_of_others = (data.judges.get((about.pk, each.pk), missing) for each in judges)
    is_ready = np.isin(data.output_ids, waiting) & ~np.isnan(scores)
    for each in scores_of_others:
        is_ready &= ~np.isnan(each)
    if len(others) < len(_needed(rule)):
        is_ready[:] = False
    places = np.flatnonzero(is_ready)
    distributions = distributions_of(data, about, policy.judge) if len(places) else {}
    outputs = ScoredOutputs(
        scores[places],
        [distributions.get(at) for at in places.tolist()],
        {name: each[places] for name, each in zip(others, scores_of_others, strict=True)},
    )
    confidence = rule.values_of(outputs) if len(places) else np.zeros(0)
    return data.output_ids[places], confidence


def _needed(rule: ConfidenceRule) -> Sequence[str]:
    """Return the labels of the other judges whose scores a confidence takes."""
    if rule.name in rule.columns:
        return [name for name in rule.others if rule.name == f"agreement with {name}"]
    return [*rule.others]
