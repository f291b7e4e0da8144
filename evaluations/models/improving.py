"""Changes of judges that were tried, and the looks at documents that no choice has seen."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse

from evaluations.models.corpus import Document
from evaluations.models.criteria import Criterion
from evaluations.models.errands import Errand, ErrandQuerySet, ErrandState
from evaluations.models.judges import Judge
from evaluations.models.project import Project
from geval.improving.changes import CHANGE_LABELS, MEASURE_LABELS, is_better
from geval.statistics.locked_rule import (
    LEAST_SHARE,
    LOOKS,
    MOST_LOOKS,
    MOST_SHARE,
    SHARE,
    is_locked,
    which_are_locked,
)


class LockedDocumentsQuerySet(models.QuerySet["LockedDocuments"]):
    def withheld_in(self, project_id: int) -> LockedDocuments | None:
        """The locked documents of a project whose ratings are withheld now: from the lock to the
        last look, or until an owner opens them, as whoever sees them could tune a judge by them."""
        lock = self.filter(project=project_id, unlocked_at=None).first()
        return lock if lock is not None and lock.looks_used() < lock.looks_allowed else None


class LockedDocuments(models.Model):
    """The documents that a project sets aside, by a rule that later documents follow too, and how
    often they may be looked at.

    Which documents are locked says `holds`; turns of a session are locked together. Unlocking ends
    every claim.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="locked")
    share = models.FloatField(
        default=SHARE, validators=[MinValueValidator(LEAST_SHARE), MaxValueValidator(MOST_SHARE)]
    )
    seed = models.CharField(max_length=32)
    looks_allowed = models.PositiveSmallIntegerField(
        default=LOOKS, validators=[MinValueValidator(1), MaxValueValidator(MOST_LOOKS)]
    )
    locked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    locked_at = models.DateTimeField(auto_now_add=True)
    unlocked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    unlocked_at = models.DateTimeField(null=True, blank=True)
    draw = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        db_index=True,
        help_text="Names the draw in every copy of the project; empty until it is recorded.",
    )
    exceptions = models.JSONField(
        default=dict,
        blank=True,
        db_default=models.Value({}, models.JSONField()),
        help_text="Documents that have another name where they were drawn: locked there or not.",
    )

    objects = LockedDocumentsQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(share__range=(LEAST_SHARE, MOST_SHARE)),
                name="locked_share_in_range",
            ),
            models.CheckConstraint(
                condition=models.Q(looks_allowed__range=(1, MOST_LOOKS)), name="looks_in_range"
            ),
        )

    def __str__(self) -> str:
        return f"locked documents of {self.project}"

    @property
    def is_open(self) -> bool:
        """Whether somebody unlocked them."""
        return self.unlocked_at is not None

    def among(self, units: Sequence[str]) -> list[bool]:
        """Of each of some documents or sessions whether it is among them."""
        by_rule = which_are_locked(units, seed=self.seed, share=self.share)
        if not self.exceptions:
            return by_rule
        return [
            bool(self.exceptions.get(unit, rule)) for unit, rule in zip(units, by_rule, strict=True)
        ]

    def holds(self, unit: str) -> bool:
        """Whether a document, or a session with all of its turns, is among them."""
        return bool(self.exceptions.get(unit, is_locked(unit, seed=self.seed, share=self.share)))

    def looks_used(self) -> int:
        """How many looks have a result, those of all copies of the draw on this site and those
        that archives brought."""
        return max(LockEvent.objects.looks(self.draw), self.looks.count())

    def document_ids(self) -> list[int]:
        """The ids of those that the project has."""
        named = Document.objects.filter(project=self.project_id).values_list(
            "pk", "doc_id", "session"
        )
        return [pk for pk, doc_id, session in named if self.holds(session or doc_id)]


class EventKind(models.TextChoices):
    """What happened to a draw of locked documents."""

    DRAWN = "drawn", "Drawn"
    JOINED = "joined", "Locked again in a copy"
    LOOK = "look", "Look"
    UNLOCKED = "unlocked", "Unlocked"
    COPIED = "copied", "Copied with the locked ratings"


class LockEventQuerySet(models.QuerySet["LockEvent"]):
    def of_draw(self, draw: str) -> list[LockEvent]:
        """What happened to a draw, each event once: an archive may have brought it again."""
        rows = self.filter(draw=draw).order_by("at", "from_archive", "pk") if draw else self.none()
        return list({(row.kind, row.at): row for row in reversed(rows)}.values())[::-1]

    def looks(self, draw: str) -> int:
        """How many looks were taken at a draw."""
        rows = self.filter(draw=draw, kind=EventKind.LOOK) if draw else self.none()
        return rows.values("at").distinct().count()


class LockEvent(models.Model):
    """What was done with a draw of locked documents, and who did it when. It outlives its project,
    so a new import of the same texts counts the same looks."""

    draw = models.CharField(max_length=32, db_index=True)
    kind = models.CharField(max_length=10, choices=EventKind)
    at = models.DateTimeField()
    by = models.CharField(max_length=200, blank=True)
    project = models.CharField(max_length=100, blank=True, help_text="Its short name then.")
    content = models.JSONField(default=dict, blank=True)
    from_archive = models.BooleanField(
        default=False, db_default=False, help_text="An archive says so; the site did not see it."
    )

    objects = LockEventQuerySet.as_manager()

    class Meta:
        ordering = ("at", "pk")

    def __str__(self) -> str:
        return f"{self.kind} {self.at:%Y-%m-%d}"


class LockedText(models.Model):
    """A document of a draw, by the digest of its text, and whether it was locked; it outlives its
    project. A text that several documents have can be both."""

    draw = models.CharField(max_length=32)
    digest = models.CharField(max_length=64, db_index=True)
    is_locked = models.BooleanField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("draw", "digest", "is_locked"), name="text_once_per_draw"
            ),
        )

    def __str__(self) -> str:
        return self.digest


def withheld_documents(project_id: int) -> list[int]:
    """The ids of a project's documents whose ratings are withheld now."""
    lock = LockedDocuments.objects.withheld_in(project_id)
    return lock.document_ids() if lock else []


def is_withheld(document: Document) -> bool:
    """Whether a document's ratings are withheld now."""
    lock = LockedDocuments.objects.withheld_in(document.project_id)
    return lock is not None and lock.holds(document.unit)


class Change(models.TextChoices):
    """What is tried."""

    WORDING = "wording", "Wording"
    EXAMPLES = "examples", "Rated examples"
    SCORING = "scoring", "Scoring"
    CHOICE = "choice", CHANGE_LABELS["choice"]
    PANEL = "panel", CHANGE_LABELS["panel"]
    CALIBRATION = "calibration", CHANGE_LABELS["calibration"]


# The states of a search that is not over.
OPEN_STATES = (ErrandState.WAITING, ErrandState.ASKING, ErrandState.PAUSED)
# Those for which models are asked, and those that cost nothing, as they use the scores there are.
ASKING_CHANGES = (Change.WORDING, Change.EXAMPLES, Change.SCORING)
FREE_CHANGES = (Change.CHOICE, Change.PANEL, Change.CALIBRATION)


class SearchQuerySet(ErrandQuerySet["Search"]):
    def pause(self, person: object) -> int:
        """Take searches from their workers, which notice before their next step, until somebody
        resumes them; how many were going on. Their runs are paused by the caller."""
        return self._stop(ErrandState.PAUSED, f"Paused by {person}.")

    def cancel(self, person: object) -> int:
        """End searches for good; how many were not over. Their runs are ended by the caller."""
        return self._stop(ErrandState.CANCELLED, f"Cancelled by {person}.")

    def _stop(self, state: ErrandState, message: str) -> int:
        return self.filter(state__in=set(OPEN_STATES) - {state}).update(
            state=state, message=message, taken_until=None, worker=""
        )


class Search(Errand):
    """A search for changes that improve a judge on a criterion, done by a worker.

    `worker` names the one that has it now. Rewording costs calls: `reflector` is the judge whose
    model proposes wordings (by default the judge itself), `most_calls` and `budget` (in the
    currency of its prices) are limits for all calls of the search.
    """

    PROJECT = "project_id"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="searches")
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="searches")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="searches")
    changes = models.JSONField(default=list)
    worker = models.CharField(max_length=100, blank=True, default="", db_default="")
    reflector = models.ForeignKey(
        Judge, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    most_calls = models.PositiveIntegerField(
        default=400, db_default=400, validators=[MinValueValidator(1)]
    )
    budget = models.DecimalField(max_digits=14, decimal_places=4, null=True, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    found = models.JSONField(
        default=dict, help_text="What it rested on: documents, today's value, judges left out."
    )

    objects = SearchQuerySet.as_manager()  # type: ignore[misc]

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"search for {self.judge} on {self.criterion}"

    @property
    def asks_models(self) -> bool:
        """Whether it tries something for which models are asked."""
        return bool(set(ASKING_CHANGES) & set(self.changes))

    def next_number(self) -> int:
        """The number of its next proposal; today's wording has 0."""
        newest = self.proposals.aggregate(newest=models.Max("number"))["newest"]
        return 0 if newest is None else int(newest) + 1


class Proposal(models.Model):
    """A wording that a model proposed during a search, or today's (number 0), with what came of it.

    `texts` holds every part of the wording (evaluators/wording.py), `part` names the one that is
    another. `scoring` holds the judge's own settings that are others (improving/scoring.py), empty
    for none. `prompt_key` is a digest of the request for it; where one request is made several
    times, `repeat` counts them. `on_batch` and `parent_on_batch` are mean rho on the documents from
    which it was proposed, `on_selection` that of each document by which one is chosen (its id as a
    key), empty if it was not better on the batch.
    """

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="proposals")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="+")
    part = models.CharField(max_length=20, blank=True)
    texts = models.JSONField(default=dict)
    scoring = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))
    prompt_key = models.CharField(max_length=64, blank=True)
    repeat = models.PositiveIntegerField(default=0)
    problem = models.CharField(max_length=500, blank=True)
    parent_on_batch = models.FloatField(null=True)
    on_batch = models.FloatField(null=True)
    on_selection = models.JSONField(default=dict)
    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("search", "number")
        constraints = (
            models.UniqueConstraint(fields=("search", "number"), name="proposal_once"),
            models.UniqueConstraint(
                fields=("search", "prompt_key", "repeat"), name="proposal_once_per_request"
            ),
        )

    def __str__(self) -> str:
        return f"proposal {self.number} of {self.search}"


class Candidate(models.Model):
    """A change that a search found.

    `formula` is what the judge of kind "formula" computes (evaluators/formula.py), `proposal` the
    wording that it is instead; `measure` is
    what the change should improve. `training` holds the values on training documents, each by
    cross-validation: `candidate`, `today`, `gain`, `documents`, and of a map `constant`, the
    distance of the best constant.
    """

    class Measure(models.TextChoices):
        RANK = "rank", MEASURE_LABELS["rank"]
        DISTANCE = "distance", MEASURE_LABELS["distance"]

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="candidates")
    change = models.CharField(max_length=20, choices=Change)
    measure = models.CharField(max_length=10, choices=Measure, default=Measure.RANK)
    title = models.CharField(max_length=200)
    description = models.CharField(max_length=1000, blank=True)
    formula = models.JSONField(default=dict)
    proposal = models.OneToOneField(
        Proposal, on_delete=models.CASCADE, null=True, blank=True, related_name="candidate"
    )
    look_run = models.ForeignKey(
        "EvaluationRun",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Has locked documents judged with a new wording, for the look that is taken.",
    )
    look_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    training = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    adopted_as = models.ForeignKey(
        Judge, on_delete=models.SET_NULL, null=True, blank=True, related_name="adopted_from"
    )

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.title} for {self.search.judge} on {self.search.criterion}"

    def get_absolute_url(self) -> str:
        return reverse("evaluations:improve", args=[self.search.project.slug])

    @property
    def is_better_on_training(self) -> bool:
        """Whether it gains on training documents; a map has to beat the best constant as well."""
        return is_better(self.training)


class Look(models.Model):
    """One look at the locked documents: who, when, which candidate, and what came out. `ranked` has
    in how many documents people, the candidate and today's judge rank anything; None where
    distances are compared. Then `constant` has the best constant (`value`, learned without the
    locked documents), its `distance` from people on them, and by how much the candidate comes
    nearer: `gain`, `low`, `high`."""

    locked = models.ForeignKey(LockedDocuments, on_delete=models.PROTECT, related_name="looks")
    candidate = models.OneToOneField(Candidate, on_delete=models.PROTECT, related_name="look")
    looked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    looked_by_name = models.CharField(max_length=200, blank=True, default="", db_default="")
    looked_at = models.DateTimeField(auto_now_add=True)
    outcome = models.CharField(max_length=20)
    documents = models.PositiveIntegerField()
    value = models.FloatField(null=True)
    today = models.FloatField(null=True)
    gain = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    confidence = models.FloatField()
    reason = models.CharField(max_length=500, blank=True)
    ranked = models.JSONField(null=True, blank=True)
    constant = models.JSONField(null=True, blank=True)

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"look {self.pk}: {self.outcome}"

    @property
    def measure(self) -> str:
        """What the change should improve."""
        return self.candidate.measure

    @property
    def person(self) -> str:
        """Who took it; empty where that is not known."""
        return self.looked_by_name or (str(self.looked_by) if self.looked_by else "")
