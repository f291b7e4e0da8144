"""Changes of judges that were tried, and the looks at locked documents, which no choice has
seen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from itertools import compress
from typing import Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from evaluations.models.corpus import CandidateOutputQuerySet, Document, DocumentQuerySet
from evaluations.models.criteria import Criterion
from evaluations.models.errands import Errand, ErrandQuerySet, ErrandState
from evaluations.models.judges import Judge
from evaluations.models.project import Project
from geval.improving.changes import CHANGE_LABELS, MEASURE_LABELS, Measure, is_better
from geval.statistics.locked_rule import (
    LEAST_SHARE,
    LOOKS,
    MOST_LOOKS,
    MOST_SHARE,
    SHARE,
    locked_flags,
)
from geval.texts.spelling import folded
from geval.texts.turns import turns_from
from geval_site.sql import fetch_rows


class LockedDocumentsQuerySet(models.QuerySet["LockedDocuments"]):
    def withheld_in(self, project_id: int) -> LockedDocuments | None:
        """Return the locked documents of a project whose ratings are withheld now: from the lock
        until the last look, or until an owner unlocks them. Anyone who saw the ratings could tune a
        judge to them."""
        lock = self.filter(project=project_id, unlocked_at=None).first()
        return lock if lock is not None and lock.has_looks else None


class LockedDocuments(models.Model):
    """The documents that a project locks, by a rule that also covers later documents, and the
    number of looks allowed.

    `holds` says whether a document is locked; turns of a session are locked together, and so are
    documents of a group from a draw of groups on. Unlocking ends every claim.
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
    by_group = models.BooleanField(
        default=False, db_default=False, help_text="Documents of one group are locked together."
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
        """Whether a person unlocked the documents."""
        return self.unlocked_at is not None

    def among(self, units: Sequence[str], groups: Sequence[str] = ()) -> list[bool]:
        """Return for each document or session, with its group if any has one, whether it is
        locked."""
        by_rule = locked_flags(
            units, groups, seed=self.seed, share=self.share, by_group=self.by_group
        )
        if not self.exceptions:
            return by_rule
        return [
            bool(self.exceptions.get(unit, rule)) for unit, rule in zip(units, by_rule, strict=True)
        ]

    def holds(self, unit: str, group: str = "") -> bool:
        """Whether a document, or a session with all of its turns, is locked."""
        return self.among([unit], [group])[0]

    @property
    def has_looks(self) -> bool:
        """Whether a look is left."""
        return self.looks_used() < self.looks_allowed

    def looks_used(self) -> int:
        """Return how many looks have a result, including those that an archive brought."""
        return max(LockEvent.objects.looks(self.draw), self.looks.count())

    def document_ids(self, documents: DocumentQuerySet | None = None) -> list[int]:
        """Return the ids of the project's locked documents, or of those among `documents`."""
        if documents is None:
            documents = Document.objects.filter(project=self.project_id)
        ids, units, groups = documents.drawn_as()
        return list(compress(ids, self.among(units, groups)))


class EventKind(models.TextChoices):
    """An event of a draw of locked documents."""

    DRAWN = "drawn", "Drawn"
    JOINED = "joined", "Locked again in a copy"
    LOOK = "look", "Look"
    UNLOCKED = "unlocked", "Unlocked"
    COPIED = "copied", "Copied with the locked ratings"


class LockEventQuerySet(models.QuerySet["LockEvent"]):
    def of_draw(self, draw: str) -> list[LockEvent]:
        """Return the events of a draw without duplicates: an archive may have imported an event
        again."""
        rows = self.filter(draw=draw).order_by("at", "from_archive", "pk") if draw else self.none()
        return list({(row.kind, row.at): row for row in reversed(rows)}.values())[::-1]

    def looks(self, draw: str) -> int:
        """Return how many looks were taken in a draw."""
        rows = self.filter(draw=draw, kind=EventKind.LOOK) if draw else self.none()
        return rows.values("at").distinct().count()


class LockEvent(models.Model):
    """An event of a draw of locked documents: what, by whom and when. It outlives its project."""

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
    """A document of a draw, by its text's digest, and whether it was locked; it outlives its
    project. A text shared by several documents can be both."""

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


def text_digest(source: str, turns: Any, before: int | None, outputs: list[str] | None) -> str:
    """Return the digest by which a document is known: of its source in its folded form, or else of
    its conversation up to the rated turn and its outputs."""
    content = source
    if not source:
        stored = json.loads(turns) if isinstance(turns, str) else turns
        content = "\n".join([turn.text for turn in turns_from(stored)[:before]] + (outputs or []))
    # A text of marks alone is known as it is.
    return sha256((folded(content) or content.strip()).encode()).hexdigest()


def withheld_documents(project_id: int) -> list[int]:
    """Return the ids of a project's documents whose ratings are withheld now."""
    lock = LockedDocuments.objects.withheld_in(project_id)
    return lock.document_ids() if lock else []


def shown_means(outputs: CandidateOutputQuerySet, project_id: int) -> dict[tuple[int, int], float]:
    """Return the human mean of a project's outputs by output and criterion id, without documents
    whose ratings are withheld now. The database function `annotations_human_means` defines it."""
    if lock := LockedDocuments.objects.withheld_in(project_id):
        documents = Document.objects.filter(pk__in=outputs.order_by().values("document"))
        outputs = outputs.exclude(document__in=lock.document_ids(documents))
    rows = fetch_rows(
        "SELECT output_id, criterion_id, mean FROM annotations_human_means(%s)",
        [list(outputs.values_list("pk", flat=True))],
    )
    return {(output, criterion): mean for output, criterion, mean in rows}


def is_withheld(document: Document) -> bool:
    """Whether a document's ratings are withheld now."""
    lock = LockedDocuments.objects.withheld_in(document.project_id)
    return lock is not None and lock.holds(document.unit, document.group)


class Change(models.TextChoices):
    """A kind of change."""

    WORDING = "wording", "Wording"
    EXAMPLES = "examples", "Rated examples"
    SCORING = "scoring", "Scoring"
    CHOICE = "choice", CHANGE_LABELS["choice"]
    PANEL = "panel", CHANGE_LABELS["panel"]
    CALIBRATION = "calibration", CHANGE_LABELS["calibration"]


# The states of an unfinished search.
OPEN_STATES = (ErrandState.WAITING, ErrandState.ASKING, ErrandState.PAUSED)
# Changes that call models, and those that cost nothing because they use existing scores.
ASKING_CHANGES = (Change.WORDING, Change.EXAMPLES, Change.SCORING)
FREE_CHANGES = (Change.CHOICE, Change.PANEL, Change.CALIBRATION)


class SearchQuerySet(ErrandQuerySet["Search"]):
    def pause(self, person: object) -> int:
        """Pause searches until a person resumes them; return how many were active. Their workers
        notice before their next step; the caller pauses their runs."""
        return self._stop(ErrandState.PAUSED, f"Paused by {person}.")

    def cancel(self, person: object) -> int:
        """Cancel searches for good; return how many were unfinished. The caller cancels their
        runs."""
        return self._stop(ErrandState.CANCELLED, f"Cancelled by {person}.")

    def _stop(self, state: ErrandState, message: str) -> int:
        return self.filter(state__in=set(OPEN_STATES) - {state}).update(
            state=state, message=message, taken_until=None, worker=""
        )


class Search(Errand):
    """A search for changes that improve a judge on a criterion, done by a worker.

    `worker` is the current worker's name. Rewording costs calls: `reflector` is the judge whose
    model proposes wordings (by default the judge itself); `most_calls` and `budget` (in the
    currency of its prices) limit all calls of the search.
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
        """Whether any of its changes calls models."""
        return bool(set(ASKING_CHANGES) & set(self.changes))

    def next_number(self) -> int:
        """Return the number of the next proposal; today's wording has 0."""
        newest = self.proposals.aggregate(newest=models.Max("number"))["newest"]
        return 0 if newest is None else int(newest) + 1


class Proposal(models.Model):
    """A wording that a model proposed during a search, or today's (number 0), with its results.

    `texts` holds every part of the wording (evaluators/wording.py); `part` names the changed one.
    `scoring` holds changed settings of the judge (improving/scoring.py), empty for none.
    `prompt_key` is a digest of the request for the proposal; if the same request is made several
    times, `repeat` counts them. `on_batch` and `parent_on_batch` are mean rho on the documents from
    which it was proposed; `on_selection` is rho on each selection document (by id), empty if it was
    not better on the batch.
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
    """A change that a search produced.

    `formula` is what the judge of kind "formula" computes (evaluators/formula.py); `proposal` is
    the new wording instead; `measure` is what the change should improve. `training` holds
    cross-validated values on training documents: `candidate`, `today`, `gain`, `documents`, and for
    a map `constant`, the distance of the best constant.
    """

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="candidates")
    change = models.CharField(max_length=20, choices=Change)
    measure = models.CharField(
        max_length=10, choices=[*MEASURE_LABELS.items()], default=Measure.RANK
    )
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

    @property
    def is_better_on_training(self) -> bool:
        """Whether it gains on training documents; a map must also beat the best constant."""
        return is_better(self.training)

    @property
    def is_map(self) -> bool:
        """Whether it maps scores to people's, so that its gain is a distance in points."""
        return self.measure == Measure.DISTANCE


class Look(models.Model):
    """One look at the locked documents: who, when, which candidate, and the result. `ranked` has
    the number of documents in which people, the candidate and today's judge rank anything; None if
    distances are compared. In that case `constant` has the best constant (`value`, learned without
    the locked documents), its `distance` from people on them, and by how much the candidate is
    closer: `gain`, `low`, `high`."""

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
        """Who took the look; empty if unknown."""
        return self.looked_by_name or (str(self.looked_by) if self.looked_by else "")
