"""Runs of judges, the items that workers claim, paid replies, and scores."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.fields.json import KT
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone

from evaluations.models.corpus import CandidateOutput
from evaluations.models.criteria import Criterion, EvaluationSteps
from evaluations.models.errands import Errand
from evaluations.models.judges import Judge
from evaluations.models.project import Project
from evaluations.models.workers import WorkerSlot
from geval.llm.cost import cost
from geval.llm.parsing import Reason
from geval.llm.run_parameters import RunParameters
from geval.statistics.goal_widths import LEAST_GOAL_WIDTH, MOST_GOAL_WIDTH
from geval.statistics.scales import NOT_APPLICABLE


class RunState(models.TextChoices):
    PREPARING = "preparing", "Preparing"
    RUNNING = "running", "Running"
    PAUSED = "paused", "Paused"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"  # all items that were tried failed; it can be resumed
    CANCELLED = "cancelled", "Cancelled"


# The purpose of a run that tries a judge on a few items (judging/runs/trial.py).
PLAYGROUND = "playground"
ACTIVE_STATES = (RunState.PREPARING, RunState.RUNNING)


class Transport(models.TextChoices):
    LIVE = "live", "Call by call"
    BATCH = "batch", "In batches (cheaper, within a day)"


# The key in `parameters` of a run that is judged while the rest of its items is laid out.
MORE_TO_LAY_OUT = "more_to_lay_out"
PARTLY_LAID_OUT = models.Q(parameters__has_key=MORE_TO_LAY_OUT)
# The beginning of the message of a run that ended at its goal.
GOAL_REACHED = "Goal reached"

# SQL for a lease in a column that has expired, or ends later than any lease can (the clock was set
# back).
LONGEST_LEASE = datetime.timedelta(minutes=15)
EXPIRED = "({0} < now() OR {0} > now() + interval '15 minutes')"


def is_free(lease: str) -> models.Q:
    """Return a condition for an expired lease in the named column (see EXPIRED)."""
    return models.Q(**{f"{lease}__lt": Now()}) | models.Q(**{f"{lease}__gt": Now() + LONGEST_LEASE})


def is_unattended() -> models.Q:
    """Return a condition for runs that no worker is preparing, or processing the batches of."""
    return models.Q(preparer_until=None) | is_free("preparer_until")


class EvaluationRunQuerySet(models.QuerySet["EvaluationRun"]):
    def unattended(self) -> EvaluationRunQuerySet:
        """Return runs that no worker is preparing."""
        return self.filter(is_unattended())

    def with_work(self) -> EvaluationRunQuerySet:
        """Return active runs that have work for a worker: to be prepared, with unclaimed items,
        with batches to process, or to be ended."""
        items = RunItem.objects.filter(run=models.OuterRef("pk"))
        batches = Batch.objects.filter(run=models.OuterRef("pk"))
        is_batch = models.Q(transport=Transport.BATCH)
        claimable, ended = models.Exists(items.claimable()), ~models.Exists(items.open())
        may_send = claimable & ~models.Exists(batches.waiting_to_try_again())
        of_batches = is_batch & is_unattended() & (may_send | models.Exists(batches.due()) | ended)
        of_calls = ~is_batch & (claimable | ended)
        return self.filter(
            (models.Q(state=RunState.PREPARING) & is_unattended())
            | (models.Q(state=RunState.RUNNING) & (of_batches | of_calls))
        )

    def waiting(self) -> EvaluationRunQuerySet:
        """Return runs with work that no slot of a worker serves."""
        served = WorkerSlot.objects.serving().values("run_id")
        return self.active().with_work().exclude(pk__in=served)

    def counting(self) -> EvaluationRunQuerySet:
        """Return runs whose scores count for their judge, without those of searches and studies."""
        return self.filter(search=None, purpose="")

    def of_judges_that_run(self) -> EvaluationRunQuerySet:
        """Return runs executed by workers, without those of imported scores."""
        return self.exclude(judge__kind="imported")

    def active(self) -> EvaluationRunQuerySet:
        return self.filter(state__in=ACTIVE_STATES)

    def unfinished(self) -> EvaluationRunQuerySet:
        """Return active and paused runs, which may continue."""
        return self.filter(state__in=(*ACTIVE_STATES, RunState.PAUSED))

    def with_prices(self, *names: str) -> models.QuerySet[EvaluationRun, dict[str, Any]]:
        """Return rows of these fields and of what `RunParameters.prices` needs, unordered."""
        rows: models.QuerySet[EvaluationRun, dict[str, Any]] = self.order_by().values(
            *names,
            "transport",
            price_in=KT("parameters__price_in"),
            price_out=KT("parameters__price_out"),
            price_cached=KT("parameters__price_cached"),
        )
        return rows

    def resuming(self) -> EvaluationRunQuerySet:
        """Return paused runs that resume by themselves, at `resumes_at`."""
        return self.filter(state=RunState.PAUSED, resumes_at__isnull=False)

    def due(self) -> EvaluationRunQuerySet:
        """Return resuming runs whose time has come."""
        return self.resuming().filter(resumes_at__lte=Now())


class EvaluationRun(models.Model):
    """A judge on a selection of outputs and criteria. Imported scores are a run executed
    elsewhere."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="runs")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="runs")
    state = models.CharField(max_length=20, choices=RunState, default=RunState.PREPARING)
    message = models.TextField(
        blank=True, help_text="Why the run is paused or failed, in a sentence."
    )
    parameters = models.JSONField(
        default=dict, help_text="The judge's settings at the start of the run."
    )
    software_version = models.CharField(max_length=50, blank=True)
    transport = models.CharField(max_length=10, choices=Transport, default=Transport.LIVE)
    budget = models.DecimalField(
        max_digits=14,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="The run pauses before its cost exceeds this.",
    )
    goal_width = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(LEAST_GOAL_WIDTH), MaxValueValidator(MOST_GOAL_WIDTH)],
        help_text="The run ends when its rho is known within plus or minus this.",
    )
    goal_rival = models.ForeignKey(
        Judge,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        db_index=False,
        related_name="+",
        help_text="The run ends when it is known whether its judge agrees better than this one.",
    )
    # Updated with every batch of results, so that the cost of a run's page does not depend on its
    # size.
    calls = models.PositiveBigIntegerField(
        default=0, help_text="Requests sent, repeated ones included."
    )
    cache_hits = models.PositiveBigIntegerField(
        default=0, help_text="Items answered without their own call."
    )
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    cached_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of those of prompts."
    )
    reasoning_tokens = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of those of completions: thoughts."
    )
    search = models.ForeignKey(
        "Search",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        editable=False,
        related_name="runs",
        help_text="The search that tries something in it; its scores count nowhere else.",
    )
    purpose = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The kind of study that asked; its scores count nowhere else. Empty for none.",
    )
    preparer_until = models.DateTimeField(
        null=True, blank=True, help_text="Until when one worker may prepare it."
    )
    preparations = models.PositiveSmallIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="How often a worker started to prepare it.",
    )
    waits_until = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Until when calls wait, as the endpoint asked.",
    )
    waits_for = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The endpoint's message about it.",
    )
    resumes_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When a run that is paused by a quota or an outage resumes by itself.",
    )
    served_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When a worker last began or ended to serve it.",
    )
    result_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When a worker last stored a result of it, to some seconds.",
    )
    resumed_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When it was last resumed; empty if it never was.",
    )
    outage_since = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Since when its endpoint, which answered before, does not, or the disk is full.",
    )
    reply_models = models.JSONField(
        default=list,
        db_default=models.Value([], models.JSONField()),
        editable=False,
        help_text="The models that its replies named, in the order of their first.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = EvaluationRunQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"run {self.pk} of {self.judge}"

    def get_absolute_url(self) -> str:
        return reverse("evaluations:run_detail", args=[self.project.slug, self.pk])

    @property
    def stage(self) -> tuple[str, datetime.datetime | None]:
        """The state, and when the run was last resumed: a state can recur, a stage never does."""
        return self.state, self.resumed_at

    @property
    def is_ended_at_goal(self) -> bool:
        """Whether the run ended before everything was judged because its goal was reached."""
        return self.message.startswith(GOAL_REACHED)

    @property
    def has_goal(self) -> bool:
        return self.goal_width is not None or self.goal_rival_id is not None

    @property
    def goal_in_words(self) -> str:
        """The goal at which the run ends by itself, in words."""
        if self.goal_rival is None:
            return f"agreement is known within ±{self.goal_width or 0:g}"
        return f"it is known which agrees better with people, {self.judge} or {self.goal_rival}"

    @property
    def counts(self) -> bool:
        """Whether its scores count for its judge; `counting` is the condition for many runs."""
        return self.search_id is None and not self.purpose

    @property
    def is_active(self) -> bool:
        return self.state in ACTIVE_STATES

    @property
    def resumes_by_itself(self) -> bool:
        """Whether the run is paused until `resumes_at`, rather than until a person resumes it."""
        return self.state == RunState.PAUSED and self.resumes_at is not None

    @property
    def is_waiting(self) -> bool:
        """Whether calls are waiting because the endpoint asked for it; `waits_for` says why."""
        return self.is_active and self.waits_until is not None and self.waits_until > timezone.now()

    @property
    def item_count(self) -> int:
        """How many items have been laid out so far; 0 before the layout, and for imported
        scores."""
        return int(self.parameters.get("items", 0))

    @property
    def is_laid_out(self) -> bool:
        """Whether all of its items are laid out."""
        return self.started_at is not None and MORE_TO_LAY_OUT not in self.parameters

    @property
    def has_open_items(self) -> bool:
        """Whether it has, or will have, items that are not judged yet."""
        return not self.is_laid_out or self.items.open().exists()

    def items_by_state(self) -> dict[str, int]:
        """Return how many items are in each state; every state is a key."""
        return self.tallies.all().by_run().get(self.pk) or dict.fromkeys(ItemState.values, 0)

    def judged_criteria(self) -> list[Criterion]:
        """Return the criteria that it judges; none if scores count for every criterion."""
        return [entry.criterion for entry in self.run_criteria.select_related("criterion")]

    @property
    def frozen(self) -> RunParameters:
        """The parameters that the run was started with."""
        return RunParameters.from_json(self.parameters)

    @property
    def cost(self) -> Decimal | None:
        """Its cost so far, by the prices frozen into it; None without prices."""
        return cost(
            self.prompt_tokens,
            self.completion_tokens,
            self.frozen.prices,
            cached_tokens=self.cached_tokens,
        )


class RunCriterion(models.Model):
    """A criterion in this run, with the frozen prompt template, including its steps."""

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="run_criteria")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    steps = models.ForeignKey(
        EvaluationSteps, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    template = models.TextField(blank=True)

    class Meta:
        ordering = ("criterion__position", "criterion_id")
        constraints = (
            models.UniqueConstraint(fields=("run", "criterion"), name="criterion_once_per_run"),
        )

    def __str__(self) -> str:
        return f"{self.criterion} in {self.run}"


class ItemState(models.TextChoices):
    PENDING = "pending", "Pending"
    LEASED = "leased", "Being judged"
    SENT = "sent", "In a batch"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


OPEN_STATES = (ItemState.PENDING, ItemState.LEASED, ItemState.SENT)


class RunItemQuerySet(models.QuerySet["RunItem"]):
    def claimable(self) -> RunItemQuerySet:
        """Free items: pending, or with an expired lease."""
        return self.filter(
            models.Q(state=ItemState.PENDING)
            | (models.Q(state=ItemState.LEASED) & is_free("lease_until"))
        )

    def held(self) -> RunItemQuerySet:
        """Items that a live worker is processing."""
        return self.filter(~is_free("lease_until"), state=ItemState.LEASED)

    def open(self) -> RunItemQuerySet:
        return self.filter(state__in=OPEN_STATES)

    def below_coverage(self) -> RunItemQuerySet:
        """Return failed items below their judge's minimum coverage that it has not scored since."""
        scored = Score.objects.filter(
            run__search=None,
            run__purpose="",
            run__judge=models.OuterRef("run__judge"),
            output=models.OuterRef("output"),
        ).filter(models.Q(criterion=models.OuterRef("criterion")) | models.Q(criterion=None))
        low = self.filter(state=ItemState.FAILED, reason=Reason.LOW_COVERAGE)
        return low.exclude(models.Exists(scored))

    def failures_by_reason(self) -> list[dict[str, Any]]:
        """Return `reason`, `count` and one `example` detail, most frequent first."""
        rows = (
            self.filter(state=ItemState.FAILED)
            .order_by()
            .values("reason")
            .annotate(count=models.Count("pk"), example=models.Min("detail"))
            .order_by("-count", "reason")
        )
        return [dict(row) for row in rows]


class RunItem(models.Model):
    """One output to judge on one criterion: the authoritative record of a run's work.

    Without a criterion its score counts for every criterion; `rival` is the other output if a judge
    compares two.
    """

    # Every change of an item's state writes to each index, so there are only those that deletion
    # and pages need: the ones below, and partial ones for rivals and batches. Triggers check the
    # items of a statement together (migration 0071), as foreign keys check each row.
    run = models.ForeignKey(
        EvaluationRun,
        on_delete=models.CASCADE,
        related_name="items",
        db_index=False,
        db_constraint=False,
    )
    output = models.ForeignKey(
        CandidateOutput, on_delete=models.CASCADE, related_name="+", db_constraint=False
    )
    criterion = models.ForeignKey(
        Criterion,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    rival = models.ForeignKey(
        CandidateOutput,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    state = models.CharField(max_length=10, choices=ItemState, default=ItemState.PENDING)
    lease_until = models.DateTimeField(null=True, blank=True)
    leased_by = models.CharField(max_length=100, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=50, blank=True, help_text="Why it failed, as a name.")
    detail = models.TextField(blank=True, help_text="Why it failed, as a sentence.")
    reply = models.ForeignKey(
        "ModelReply", on_delete=models.PROTECT, null=True, blank=True, related_name="items"
    )
    batch = models.ForeignKey(
        "Batch",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="items",
        db_index=False,
    )

    objects = RunItemQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "output", "criterion", "rival"),
                name="item_once_per_run",
                nulls_distinct=False,
            ),
        )
        indexes = (
            models.Index(fields=("run", "id"), name="item_in_order"),
            models.Index(fields=("criterion", "run", "id"), name="item_of_criterion"),
            models.Index(
                fields=("run", "id"),
                name="item_open",
                condition=models.Q(state__in=("pending", "leased", "sent")),
            ),
            models.Index(
                fields=("run", "reason"), name="item_failed", condition=models.Q(state="failed")
            ),
            models.Index("rival", name="item_rival", condition=models.Q(rival__isnull=False)),
            models.Index("batch", name="item_batch", condition=models.Q(batch__isnull=False)),
        )

    def __str__(self) -> str:
        return f"item {self.pk} ({self.state})"


class RunTallyQuerySet(models.QuerySet["RunTally"]):
    def by_run(self) -> dict[int, dict[str, int]]:
        """Return how many items of each run are in each state; runs without items are no keys."""
        rows = self.values_list("run").annotate(*map(models.Sum, ItemState.values))
        return {run: dict(zip(ItemState.values, sums, strict=True)) for run, *sums in rows}


class RunTally(models.Model):
    """A part of the numbers of a run's items by state; the sum of all parts is exact in every
    transaction. Triggers keep them (migration 0072)."""

    run = models.ForeignKey(
        EvaluationRun, on_delete=models.CASCADE, related_name="tallies", db_constraint=False
    )
    pending = models.IntegerField(default=0, db_default=0)
    leased = models.IntegerField(default=0, db_default=0)
    sent = models.IntegerField(default=0, db_default=0)
    done = models.IntegerField(default=0, db_default=0)
    failed = models.IntegerField(default=0, db_default=0)

    objects = RunTallyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "run tallies"

    def __str__(self) -> str:
        return f"tally {self.pk}"


class BatchQuerySet(models.QuerySet["Batch"]):
    def due(self) -> BatchQuerySet:
        """Return batches that are due to be sent or polled."""
        return self.filter(state__in=Batch.OPEN_STATES, look_at__lte=Now())

    def waiting_to_try_again(self) -> BatchQuerySet:
        """Return batches whose last step failed, until the next attempt is due."""
        return self.filter(state__in=Batch.OPEN_STATES, failures__gt=0, look_at__gt=Now())


class Batch(models.Model):
    """Items sent to an endpoint's batch API together. `token` identifies the batch there if its id
    was not stored."""

    class State(models.TextChoices):
        SENDING = "sending", "Being sent"
        SENT = "sent", "At the endpoint"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"

    OPEN_STATES = (State.SENDING, State.SENT)

    run = models.ForeignKey(EvaluationRun, on_delete=models.CASCADE, related_name="batches")
    token = models.UUIDField(default=uuid.uuid4, unique=True)
    state = models.CharField(max_length=10, choices=State, default=State.SENDING)
    remote_id = models.CharField(max_length=200, blank=True)
    remote_state = models.CharField(
        max_length=50, blank=True, help_text="The state as named by the endpoint."
    )
    message = models.TextField(blank=True)
    failures = models.PositiveSmallIntegerField(
        default=0, db_default=0, editable=False, help_text="Consecutive failed checks."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    look_at = models.DateTimeField(default=timezone.now, help_text="When to check it next.")
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        verbose_name_plural = "batches"

    def __str__(self) -> str:
        return f"batch {self.pk} ({self.state})"


class ModelReply(models.Model):
    """An endpoint's answer to one request, stored so that nobody pays for it twice.

    `request_key` is a digest of everything that affects the answer: base address, model,
    parameters, prompt. The prompt itself can be rebuilt from the run's frozen template and the
    output, so only its digest is stored. An unreadable reply has an empty key: it is kept for
    inspection, and the request will be repeated.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    request_key = models.CharField(max_length=64)
    choices = models.JSONField(
        help_text="The original replies, with token probabilities if there are any."
    )
    model = models.CharField(
        max_length=200, blank=True, help_text="The model's name in the endpoint's reply."
    )
    request_id = models.CharField(max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    calls = models.PositiveIntegerField(
        default=1, help_text="Requests it took, repeated ones included."
    )
    seconds = models.FloatField(
        default=0, help_text="Time from the first request to the last reply."
    )
    created_at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When what the model said was removed under the site's retention policy.",
    )

    class Meta:
        ordering = ("pk",)
        indexes = (models.Index(fields=("project", "request_key"), name="reply_by_request"),)

    def __str__(self) -> str:
        return f"reply {self.pk}"


class Score(models.Model):
    """A run's score of one output on one criterion; an empty criterion means every criterion
    (ROUGE)."""

    run = models.ForeignKey(
        EvaluationRun, on_delete=models.CASCADE, related_name="scores", db_index=False
    )
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="scores")
    criterion = models.ForeignKey(
        Criterion, on_delete=models.CASCADE, null=True, blank=True, related_name="scores"
    )
    value = models.FloatField(null=True, help_text="Empty for “not applicable”.")
    distribution = models.JSONField(
        null=True, blank=True, help_text="Probability of each scale point and n/a, normalized."
    )
    coverage = models.FloatField(
        null=True, blank=True, help_text="Probability of valid points before normalizing."
    )
    entropy = models.FloatField(null=True, blank=True, help_text="Of the distribution, in bits.")
    mode = models.CharField(
        max_length=20,
        blank=True,
        db_default="",
        help_text="How it was computed; empty for imported scores.",
    )
    note = models.TextField(
        blank=True, db_default="", help_text="What readers must know, such as that a text was cut."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "output", "criterion"),
                name="score_once_per_item",
                nulls_distinct=False,
            ),
        )

    def __str__(self) -> str:
        return NOT_APPLICABLE if self.value is None else f"{self.value:.3g}"


class PairScore(models.Model):
    """Which of two outputs a judge prefers: the probability that it is the first; a tie counts
    half. An empty criterion means overall.

    `left` is the probability assigned to the text shown first, over both orders: 0.5 means no
    position bias. The outputs are ordered by id.
    """

    run = models.ForeignKey(
        EvaluationRun, on_delete=models.CASCADE, related_name="pair_scores", db_index=False
    )
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="+")
    rival = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="+")
    criterion = models.ForeignKey(
        Criterion, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    value = models.FloatField()
    tie = models.FloatField(help_text="Probability of a tie.")
    left = models.FloatField(null=True, blank=True)
    coverage = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("run", "output", "rival", "criterion"),
                name="pair_once_per_criterion",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=models.Q(output__lt=models.F("rival")), name="pair_in_id_order"
            ),
        )

    def __str__(self) -> str:
        return f"{self.value:.3g}"


class Explanation(Errand):
    """A model's explanation of a score, requested afterwards; it never changes the score."""

    PROJECT = "score__run__project_id"

    score = models.OneToOneField(Score, on_delete=models.CASCADE, related_name="explanation")
    text = models.TextField(blank=True)
    model = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.text[:80]
