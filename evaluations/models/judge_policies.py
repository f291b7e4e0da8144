"""Policies: which answers of a judge are kept, what was promised of them on locked documents, and
what was decided of each output since."""

from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from pydantic import TypeAdapter

from evaluations.models.corpus import CandidateOutput
from evaluations.models.criteria import Criterion
from evaluations.models.judges import Judge
from evaluations.models.project import Project


def read_answer(content: Any) -> Any:
    """Return the answer of `geval.policy` in a policy's content.

    Raises:
        ValidationError: it is none.
    """
    from geval.improving.policy import Policy as Answer  # noqa: PLC0415 (loads scipy)

    return Answer.from_dict(content)


def read_rule(rule: Any) -> Any:
    """Return the confidence of a policy's rule.

    Raises:
        ValidationError: it is none.
    """
    from geval.improving.confidence import ConfidenceRule  # noqa: PLC0415 (loads scipy)

    return TypeAdapter(ConfidenceRule).validate_python(rule)


class PolicyQuerySet(models.QuerySet["Policy"]):
    def answered(self) -> "PolicyQuerySet":
        """Return those whose answer was computed."""
        return self.filter(content__has_key="kept")


class Policy(models.Model):
    """A promise that was asked for, and the answer; at most one policy of a judge on a criterion is
    in use.

    `content` is the answer of `geval.policy` as JSON, without outputs; before a worker has answered
    the `field` that was asked for, and then the `problem`, if any. `rule` is the confidence
    that it chose, with all that was learned. `digest` names the question: the same one is answered
    once. Where the judge is not sure enough, `second` is asked, by `second_rule`, if there is one.
    `check_share` is the random share of kept answers that people check. A policy in use
    decides outputs with ids above `after_output`; those that are not kept go to the campaign with
    the id `campaign`: the core of the site knows no campaigns.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="policies")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="policies")
    second = models.ForeignKey(
        Judge,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        db_index=False,
        related_name="+",
    )
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="policies")
    promise = models.CharField(max_length=60)
    digest = models.CharField(max_length=64)
    content = models.JSONField()
    rule = models.JSONField()
    second_rule = models.JSONField(null=True, blank=True)
    check_share = models.FloatField(default=1.0)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    used_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    after_output = models.BigIntegerField(default=0)
    campaign = models.BigIntegerField(null=True, blank=True)

    objects = PolicyQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("judge", "criterion", "digest"), name="policy_question_once"
            ),
            models.UniqueConstraint(
                fields=("judge", "criterion"),
                condition=models.Q(used_at__isnull=False, ended_at=None),
                name="one_policy_in_use",
            ),
        )

    def __str__(self) -> str:
        judges = self.judge if self.second is None else f"{self.judge}, then {self.second},"
        return f"{self.promise} by {judges} on {self.criterion}"

    def get_absolute_url(self) -> str:
        address = reverse("evaluations:judge_policy", args=[self.project.slug, self.judge_id])
        return f"{address}?criterion={self.criterion_id}"

    @property
    def is_in_use(self) -> bool:
        return self.used_at is not None and self.ended_at is None

    @property
    def kept(self) -> dict[str, Any] | None:
        """The promised point of the curve; None where nothing is promised."""
        return self.content.get("kept")  # type: ignore[no-any-return]

    @property
    def problem(self) -> str:
        """Why it could not be answered; empty where it was, or a worker still has to."""
        return self.content.get("problem", "")  # type: ignore[no-any-return]


class PolicyDecision(models.Model):
    """Whether a judge's answer on an output is kept, and whether it is the second one's. A checked
    answer is kept, and people rate the output as well."""

    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="decisions")
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="+")
    is_kept = models.BooleanField()
    is_by_second = models.BooleanField(default=False, db_default=False)
    is_checked = models.BooleanField(default=False)
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("policy", "output"), name="output_decided_once"),
        )

    def __str__(self) -> str:
        return "kept" if self.is_kept else "sent to people"
