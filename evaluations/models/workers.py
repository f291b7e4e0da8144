"""Workers: their heartbeats, the jobs they take, and which of their slots serve which run."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import models, transaction
from django.db.models.functions import Now

from geval_site.queues import RUNS


def job_of_project(job: str, project: str) -> str:
    """Return the name of a kind of job for a worker that does it for one project alone."""
    return f"{job}:{project}"


def all_jobs() -> list[str]:
    return list(settings.QUEUES)


class WorkerHeartbeatQuerySet(models.QuerySet["WorkerHeartbeat"]):
    def heard_of(self, within: datetime.timedelta | None = None) -> WorkerHeartbeatQuerySet:
        """Return workers with a recent heartbeat."""
        since = Now() - (within or WorkerHeartbeat.STALE_AFTER)
        return self.filter(seen_at__gt=since)

    def alive(self, within: datetime.timedelta | None = None) -> WorkerHeartbeatQuerySet:
        """Return workers whose threads respond, and that are not shutting down."""
        return self.heard_of(within).filter(leaving=False, trouble="")

    def frozen(self) -> WorkerHeartbeatQuerySet:
        """Return workers that report that their threads do not respond."""
        return self.heard_of().exclude(trouble="")

    def doing(self, job: str, *, project: str = "") -> WorkerHeartbeatQuerySet:
        """Return live workers that accept a kind of job, by its name in `settings.QUEUES`.

        Args:
            project: also include workers that do it only for this project, by its short name.
        """
        accepted = models.Q(jobs__contains=[job])
        if project:
            accepted |= models.Q(jobs__contains=[job_of_project(job, project)])
        return self.alive().filter(accepted)


class WorkerHeartbeat(models.Model):
    """A row that each worker updates every few seconds, because the PostgreSQL queue has no remote
    control."""

    STALE_AFTER = datetime.timedelta(seconds=20)

    name = models.CharField(max_length=200, unique=True)
    seen_at = models.DateTimeField()
    leaving = models.BooleanField(
        default=False, help_text="It was asked to stop, and starts nothing new."
    )
    jobs = models.JSONField(default=all_jobs, help_text="The kinds of jobs it accepts.")
    trouble = models.CharField(
        max_length=300,
        blank=True,
        default="",
        db_default="",
        help_text="Why it takes no work although it lives, in a sentence.",
    )

    objects = WorkerHeartbeatQuerySet.as_manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class WorkerSlotQuerySet(models.QuerySet["WorkerSlot"]):
    def of_live_workers(self, project: str = "") -> WorkerSlotQuerySet:
        """Return slots of live workers that take runs; `project` as for `WorkerHeartbeat.doing`."""
        workers = WorkerHeartbeat.objects.doing(RUNS, project=project)
        return self.filter(worker__in=workers.values("name"))

    def free(self) -> WorkerSlotQuerySet:
        return self.filter(taken_at=None)

    def serving(self) -> WorkerSlotQuerySet:
        """Return slots that serve a run and have a recent heartbeat, as has their worker."""
        since = Now() - WorkerSlot.STALE_AFTER
        heard_of = WorkerHeartbeat.objects.heard_of().values("name")
        return self.exclude(run_id=None).filter(seen_at__gt=since, worker__in=heard_of)

    @transaction.atomic
    def take(self, worker: str) -> WorkerSlot | None:
        """Take a free slot of a worker; None if there is none."""
        # Slots that other threads are taking are skipped, not waited for.
        free = self.select_for_update(skip_locked=True).free()
        slot = free.filter(worker=worker).first()
        if slot is None or slot.called_at is None:
            # The message was meant for another slot, which may be woken again.
            other = free.exclude(called_at=None).order_by("called_at").first()
            if other is not None:
                WorkerSlot.objects.filter(pk=other.pk).update(called_at=None)
        if slot is not None:
            # Use the clock that decides what is stale.
            WorkerSlot.objects.filter(pk=slot.pk).update(
                taken_at=Now(), seen_at=Now(), called_at=None, run_id=None
            )
            slot.refresh_from_db()
        return slot

    def beat(self, slot: WorkerSlot) -> None:
        """Renew a slot's heartbeat."""
        self.as_taken(slot).update(seen_at=Now())

    def as_taken(self, slot: WorkerSlot) -> WorkerSlotQuerySet:
        """Return the row of a slot, unless it was released and taken by another thread
        meanwhile."""
        return self.filter(pk=slot.pk, taken_at=slot.taken_at)

    def release(self, slot: WorkerSlot) -> None:
        self.as_taken(slot).give_back()

    def give_back(self) -> None:
        self.update(taken_at=None, called_at=None, run_id=None, calls=None)

    def callable(self) -> WorkerSlotQuerySet:
        """Return free slots without a pending message."""
        expired = Now() - WorkerSlot.CALL_EXPIRES
        return self.free().filter(models.Q(called_at=None) | models.Q(called_at__lt=expired))

    @transaction.atomic
    def call(self, most: int) -> int:
        """Mark up to `most` of these slots as woken; return how many messages to send."""
        # Slots that somebody else is waking need no second message.
        slots = self.callable().select_for_update(skip_locked=True).values_list("pk", flat=True)
        called = list(slots[:most])
        WorkerSlot.objects.filter(pk__in=called).update(called_at=Now())
        return len(called)

    def open(self, worker: str, count: int) -> None:
        """Create a worker's missing slots."""
        numbers = set(self.filter(worker=worker).values_list("number", flat=True))
        missing = [n for n in range(1, count + 1) if n not in numbers]
        self.bulk_create(
            [WorkerSlot(worker=worker, number=n) for n in missing], ignore_conflicts=True
        )


class WorkerSlot(models.Model):
    """One of the runs that a worker can serve at once: a thread of its pool.

    `run_id` is not a foreign key: a run may be removed at any time, and slots live as long as their
    worker.
    """

    # A slot that serves a run renews its heartbeat every few seconds.
    STALE_AFTER = datetime.timedelta(minutes=1)
    # An unread message for a slot is discarded after this time; then the slot may be woken again.
    CALL_EXPIRES = datetime.timedelta(seconds=10)

    worker = models.CharField(max_length=200)
    number = models.PositiveSmallIntegerField()
    run_id = models.BigIntegerField(null=True, help_text="The run that it serves.")
    taken_at = models.DateTimeField(null=True, help_text="Since when it is at work.")
    seen_at = models.DateTimeField(null=True, help_text="When its work last showed that it lives.")
    called_at = models.DateTimeField(null=True, help_text="When a message was sent for it.")
    # Nullable, because processes of earlier versions also add rows.
    calls = models.PositiveIntegerField(
        null=True, help_text="How many calls it may have open, where its endpoint has a limit."
    )
    account = models.CharField(
        max_length=64,
        default="",
        db_default="",
        help_text="Where it has them open; runs/accounts.py.",
    )

    objects = WorkerSlotQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("worker", "number"), name="slot_once_per_worker"),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The unique name under which the slot holds items."""
        return f"{self.worker}:{self.pk}"
