"""Forms for criteria (from presets, scratch or a prompt file) and evaluation steps."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction

from evaluations.corpus.rubric_items import ItemLine, change_items, lines_of_items, read_items
from evaluations.judging.judges.criteria import problems_of_change
from evaluations.models import Criterion, Judge, Project
from evaluations.web.field_groups import FieldGroup, field_groups
from evaluations.web.forms.setting_fields import describe_fields
from evaluations.web.revisions import EditForm
from geval.files.project_fields import CriterionFields
from geval.llm.presets import Preset, presets

BASICS = ("name", "definition", "scale_min", "scale_max")
# Labels are written in another form than they are stored, and a box that is not ticked is not
# sent. Items are weighed on the page of their rubric.
DECLARED = {
    name: info
    for name, info in CriterionFields.model_fields.items()
    if name not in ("scale_labels", "is_ordered", "weight")
}
FOLDED = (
    (
        "Points of the scale",
        ("scale_step", "labels_text", "without_order", "allows_not_applicable"),
    ),
    (
        "Pass or fail, and what is required",
        ("finds_highest", "required_sensitivity", "required_specificity", "required_kappa"),
    ),
    ("Prompt", ("task_introduction", "inputs", "prompt_upload", "prompt_file")),
    ("Guidelines for annotators", ("guidelines",)),
    ("Rubric", ("items_text",)),
)


class PresetForm(forms.Form):
    """Choose predefined criteria for a task and wording."""

    preset = forms.MultipleChoiceField(label="Presets", widget=forms.CheckboxSelectMultiple)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.groups: dict[str, list[tuple[str, str]]] = {}
        taken = {name.lower() for name in project.criteria.values_list("name", flat=True)}
        for preset in presets():
            if preset.name not in taken:
                group = f"{preset.task.capitalize()}, {preset.wording}"
                self.groups.setdefault(group, []).append((preset.key, preset.name))
        self.fields["preset"].choices = list(self.groups.items())  # type: ignore[attr-defined]

    def chosen(self) -> list[Preset]:
        """Return the presets of a valid form; of several with the same name, the first."""
        by_key = {preset.key: preset for preset in presets()}
        by_name: dict[str, Preset] = {}
        for key in self.cleaned_data["preset"]:
            by_name.setdefault(by_key[key].name, by_key[key])
        return list(by_name.values())


class CriterionForm(EditForm, forms.ModelForm):
    labels_text = forms.CharField(
        label="Labels of scale points",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One per line, for example “1 = Yes”. The model then answers with the label.",
    )
    without_order = forms.BooleanField(
        label="The labels have no order",
        required=False,
        help_text="Such as kinds of failures: each point of the scale has a label.",
    )
    items_text = forms.CharField(
        label="Items",
        required=False,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=(
            "Makes this a rubric: a line for each item of pass or fail, such as “2 | Cites its"
            " sources | Names a page of the manual.” The weight and the definition may be left out."
            " People and judges answer the items; this criterion is their total. A judge’s model"
            " can propose them once the criterion is saved."
        ),
    )
    prompt_upload = forms.FileField(
        label="Prompt from a file",
        required=False,
        help_text="A text file with placeholders; it replaces the whole prompt.",
    )

    class Meta:
        model = Criterion
        fields = ("name", *DECLARED)
        widgets = {
            "definition": forms.Textarea(attrs={"rows": 5}),
            "task_introduction": forms.Textarea(attrs={"rows": 5}),
            "inputs": forms.Textarea(attrs={"rows": 7, "class": "code"}),
            "prompt_file": forms.Textarea(attrs={"rows": 7, "class": "code"}),
            "guidelines": forms.Textarea(attrs={"rows": 5}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        describe_fields(self, DECLARED)
        for name in ("scale_min", "scale_max", "scale_step"):
            value = self.initial.get(name)
            if isinstance(value, float) and value.is_integer():
                self.initial[name] = int(value)  # 1, not 1.0
        self.fields["items_text"].initial = "\n".join(map(str, lines_of_items(self.instance)))
        named = self.instance.scale_labels or {}
        self.fields["without_order"].initial = not self.instance.is_ordered
        self.fields["labels_text"].initial = "\n".join(
            f"{point} = {label}" for point, label in named.items()
        )

    def groups(self) -> list[FieldGroup]:
        """Return the fields under their headings."""
        return field_groups(self, BASICS, FOLDED)

    def clean_labels_text(self) -> dict[str, str]:
        named: dict[str, str] = {}
        for line in self.cleaned_data["labels_text"].splitlines():
            if not line.strip():
                continue
            point, equals, label = (part.strip() for part in line.partition("="))
            try:
                number = float(point)
            except ValueError:
                number = float("nan")
            if not equals or not label or number != number:
                raise ValidationError(
                    f"“{line}” is not a point with a label, for example “1 = Yes”."
                )
            named[f"{number:g}"] = label
        return named

    def clean_items_text(self) -> list[ItemLine]:
        if self.add_prefix("items_text") not in self.data:  # not sent, so nothing is removed
            return lines_of_items(self.instance)
        lines = read_items(self.cleaned_data["items_text"])
        if lines and self.instance.rubric_id:
            raise ValidationError(f"It is an item of {self.instance.rubric}, and has none itself.")
        return lines

    def clean_prompt_upload(self) -> str:
        file = self.cleaned_data["prompt_upload"]
        if not file:
            return ""
        try:
            return str(file.read(), "utf-8-sig")
        except UnicodeDecodeError as error:
            raise ValidationError("The file is not UTF-8 text.") from error

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("prompt_upload"):
            data["prompt_file"] = data["prompt_upload"]
        for field, problem in problems_of_change(self.instance, data).items():
            self.add_error(field, problem)
        self.instance.scale_labels = data.get("labels_text") or {}
        self.instance.is_ordered = not data.get("without_order")
        return data

    def _update_errors(self, errors: ValidationError) -> None:
        """Show the model's validation errors for names of points at their field."""
        if "scale_labels" in getattr(errors, "error_dict", {}):
            errors.error_dict["labels_text"] = errors.error_dict.pop("scale_labels")
        super()._update_errors(errors)  # type: ignore[misc]

    def save(self, commit: bool = True) -> Criterion:
        self.instance.prompt_file = self.cleaned_data["prompt_file"]
        saved: Criterion = super().save(commit)
        return saved

    def store(self) -> bool:
        """Save the criterion with its items; return whether that was possible, or else show why
        not."""
        pk = self.instance.pk
        try:
            with transaction.atomic():
                change_items(self.save(), self.cleaned_data["items_text"])
        except ValidationError as error:
            self.instance.pk = pk
            self.add_error("items_text", error)
        return self.is_valid()


class StepsForm(forms.Form):
    """A new version of evaluation steps: written here, or by a judge's LLM."""

    text = forms.CharField(
        label="Evaluation steps", widget=forms.Textarea(attrs={"rows": 10}), required=False
    )
    judge = forms.ModelChoiceField(queryset=Judge.objects.none(), required=False, empty_label=None)

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["judge"].queryset = project.judges.with_models()  # type: ignore[attr-defined]
