"""Forms for locking documents, searches, causes of gaps, certificates and studies."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.db.models import BigIntegerField, QuerySet

from assurance.certifying.certificates import read_requirements
from assurance.improving.work import SearchLimits
from assurance.instrument.studies import USUAL
from evaluations.models import (
    CandidateOutput,
    Change,
    Criterion,
    GapCause,
    Judge,
    Project,
    StudyKind,
)
from evaluations.models.causes import MOST_LETTERS
from evaluations.models.improving import ASKING_CHANGES, FREE_CHANGES
from evaluations.models.instrument import MOST_REPLIES
from evaluations.web.field_groups import FieldGroup, field_groups
from geval.improving.promises import Promise, PromiseKind
from geval.reports.label_results import labels_of
from geval.reports.options import EPSILON_FOR, HUMAN_SCORES, MEAN
from geval.reports.requirements import Requirement, RequirementError, refuse_unknown_labels
from geval.statistics.locked_rule import LOOKS, MOST_LOOKS, SHARE
from geval.statistics.thresholds import (
    LOCKED_DOCUMENTS,
    STUDY_MOST_OUTPUTS,
    STUDY_OUTPUTS,
    TRAINING_DOCUMENTS,
    VERDICT_RATERS,
)


class LockForm(forms.Form):
    least_training, least_locked = TRAINING_DOCUMENTS, LOCKED_DOCUMENTS
    least_documents = least_training + least_locked

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


class GapsForm(forms.Form):
    """Selects gaps: a judge and a criterion of the project. `view` is the page to return to."""

    judge = forms.ModelChoiceField(Judge.objects.none())
    criterion = forms.ModelChoiceField(Criterion.objects.none())
    view = forms.CharField(required=False, max_length=4000)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields["judge"].queryset = project.judges.all()  # type: ignore[attr-defined]
        self.fields["criterion"].queryset = project.criteria.all()  # type: ignore[attr-defined]


class GapForm(GapsForm):
    """Selects the gap of an output; `then` is the output to open next."""

    output = forms.IntegerField(min_value=1, max_value=BigIntegerField.MAX_BIGINT)
    then = forms.IntegerField(required=False, min_value=0, max_value=BigIntegerField.MAX_BIGINT)

    def clean_output(self) -> CandidateOutput:
        outputs = CandidateOutput.objects.of_project(self.project)
        rows = outputs.filter(pk=self.cleaned_data["output"]).select_related("document", "system")
        output = rows.first()
        if output is None:
            raise forms.ValidationError("There is no such output in this project.")
        return output


class CauseForm(GapForm):
    """The cause of a gap: one of the buttons, or free text."""

    cause = forms.CharField(max_length=MOST_LETTERS, required=False)
    own = forms.CharField(max_length=MOST_LETTERS, required=False)
    note = forms.CharField(max_length=2000, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        given = cleaned.get("cause") or cleaned.get("own") or ""
        cleaned["cause"] = " ".join(given.split())
        if not cleaned["cause"] and not self.errors:
            raise forms.ValidationError("Choose a cause, or enter your own.")
        return cleaned


class ExamplesForm(GapsForm):
    """Outputs that become examples of a judge: one, or all with a cause."""

    output = forms.IntegerField(required=False, min_value=1, max_value=BigIntegerField.MAX_BIGINT)
    cause = forms.CharField(max_length=MOST_LETTERS, required=False)

    def output_ids(self) -> list[int]:
        """Return the ids of the outputs; those of a cause belong to its judge and criterion."""
        about = self.cleaned_data
        if about["output"]:
            return [about["output"]]
        causes = GapCause.objects.of_project(self.project).filter(
            judge=about["judge"], criterion=about["criterion"], cause=about["cause"]
        )
        return list(causes.values_list("output", flat=True))


FOLDED = (("Requirements", ("requirements", "epsilon", "human_score")),)


def usual_requirements(criterion: Criterion | None) -> str:
    """Return what is usually required on a criterion of this kind, line by line."""
    if criterion is None:
        return "verdict.agrees"
    bar = criterion.bar
    if criterion.scale.is_pass_fail:
        return f"sensitivity.low>={bar.sensitivity:g}\nspecificity.low>={bar.specificity:g}"
    raters = criterion.ratings.order_by().values("annotator").distinct()[:VERDICT_RATERS]
    if not criterion.is_ordered or len(raters) < VERDICT_RATERS:
        return f"kappa.low>={bar.kappa:g}"
    return "spearman.summary.low>=0.45\nverdict.stands_in"


class CertificateForm(forms.Form):
    """A criterion, requirements line by line, and the tolerance of the annotator test."""

    criterion = forms.ModelChoiceField(Criterion.objects.none(), empty_label=None)
    requirements = forms.CharField(
        max_length=4000,
        widget=forms.Textarea({"rows": 4, "class": "code", "spellcheck": "false"}),
        help_text="One per line: a figure, a relation and a number, or a claim.",
    )
    epsilon = forms.ChoiceField(
        choices=[(value, f"{value}, for {people}") for value, people in EPSILON_FOR.items()],
        label="Epsilon of the annotator test",
        initial=next(iter(EPSILON_FOR)),
    )

    human_score = forms.ChoiceField(
        choices=[(score, name) for score, (name, _said) in HUMAN_SCORES.items()],
        label="Human score",
        initial=MEAN,
        required=False,
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["criterion"].queryset = project.criteria.all()  # type: ignore[attr-defined]
        self.fields["requirements"].initial = usual_requirements(project.criteria.first())

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        criterion, requirements = cleaned.get("criterion"), cleaned.get("requirements")
        try:
            if criterion and requirements:
                refuse_unknown_labels(requirements, criterion.name, labels_of(criterion))
        except RequirementError as error:
            self.add_error("requirements", str(error))
        return cleaned

    def groups(self) -> list[FieldGroup]:
        """Return the criterion, and the fields that usually keep their defaults."""
        return field_groups(self, ("criterion",), FOLDED)

    def clean_human_score(self) -> str:
        return self.cleaned_data["human_score"] or MEAN

    def clean_requirements(self) -> list[Requirement]:
        try:
            return read_requirements(self.cleaned_data["requirements"].splitlines())
        except RequirementError as error:
            raise forms.ValidationError(str(error)) from None


PROMISES = {
    PromiseKind.ONE_PERSON: "As one person: kept answers are as close to people as one",
    PromiseKind.WITHIN: "Within some points: 95 % are this near to people’s mean",
    PromiseKind.FALSE_PASSES: "Few false passes: people fail at most 5 % of what passes",
}


class PolicyForm(forms.Form):
    """What is promised of kept answers on a criterion."""

    promise = forms.ChoiceField(widget=forms.RadioSelect)
    points = forms.FloatField(
        min_value=0, max_value=1000, initial=0.5, required=False,
        label="Points, if within some points",
    )  # fmt: skip
    second = forms.ModelChoiceField(
        Judge.objects.none(), required=False, label="Second judge", empty_label="none",
        help_text="Asked where this one is not sure enough; people get the rest.",
    )  # fmt: skip
    field = forms.ChoiceField(required=False, label="Also by")

    def __init__(self, *args: Any, promises: Sequence[PromiseKind], fields: tuple[str, ...],
                 others: QuerySet[Judge], **kwargs: Any) -> None:  # fmt: skip
        super().__init__(*args, **kwargs)
        self.fields["second"].queryset = others  # type: ignore[attr-defined]
        names = [(kind, PROMISES[kind]) for kind in promises]
        self.fields["promise"].choices = names  # type: ignore[attr-defined]
        choices = [("", "nothing"), *((name, name) for name in fields)]
        self.fields["field"].choices = choices  # type: ignore[attr-defined]

    @property
    def asked(self) -> Promise:
        kind = PromiseKind(self.cleaned_data["promise"])
        points = self.cleaned_data["points"] if kind == PromiseKind.WITHIN else 0.0
        return Promise(kind, points)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("promise") == PromiseKind.WITHIN and cleaned.get("points") is None:
            self.add_error("points", "Enter a number of points.")
        return cleaned


class StudyForm(forms.Form):
    """What to ask about, how often, and for how much; fields depend on the kind of study."""

    criterion = forms.ModelChoiceField(Criterion.objects.none(), empty_label=None)
    items = forms.IntegerField(
        label="Outputs",
        min_value=STUDY_OUTPUTS,
        max_value=STUDY_MOST_OUTPUTS,
        help_text="Spread over documents; those that people rated come first.",
    )
    replies = forms.IntegerField(
        label="Replies to each",
        min_value=1,
        max_value=MOST_REPLIES,
        help_text="Three or more; five are usual.",
    )
    budget = forms.DecimalField(
        required=False,
        min_value=0,
        max_digits=14,
        decimal_places=4,
        label="Budget of each run (optional)",
        help_text="In the currency of the judge's prices.",
    )

    def __init__(self, *args: Any, project: Project, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = StudyKind(kind)
        self.fields["criterion"].queryset = project.criteria.without_rubrics()  # type: ignore[attr-defined]
        items, replies = USUAL[self.kind]
        self.fields["items"].initial, self.fields["replies"].initial = items, replies
        if self.kind != StudyKind.AGAIN:
            del self.fields["replies"]
