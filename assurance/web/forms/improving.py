"""Forms for locking documents and searching for changes of a judge."""

from decimal import Decimal
from typing import Any

from django import forms

from assurance.improving.work import SearchLimits
from evaluations.models import Change, Criterion, Judge, Project
from evaluations.models.improving import ASKING_CHANGES, FREE_CHANGES
from geval.statistics.locked_rule import LOOKS, MOST_LOOKS, SHARE
from geval.statistics.thresholds import LOCKED_DOCUMENTS, TRAINING_DOCUMENTS


class LockForm(forms.Form):
    least_training, least_locked = TRAINING_DOCUMENTS, LOCKED_DOCUMENTS

    percent = forms.IntegerField(
        label="Share of the documents (%)",
        min_value=10,
        max_value=90,
        initial=round(100 * SHARE),
        help_text="More locked documents prove smaller gains; fewer leave more to learn from.",
    )
    looks = forms.IntegerField(
        label="Tests allowed",
        min_value=1,
        max_value=MOST_LOOKS,
        initial=LOOKS,
        help_text="Each test widens the interval of every test.",
    )

    @property
    def share(self) -> float:
        return float(self.cleaned_data["percent"]) / 100


class TargetForm(forms.Form):
    """The judge and the criterion of a search; hidden next to its choices."""

    judge = forms.ModelChoiceField(Judge.objects.none())
    criterion = forms.ModelChoiceField(Criterion.objects.none())

    def __init__(self, *args: Any, project: Project, **more: Any) -> None:
        super().__init__(*args, **more)
        for name, rows in (("judge", project.judges), ("criterion", project.criteria)):
            self.fields[name].queryset = rows.all()  # type: ignore[attr-defined]


class SearchForm(forms.Form):
    changes = forms.MultipleChoiceField(
        label="What may change",
        choices=Change.choices,
        initial=list(FREE_CHANGES),
        widget=forms.CheckboxSelectMultiple,
        help_text=(
            "Wording, examples and scoring call the judge’s model many times; the others use"
            " existing scores."
        ),
    )
    most_calls = forms.IntegerField(
        label="Calls allowed",
        min_value=1,
        max_value=1_000_000,
        initial=400,
    )
    budget = forms.DecimalField(
        label="Budget for these calls",
        required=False,
        min_value=Decimal("0.0001"),
        max_digits=14,
        decimal_places=4,
        help_text="In the currency of the judge’s prices. Leave empty to limit only the calls.",
    )
    reflector = forms.ModelChoiceField(
        Judge.objects.none(),
        label="Who proposes wordings",
        required=False,
        empty_label="The judge’s own model",
    )

    def __init__(self, *args: Any, project: Project, reworded: bool = True, **more: Any) -> None:
        """`reworded`: whether the judge's wording can be changed at all."""
        super().__init__(*args, **more)
        self.fields["reflector"].queryset = project.judges.with_models()  # type: ignore[attr-defined]
        if not reworded:
            self.fields["changes"].choices = [  # type: ignore[attr-defined]
                choice for choice in Change.choices if choice[0] not in ASKING_CHANGES
            ]
            self.fields[
                "changes"
            ].help_text = "Only judges of the kind G-Eval have a wording that can be changed."
            for name in ("most_calls", "budget", "reflector"):
                del self.fields[name]

    @property
    def limits(self) -> SearchLimits:
        given = self.cleaned_data
        return SearchLimits(
            most_calls=given.get("most_calls") or SearchLimits.most_calls,
            budget=given.get("budget"),
            reflector=given.get("reflector"),
        )
