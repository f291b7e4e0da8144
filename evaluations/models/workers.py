"""Workers: that they live, what they take, and which of their slots serve which run."""

from __future__ import annotations

import datetime

from django.conf import settings
from django.db import models, transaction
from django.db.models.functions import Now

from geval_site.queues import RUNS


def job_of_project(job: str, project: str) -> str:
    """A kind of job as a worker names it that does it for one project alone."""
    return f"{job}:{project}"


def all_jobs() -> list[str]:
    return list(settings.QUEUES)


class WorkerHeartbeatQuerySet(models.QuerySet["WorkerHeartbeat"]):
    def heard_of(self, within: datetime.timedelta | None = None) -> WorkerHeartbeatQuerySet:
        """Workers that said lately that they live."""
        since = Now() - (within or WorkerHeartbeat.STALE_AFTER)
        return self.filter(seen_at__gt=since)

    def alive(self, within: datetime.timedelta | None = None) -> WorkerHeartbeatQuerySet:
        """Those of them whose threads answer, and that do not end."""
        return self.heard_of(within).filter(leaving=False, trouble="")

    def frozen(self) -> WorkerHeartbeatQuerySet:
        """Those that say that their threads do not answer."""
        return self.heard_of().exclude(trouble="")

    def doing(self, job: str, *, project: str = "") -> WorkerHeartbeatQuerySet:
        """Live workers that accept a kind of job, by its name in `settings.QUEUES`.

        Args:
            project: also workers that do it for this project alone, by its short name.
        """
        accepted = models.Q(jobs__contains=[job])
        if project:
            accepted |= models.Q(jobs__contains=[job_of_project(job, project)])
        return self.alive().filter(accepted)


class WorkerHeartbeat(models.Model):
    """A row that each worker updates every few seconds, as the PostgreSQL queue has no remote
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
        """Slots of workers that live and take runs; `project` as for `WorkerHeartbeat.doing`."""
        workers = WorkerHeartbeat.objects.doing(RUNS, project=project)
        return self.filter(worker__in=workers.values("name"))

    def free(self) -> WorkerSlotQuerySet:
        return self.filter(taken_at=None)

    def serving(self) -> WorkerSlotQuerySet:
        """Slots that serve a run, and have shown lately that they live, as has their worker."""
        since = Now() - WorkerSlot.STALE_AFTER
        heard_of = WorkerHeartbeat.objects.heard_of().values("name")
        return self.exclude(run_id=None).filter(seen_at__gt=since, worker__in=heard_of)

    @transaction.atomic
    def take(self, worker: str) -> WorkerSlot | None:
        """A free slot of a worker, taken; None if all are."""
        free = self.select_for_update(skip_locked=True).free()
        slot = free.filter(worker=worker).first()
        if slot is None or slot.called_at is None:
            # The message was sent for another slot, which may be called again.
            other = free.exclude(called_at=None).order_by("called_at").first()
            if other is not None:
                WorkerSlot.objects.filter(pk=other.pk).update(called_at=None)
        if slot is not None:
            # By the clock that decides what is stale.
            WorkerSlot.objects.filter(pk=slot.pk).update(
                taken_at=Now(), seen_at=Now(), called_at=None, run_id=None
            )
            slot.refresh_from_db()
        return slot

    def beat(self, slot: WorkerSlot) -> None:
        """Show that the work of a slot lives."""
        self.as_taken(slot).update(seen_at=Now())

    def as_taken(self, slot: WorkerSlot) -> WorkerSlotQuerySet:
        """The row of a slot, if it was not given back, and taken by another thread, meanwhile."""
        return self.filter(pk=slot.pk, taken_at=slot.taken_at)

    def release(self, slot: WorkerSlot) -> None:
        self.as_taken(slot).give_back()

    def give_back(self) -> None:
        self.update(taken_at=None, called_at=None, run_id=None, calls=None)

    def callable(self) -> WorkerSlotQuerySet:
        """Free slots for which no message is on its way."""
        expired = Now() - WorkerSlot.CALL_EXPIRES
        return self.free().filter(models.Q(called_at=None) | models.Q(called_at__lt=expired))

    @transaction.atomic
    def call(self, most: int) -> int:
        """How many messages to send so that up to `most` of these slots come; they count as called
        from now on."""
        slots = self.callable().select_for_update(skip_locked=True).values_list("pk", flat=True)
        called = list(slots[:most])
        WorkerSlot.objects.filter(pk__in=called).update(called_at=Now())
        return len(called)

    def open(self, worker: str, count: int) -> None:
        """See to it that a worker has its slots."""
        numbers = set(self.filter(worker=worker).values_list("number", flat=True))
        missing = [n for n in range(1, count + 1) if n not in numbers]
        self.bulk_create(
            [WorkerSlot(worker=worker, number=n) for n in missing], ignore_conflicts=True
        )


class WorkerSlot(models.Model):
    """One of the runs that a worker can serve at once: a thread of its pool.

    `run_id` is no foreign key: a run may be removed at any time, and slots live as long as their
    worker.
    """

    # A slot that serves a run shows every few seconds that it lives.
    STALE_AFTER = datetime.timedelta(minutes=1)
    # A message that calls a slot is thrown away if nobody has read it for so long; then the slot
    # may be called again.
    CALL_EXPIRES = datetime.timedelta(seconds=10)

    worker = models.CharField(max_length=200)
    number = models.PositiveSmallIntegerField()
    run_id = models.BigIntegerField(null=True, help_text="The run that it serves.")
    taken_at = models.DateTimeField(null=True, help_text="Since when it is at work.")
    seen_at = models.DateTimeField(null=True, help_text="When its work last showed that it lives.")
    called_at = models.DateTimeField(null=True, help_text="When a message was sent for it.")
    # Nullable, as rows are also added by processes that know nothing of them.
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
        """The name under which it holds items; no other slot has it, not even one of a later
        worker with the same process id."""
        return f"{self.worker}:{self.pk}"
