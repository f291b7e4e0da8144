"""Use a policy: outputs that come later are kept or sent to a campaign, with random checks."""

from typing import Any

import numpy as np
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotations.models import Campaign
from annotations.planning.campaigns import close_campaign
from annotations.planning.filling import add_outputs, open_standing_campaign
from assurance.keeping.distributions import distributions_of
from evaluations.models import CandidateOutput, Policy, PolicyDecision, Role
from evaluations.models.changes import note_change
from evaluations.models.judge_policies import read_rule
from evaluations.models.row_by_row import for_each
from evaluations.reports.data import load_data
from geval.improving.confidence import ScoredOutputs
from geval.improving.ground import ImproveError
from geval.improving.promises import PromiseKind, parse_promise
from geval.statistics.locked_rule import is_locked
from geval.statistics.types import FloatArray, IntArray


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
        used_at__isnull=False, ended_at=None, judge__retired_at=None, second__retired_at=None,
        project__archived_at=None,
    )  # fmt: skip
    for_each(in_use.select_related("judge__project", "criterion"), decide_outputs, job="policies")


def undecided_outputs(policy: Policy) -> Any:
    """Return the new outputs that are neither kept nor sent to people, as a queryset."""
    outputs = CandidateOutput.objects.of_project(policy.project)
    decided = PolicyDecision.objects.filter(policy=policy).values("output")
    return outputs.filter(pk__gt=policy.after_output).exclude(pk__in=decided)


@transaction.atomic
def decide_outputs(policy: Policy) -> int:
    """Keep judges' answers on new outputs, or send these to people; return how many were decided.
    Outputs wait until the judge has scored them, and the second one where the first is not sure
    enough; and while the campaign is closed."""
    # Two workers must not both add the same outputs.
    policy = (
        Policy.objects.select_for_update(of=("self",), skip_locked=True)
        .filter(pk=policy.pk, ended_at=None)
        .select_related("judge__project", "second", "criterion")
        .first()
        or policy
    )
    waiting = np.array(
        sorted(undecided_outputs(policy).values_list("pk", flat=True)), dtype=np.int64
    )
    if not policy.is_in_use or policy.kept is None or not len(waiting):
        return 0
    kept_by = _kept_by(policy, waiting)
    kept = {pk for pk, judge in kept_by.items() if judge is not None}
    share = policy.check_share
    checked = {
        pk for pk in kept if is_locked(str(pk), seed=f"checks of policy {policy.pk}", share=share)
    }
    asked = kept_by.keys() - kept
    probabilities = {pk: share if pk in kept else 1.0 for pk in sorted(kept | asked)}
    if not probabilities or not policy.campaign:
        return 0
    if not add_outputs(policy.campaign, asked | checked, probabilities, seed=min(probabilities)):
        return 0
    PolicyDecision.objects.bulk_create(
        (
            PolicyDecision(
                policy=policy,
                output_id=pk,
                is_kept=pk in kept,
                is_by_second=pk in kept and kept_by[pk] == policy.second_id,
                is_checked=pk in checked,
            )
            for pk in probabilities
        ),
        batch_size=1000,
    )
    # For the weeks, and for reports, which weigh ratings by these probabilities.
    note_change(policy.project_id, [policy.criterion_id])
    return len(probabilities)


def _kept_by(policy: Policy, waiting: IntArray) -> dict[int, int | None]:
    """Return the id of the judge whose answer is kept, by the output's id; None for outputs that go
    to people. Outputs that still wait for a score are left out."""
    about, least = policy.criterion, (policy.kept or {})["threshold"]
    judges = [judge for judge in (policy.judge, policy.second) if judge is not None]
    data = load_data(policy.project, judges, [about], with_withheld=True)
    missing = np.full(len(data.output_ids), np.nan)
    kept_by: dict[int, int | None] = {}
    others: dict[str, FloatArray] = {}
    places = np.flatnonzero(np.isin(data.output_ids, waiting))
    for judge, rule in zip(judges, (policy.rule, policy.second_rule), strict=False):
        scores = data.judges.get((about.pk, judge.pk), missing)
        # What the first judge has not scored waits, also for the second.
        places = places[~np.isnan(scores[places])]
        distributions = distributions_of(data, about, judge) if len(places) else {}
        confidence = read_rule(rule).values_of(
            ScoredOutputs(
                scores[places],
                [distributions.get(at) for at in places.tolist()],
                {label: each[places] for label, each in others.items()},
            )
        )
        is_sure = confidence >= (-np.inf if least is None else least)
        kept_by |= dict.fromkeys(data.output_ids[places[is_sure]].tolist(), judge.pk)
        places, others = places[~is_sure], {judge.label: scores}
    return kept_by | dict.fromkeys(data.output_ids[places].tolist())
