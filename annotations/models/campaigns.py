"""Campaigns: what is rated or compared, by whom, how often, how it is shown, and the goal at which
a campaign closes itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import connection, models
from django.urls import reverse
from django.utils.translation import gettext_noop as _

from annotations.models.people import Annotator
from evaluations.models import Criterion, Judge, Project, System
from evaluations.models.goals import GoalKind

if TYPE_CHECKING:
    from geval.texts.formatting.kinds import Formats


class CampaignKind(models.TextChoices):
    RATING = "rating", _("Rate outputs")
    PAIRWISE = "pairwise", _("Compare two outputs")
    BEST_WORST = "best_worst", _("Best and worst of several")
    RANKING = "ranking", _("Rank several outputs")


class CampaignState(models.TextChoices):
    DRAFT = "draft", "Draft"
    OPEN = "open", "Open"
    CLOSED = "closed", "Closed"


class Selection(models.TextChoices):
    """The design of a campaign. All but the last give every output a known probability above 0;
    `DISAGREEMENT` and `NEEDED` favour outputs where the judge is likely to be wrong."""

    ALL = "all", "All"
    SAMPLE = "sample", "A random sample"
    STRATIFIED = "stratified", "A sample, the same number of each system"
    DISAGREEMENT = "disagreement", "A sample with more where judges disagree"
    NEEDED = "needed", "A sample with more where the estimate needs it"
    TOP = "top", "Only where judges disagree most (not a sample)"


# Designs that sample more of the outputs that a prediction favours.
ACTIVE = (Selection.DISAGREEMENT, Selection.NEEDED)


class ItemOrder(models.TextChoices):
    DOCUMENT = "document", "Document by document"
    RANDOM = "random", "At random, systems in turn"


class CampaignQuerySet(models.QuerySet["Campaign"]):
    def for_user(self, user: Any) -> CampaignQuerySet:
        """Return the started campaigns in which a user annotates."""
        campaigns = self.filter(seats__annotator__user=user, seats__removed_at=None)
        return campaigns.exclude(state=CampaignState.DRAFT)


class Campaign(models.Model):
    """Annotation with a plan (items, criteria, overlap, checks), which is fixed when it opens."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="campaigns")
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20, choices=CampaignKind, default=CampaignKind.RATING)
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.DRAFT)
    criteria = models.ManyToManyField(Criterion, related_name="campaigns", blank=True)
    selection = models.CharField(max_length=20, choices=Selection, default=Selection.ALL)
    sample_size = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    whole_documents = models.BooleanField(default=False, db_default=False)
    group_size = models.PositiveIntegerField(
        default=3, validators=[MinValueValidator(3), MaxValueValidator(9)]
    )
    overlap = models.PositiveIntegerField(
        default=3, validators=[MinValueValidator(1), MaxValueValidator(1000)]
    )
    order = models.CharField(max_length=20, choices=ItemOrder, default=ItemOrder.DOCUMENT)
    seed = models.PositiveIntegerField(default=0)
    lease_minutes = models.FloatField(
        default=60, validators=[MinValueValidator(0.01), MaxValueValidator(10_080)]
    )
    deadline = models.DateTimeField(null=True, blank=True)
    most_each = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)]
    )
    language = models.CharField(
        max_length=10, choices=settings.LANGUAGES, blank=True, default="", db_default=""
    )

    check_percent = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(50)])
    attention_checks = models.BooleanField(default=False)
    gold = models.JSONField(
        default=list, blank=True, help_text="Outputs whose right answers are known."
    )
    check_tolerance = models.FloatField(
        default=0, db_default=0, validators=[MinValueValidator(0), MaxValueValidator(1000)]
    )
    practice_pass = models.PositiveIntegerField(
        default=0, db_default=0, validators=[MaxValueValidator(100)]
    )
    practice_items = models.PositiveIntegerField(default=0, validators=[MaxValueValidator(50)])

    show_systems = models.BooleanField(default=False)
    show_others = models.BooleanField(default=False)
    show_scores = models.BooleanField(default=False)
    show_markdown = models.BooleanField(default=False, db_default=False)
    strength = models.BooleanField(default=False)
    span_categories = models.JSONField(default=list, blank=True)
    span_severities = models.JSONField(default=list, blank=True)
    adjudicate_beyond = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0)])

    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = CampaignQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="campaign_once_per_project"),
        )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotations:campaign_detail", args=[self.project.slug, self.pk])

    def edited_besides(self) -> list[list[Any]]:
        """Return what an edit changes besides its columns: the members who are seated, what its
        goal asks for, and whom items are kept for."""
        seats = self.seats.select_related("annotator").filter(removed_at=None)
        goal = CampaignGoal.objects.filter(campaign=self).values_list(
            "kind", "criterion", "width", "judge", "rival", "system", "other"
        )
        users = [seat.annotator.user_id for seat in seats]
        named = self.named_items.values_list("annotator", "field", "wanted")
        return [sorted(user for user in users if user), *map(list, goal), *map(list, named)]

    @property
    def is_rating(self) -> bool:
        return self.kind == CampaignKind.RATING

    @property
    def formats(self) -> Formats:
        """How texts are shown: outputs as Markdown if the campaign says so, otherwise as in its
        project."""
        formats = self.project.formats
        return formats.with_markdown_outputs() if self.show_markdown else formats

    def item_counts(self) -> tuple[int, int, int]:
        """Return the number of ordinary items, how many of them have all their answers, and the
        number of answers that all of them take."""
        with connection.cursor() as cursor:
            # An item that is kept for fewer people takes fewer answers.
            cursor.execute(
                """SELECT count(*), coalesce(sum(least(%s, cardinality(kept_for))), 0)
                   FROM annotations_campaignitem
                   WHERE campaign_id = %s AND kind = 'ordinary'""",
                [self.overlap, self.pk],
            )
            items, places = cursor.fetchone()
            cursor.execute(
                """SELECT count(*) FROM (
                       SELECT a.item_id FROM annotations_assignment a
                       JOIN annotations_campaignitem i ON i.id = a.item_id
                       WHERE a.campaign_id = %s AND a.state = 'submitted' AND i.kind = 'ordinary'
                           AND i.places = 0
                       GROUP BY a.item_id, i.kept_for
                       HAVING count(*) >= least(%s, cardinality(i.kept_for))) AS complete""",
                [self.pk, self.overlap],
            )
            return items, cursor.fetchone()[0], places


class SeatQuerySet(models.QuerySet["Seat"]):
    def lock(self) -> list[Seat]:
        """Return these seats, locked until the transaction ends.

        Whoever changes assignments locks their annotators' seats first, then items: seats by id,
        items by position, which prevents deadlocks.
        """
        return list(self.select_for_update(of=("self",), no_key=True).order_by("pk"))


class Seat(models.Model):
    """An annotator's place in a campaign.

    `cursor` is the position last reserved, where the next claim begins; `handed` counts the
    ordinary items assigned so far, which decides when a check is due. `most_items` limits the
    ordinary items, practice comes first; None means the campaign's `most_each`, or without it an
    even share until the annotator `takes_more`. `guidelines_seen` is the number of the version of
    the guidelines that the annotator was shown last.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="seats")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="seats")
    cursor = models.IntegerField(default=-1)
    handed = models.PositiveIntegerField(default=0)
    most_items = models.PositiveIntegerField(null=True, blank=True)
    takes_more = models.BooleanField(default=False, db_default=False)
    guidelines_seen = models.IntegerField(null=True, blank=True)
    removed_at = models.DateTimeField(null=True, blank=True)

    objects = SeatQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (models.UniqueConstraint(fields=("campaign", "annotator"), name="seat_once"),)

    def __str__(self) -> str:
        return f"{self.annotator} in {self.campaign}"


class NamedItems(models.Model):
    """Items of a campaign that go to an annotator, and only to those who are named for them: of the
    documents whose `field` ("doc_id" or one of their metadata) is one of the texts in `wanted`."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="named_items")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="+")
    field = models.CharField(max_length=200)
    wanted = models.JSONField()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"items for {self.annotator}"


class CampaignGoal(models.Model):
    """The goal of a campaign on one criterion, fixed when the campaign opens.

    `width` is an interval's half-width. `low` and `high` are the ends of the interval with which
    the goal was reached, `documents` the number it is based on; `seen` is a digest of the ratings
    and scores when the interval was last checked.
    """

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="goal")
    kind = models.CharField(max_length=10, choices=GoalKind)
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    width = models.FloatField(null=True)
    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, null=True, related_name="+")
    rival = models.ForeignKey(Judge, on_delete=models.CASCADE, null=True, related_name="+")
    system = models.ForeignKey(System, on_delete=models.CASCADE, null=True, related_name="+")
    other = models.ForeignKey(System, on_delete=models.CASCADE, null=True, related_name="+")
    seen = models.CharField(max_length=32, default="", db_default="", blank=True)
    reached_at = models.DateTimeField(null=True)
    documents = models.PositiveIntegerField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"goal of {self.campaign}"

    @property
    def figure(self) -> str:
        """What is known of a judge: rho, or on pass or fail the share of equal verdicts."""
        return "agreement" if self.criterion.scale.is_pass_fail else "rho"

    @property
    def sides(self) -> tuple[Any, ...]:
        """The two systems or judges that are compared, or the single judge."""
        if self.kind == GoalKind.SYSTEMS:
            return (self.system, self.other)
        return (self.judge, self.rival) if self.kind == GoalKind.JUDGES else (self.judge,)
