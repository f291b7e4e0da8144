"""Criteria: quality dimensions with rating scales, and their evaluation steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F
from django.db.models.functions import Lower

from evaluations.models.project import Project
from geval.llm.presets import Preset
from geval.statistics.expert_bar import ExpertBar, bar_of
from geval.statistics.scales import (
    FARTHEST,
    MOST_POINTS,
    Scale,
    problems_of_scale,
    scale_of,
    short,
)


class CriterionQuerySet(models.QuerySet["Criterion"]):
    def without_rubrics(self) -> CriterionQuerySet:
        """Return the criteria on which outputs are rated and judged."""
        return self.filter(items=None)


class Criterion(models.Model):
    """A quality dimension with its definition, its scale, and the parts of its G-Eval prompt.

    The prompt is composed of `task_introduction`, `definition`, the evaluation steps, `inputs` and
    the form, unless `prompt_file` has a whole prompt with the usual placeholders, which is used as
    it is.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="criteria")
    name = models.CharField(max_length=100)
    definition = models.TextField(blank=True)
    scale_min = models.FloatField(default=1)
    scale_max = models.FloatField(default=5)
    scale_step = models.FloatField(default=1)
    scale_is_guess = models.BooleanField(
        default=False, db_default=False, help_text="Guessed from ratings; nobody confirmed it."
    )
    scale_labels = models.JSONField(
        default=dict, blank=True, help_text='Names of points, such as {"1": "Yes"}.'
    )
    is_ordered = models.BooleanField(default=True, db_default=True)
    finds_highest = models.BooleanField(default=False, db_default=False)
    # What a verdict by one expert's labels requires; empty for the usual.
    required_sensitivity = models.FloatField(null=True, blank=True)
    required_specificity = models.FloatField(null=True, blank=True)
    required_kappa = models.FloatField(null=True, blank=True)
    allows_not_applicable = models.BooleanField(default=False, db_default=False)
    # Ratings and scores of a rubric are not stored: geval/reports/rubric_totals.py computes them.
    # Items keep theirs without it.
    rubric = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="items",
        db_index=False,
    )
    weight = models.FloatField(default=1, db_default=1.0)
    task_introduction = models.TextField(blank=True)
    inputs = models.TextField(
        blank=True, help_text="The part of the prompt that shows the texts to be judged."
    )
    prompt_file = models.TextField(blank=True)
    guidelines = models.TextField(
        blank=True, help_text="What annotators should know about it, in Markdown."
    )
    position = models.PositiveIntegerField(default=0)

    objects = CriterionQuerySet.as_manager()

    class Meta:
        ordering = ("position", "pk")
        verbose_name_plural = "criteria"
        constraints = (
            models.UniqueConstraint("project", Lower("name"), name="criterion_once_per_project"),
            models.CheckConstraint(
                condition=models.Q(scale_min__lt=models.F("scale_max")), name="scale_not_empty"
            ),
            models.CheckConstraint(
                condition=models.Q(scale_step__gt=0), name="scale_step_positive"
            ),
            # PostgreSQL treats NaN as larger than any number, so both ends need a limit.
            models.CheckConstraint(
                condition=models.Q(scale_min__gte=-FARTHEST, scale_max__lte=FARTHEST),
                name="scale_within_limits",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    scale_step__lte=2 * FARTHEST,
                    scale_max__lte=F("scale_min") + F("scale_step") * float(MOST_POINTS),
                ),
                name="scale_of_few_points",
            ),
            *(
                models.CheckConstraint(
                    condition=models.Q(**{f"{name}__gt": 0, f"{name}__lt": 1}),
                    name=f"{name}_is_a_share",
                    violation_error_message="What is required lies between 0 and 1.",
                )
                for name in ("required_sensitivity", "required_specificity", "required_kappa")
            ),
            models.CheckConstraint(
                condition=models.Q(weight__gt=0, weight__lte=FARTHEST),
                name="weight_positive",
                violation_error_message="A weight is a number above 0.",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def bar(self) -> ExpertBar:
        """What one expert's labels have to show of a judge."""
        return bar_of(self)

    def clean(self) -> None:
        """Validate the scale, whatever its source."""
        ends = (self.scale_min, self.scale_max, self.scale_step)
        if any(end is None for end in ends):
            return  # reported for the field itself
        if problems := problems_of_scale(*ends, self.scale_labels, is_ordered=self.is_ordered):
            raise ValidationError(problems)
        if problems := dict(self._problems_of_rubric()):
            raise ValidationError(problems)

    def _problems_of_rubric(self) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with it as an item of a rubric, or as a rubric, by field."""
        if self.pk and self.items.exists():
            if not self.is_ordered:
                yield "is_ordered", "The total of a rubric has an order. Take its items out first."
            if self.rubric_id:
                yield "rubric", "A rubric is no item of another. Take its items out first."
        rubric = Criterion.objects.filter(pk=self.rubric_id or 0).first()
        if rubric is None:  # an id that nothing has is reported for the field itself
            return
        if not self.scale.is_pass_fail:
            yield (
                "rubric",
                f"An item of a rubric is pass or fail: put {self.name} on two points, such as 0-1.",
            )
        if rubric.project_id != self.project_id:
            yield "rubric", "The rubric is in another project. Choose one of this project."
        if rubric.rubric_id or rubric.pk == self.pk:
            yield "rubric", f"{rubric} is an item itself. Choose a criterion that is none."
        if not rubric.is_ordered:
            yield "rubric", f"{rubric} has labels without an order. Choose one with an order."
        runs = rubric.project.runs.filter(run_criteria__criterion=rubric)
        if any(own.exists() for own in (rubric.ratings, rubric.scores, rubric.campaigns, runs)):
            yield (
                "rubric",
                f"{rubric} has ratings, scores, campaigns or runs of its own, but a rubric's total"
                " comes from its items. Choose a new criterion.",
            )

    def use_preset(self, preset: Preset) -> None:
        """Copy the wording of a preset, without saving."""
        self.definition = preset.definition
        self.task_introduction = preset.introduction
        self.inputs = preset.inputs
        self.scale_labels = {short(point): label for label, point in preset.labels.items()}

    @property
    def scale(self) -> Scale:
        return scale_of(self)

    @property
    def scale_in_words(self) -> str:
        """The scale that prompts state, and whether somebody confirmed it."""
        guess = " (a guess from its ratings)" if self.scale_is_guess else ""
        return f"{self.scale.written}{guess}"

    @property
    def why_items(self) -> str:
        """Why a rubric is not rated, judged or improved itself; "" for other criteria."""
        names = ", ".join(item.name for item in self.items.all())
        return names and (
            f"{self.name} is a rubric, whose total is computed from its items. Use these instead:"
            f" {names}."
        )

    @property
    def newest_steps(self) -> EvaluationSteps | None:
        return self.steps.order_by("-version").first()


def with_items_of(criteria: Iterable[Criterion]) -> list[Criterion]:
    """Return criteria on which outputs can be rated and judged: in place of a rubric its items."""
    rated = (list(criterion.items.all()) or [criterion] for criterion in criteria)
    return list(dict.fromkeys(itertools.chain.from_iterable(rated)))


class EvaluationSteps(models.Model):
    """One version of a criterion's auto chain-of-thought (Liu et al., 2023), generated or written
    by hand."""

    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="steps")
    version = models.PositiveIntegerField()
    text = models.TextField()
    written_by = models.CharField(max_length=200, help_text="The model that wrote them, or 'hand'.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("criterion", "version")
        verbose_name_plural = "evaluation steps"
        constraints = (
            models.UniqueConstraint(fields=("criterion", "version"), name="steps_version_once"),
        )

    def __str__(self) -> str:
        return f"{self.criterion} steps, version {self.version}"
