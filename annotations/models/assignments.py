"""The items of a campaign, their assignments and answers, every change of an answer, and the
probabilities of samples."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_noop as _

from annotations.models.campaigns import Campaign
from annotations.models.people import Annotator
from evaluations.models import CandidateOutput, Criterion, Document


class ItemKind(models.TextChoices):
    ORDINARY = "ordinary", "Ordinary"
    GOLD = "gold", "Gold"
    ATTENTION = "attention", "Attention check"
    PRACTICE = "practice", "Practice"


class CampaignItem(models.Model):
    """One unit of work: one output to rate, or several outputs of one document to compare.

    `places` says how many more annotators may get an ordinary item; the database keeps it at 0 or
    above, so that no item is assigned to more annotators than the campaign's overlap. Checks go to
    everybody and create no ratings. `kept_for` has the ids of the only annotators who get the item,
    as the campaign's `NamedItems` say; None for everybody.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="items", db_index=False
    )
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="campaign_items")
    position = models.IntegerField()
    kind = models.CharField(max_length=10, choices=ItemKind, default=ItemKind.ORDINARY)
    outputs = ArrayField(models.BigIntegerField(), help_text="Ids of the outputs, of one document.")
    places = models.IntegerField(default=0)
    kept_for = ArrayField(models.BigIntegerField(), null=True, blank=True)
    expected = models.JSONField(null=True, blank=True, help_text="The right answer of a check.")

    class Meta:
        ordering = ("campaign", "position")
        constraints = (
            models.UniqueConstraint(fields=("campaign", "position"), name="item_position_once"),
            models.CheckConstraint(
                condition=models.Q(places__gte=0), name="item_not_given_too_often"
            ),
        )
        indexes = (
            models.Index(
                fields=("campaign", "position"),
                condition=models.Q(places__gt=0),
                name="item_with_places",
            ),
            models.Index(
                fields=("campaign", "position"),
                condition=models.Q(kept_for__isnull=False),
                name="item_kept",
            ),
            models.Index(
                fields=("campaign", "kind"),
                condition=~models.Q(kind="ordinary"),
                name="item_checks",
            ),
        )

    def __str__(self) -> str:
        return f"item {self.position} of campaign {self.campaign_id}"


class AssignmentState(models.TextChoices):
    RESERVED = "reserved", "Reserved"
    SUBMITTED = "submitted", _("Submitted")
    SKIPPED = "skipped", _("Skipped")
    EXPIRED = "expired", _("Lease expired")
    REJECTED = "rejected", _("Rejected")


class Assignment(models.Model):
    """One item for one annotator: reserved under a lease, then submitted or skipped. An owner may
    reject a submitted answer, which is kept but does not count.

    `scores_shown` is False where an earlier version hid the LLM scores of a campaign that shows
    them. `answer` is the submitted answer, `draft` input that is not submitted yet; `version`
    counts submissions, so that a stale window cannot overwrite a newer answer. `seconds` is active
    time without idle time. `shown` has the outputs in this annotator's display order.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    item = models.ForeignKey(
        CampaignItem, on_delete=models.CASCADE, related_name="assignments", db_index=False
    )
    annotator = models.ForeignKey(
        Annotator, on_delete=models.PROTECT, related_name="assignments", db_index=False
    )
    state = models.CharField(
        max_length=10, choices=AssignmentState, default=AssignmentState.RESERVED
    )
    shown = ArrayField(models.BigIntegerField())
    reserved_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    version = models.PositiveIntegerField(db_default=0)
    answer = models.JSONField(null=True, blank=True)
    draft = models.JSONField(null=True, blank=True)
    draft_number = models.BigIntegerField(db_default=0)
    flagged = models.BooleanField(db_default=False)
    skip_reason = models.TextField(blank=True, db_default="")
    passed = models.BooleanField(
        null=True, blank=True, help_text="Of a check: whether the first answer was as expected."
    )
    scores_shown = models.BooleanField(null=True)
    saw_others_at = models.DateTimeField(null=True, blank=True)
    guidelines_version = models.IntegerField(
        null=True, blank=True, help_text="Of the guidelines that the annotator had been shown."
    )

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("item", "annotator"), name="assignment_once"),
        )
        indexes = (
            models.Index(fields=("annotator", "campaign", "state", "id"), name="assignment_queue"),
            models.Index(
                fields=("campaign", "lease_until"),
                condition=models.Q(state="reserved"),
                name="assignment_leases",
            ),
        )

    def __str__(self) -> str:
        return f"{self.annotator}: {self.item}"

    @property
    def sees_scores(self) -> bool:
        """Whether LLM scores are visible: the campaign shows them, and they were not hidden."""
        return self.campaign.show_scores and self.scores_shown is not False


class AnswerChange(models.Model):
    """A later change of a submitted answer: who, when, from what, to what."""

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="changes")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    at = models.DateTimeField(db_default=Now())
    before = models.JSONField()
    after = models.JSONField()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"change of {self.assignment_id}"


class Decision(models.Model):
    """An adjudicator's decision on an item where annotators differ. It is stored next to the
    ratings and never replaces them.

    Decisions are only added; the newest of an item counts.
    """

    item = models.ForeignKey(CampaignItem, on_delete=models.CASCADE, related_name="decisions")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by_name = models.CharField(
        max_length=150, blank=True, db_default="", help_text="On another site, for an archive."
    )
    answer = models.JSONField()
    note = models.TextField(blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"decision on {self.item_id}"


class ReviewAction(models.TextChoices):
    ACCEPTED = "accepted", "Accepted"
    RETURNED = "returned", _("Returned")
    FIXED = "fixed", _("Corrected by a reviewer")
    REJECTED = "rejected", _("Rejected")
    COUNTED = "counted", "Counted again"
    HANDED_OUT = "handed out", "Handed out again"
    # The annotator's own steps.
    CORRECTED = "corrected", "Corrected by the annotator"
    ASKED = "asked", _("Question")


class ReviewQuerySet(models.QuerySet["Review"]):
    def newest(self) -> ReviewQuerySet:
        """Return the last step of each answer."""
        return self.order_by("assignment_id", "-pk").distinct("assignment_id")

    def is_fixed(self) -> bool:
        """Whether a reviewer's answer stands in place of the annotator's; of one answer."""
        steps = self.filter(action__in=(ReviewAction.FIXED, ReviewAction.HANDED_OUT))
        newest = steps.order_by("-pk").first()
        return newest is not None and newest.action == ReviewAction.FIXED


class Review(models.Model):
    """A step in the review of an answer, with its reason, message or question; reviews are only
    added, and the newest says where the answer stands.

    `answer` is the answer at that time, `skip_reason` that of a skipped item: an item that is
    released again may be answered anew by the same person.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="reviews")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    by_name = models.CharField(max_length=150, blank=True, db_default="")
    at = models.DateTimeField(db_default=Now())
    action = models.CharField(max_length=20, choices=ReviewAction)
    reason = models.TextField(blank=True, db_default="")
    answer = models.JSONField(null=True, blank=True)
    skip_reason = models.TextField(blank=True, db_default="")

    objects = ReviewQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.get_action_display()}: {self.assignment_id}"


_PROBABLE = models.Q(probability__gt=0, probability__lte=1)
_STATED = models.Q(probability__gte=0, probability__lte=1)


class Inclusion(models.Model):
    """The probability with which a campaign could choose an output, including outputs that it did
    not choose: campaigns are combined by what each could have chosen.

    Campaigns with all outputs have no rows, nor have those whose items are not a probability
    sample.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="inclusions", db_index=False
    )
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="+")
    probability = models.FloatField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("campaign", "output"), name="inclusion_once"),
            models.CheckConstraint(condition=_PROBABLE, name="inclusion_is_a_probability"),
        )

    def __str__(self) -> str:
        return f"{self.probability:g}"


class StatedProbability(models.Model):
    """The probability with which an output was chosen to be rated on a criterion, as stated by the
    file with its ratings; 0 if it was hand-picked."""

    output = models.ForeignKey(
        CandidateOutput, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    probability = models.FloatField()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("output", "criterion"), name="stated_probability_once"),
            models.CheckConstraint(condition=_STATED, name="stated_is_a_probability"),
        )

    def __str__(self) -> str:
        return f"{self.probability:g}"
