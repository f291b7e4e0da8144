"""Why a judge and people differ on an output: a cause that a person gave after reading it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from evaluations.models.corpus import CandidateOutput
from evaluations.models.criteria import Criterion
from evaluations.models.improving import withheld_documents
from evaluations.models.judges import Judge
from evaluations.models.project import Project

# The causes of every project, in the order of their keys; a project can add its own.
JUDGE_WRONG, RATING_WRONG = "judge is wrong", "rating is wrong"
CRITERION_VAGUE, CANNOT_SAY = "criterion is vague", "cannot say"
USUAL_CAUSES = (JUDGE_WRONG, RATING_WRONG, CRITERION_VAGUE, CANNOT_SAY)
# A cause is a label by which outputs are counted; sentences go into the note.
MOST_LETTERS = 60


class GapCauseQuerySet(models.QuerySet["GapCause"]):
    def of_project(self, project: Project) -> GapCauseQuerySet:
        """Return the causes in a project, without outputs whose ratings are withheld: a note would
        reveal them."""
        hidden = withheld_documents(project.pk)
        return self.filter(judge__project=project).exclude(output__document__in=hidden)

    def counted(self) -> list[tuple[str, int]]:
        """Count outputs by cause, most frequent first."""
        counts = self.order_by().values_list("cause").annotate(n=models.Count("pk"))
        return sorted(counts, key=lambda pair: (-pair[1], pair[0]))

    def names(self) -> list[str]:
        """Return the predefined causes, then the project's own in order of first use."""
        used = (
            self.exclude(cause__in=USUAL_CAUSES)
            .order_by()
            .values_list("cause")
            .annotate(first=models.Min("pk"))
            .order_by("first")
        )
        return [*USUAL_CAUSES, *(cause for cause, _first in used)]


class GapCause(models.Model):
    """The cause of the gap between a judge and people on one output and criterion, with who set it
    last and when. Earlier causes are in the audit log."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="gap_causes")
    criterion = models.ForeignKey(Criterion, on_delete=models.CASCADE, related_name="+")
    output = models.ForeignKey(CandidateOutput, on_delete=models.CASCADE, related_name="+")
    cause = models.CharField(max_length=MOST_LETTERS)
    note = models.TextField(blank=True, db_default="", max_length=2000)
    given_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    given_by_name = models.CharField(max_length=150, help_text="As it was then.")
    given_at = models.DateTimeField(db_default=Now())

    objects = GapCauseQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("judge", "criterion", "output"), name="gap_cause_once_per_output"
            ),
        )

    def __str__(self) -> str:
        return self.cause
