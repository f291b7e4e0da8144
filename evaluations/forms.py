"""All input of the pages passes through these forms."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile

from evaluations.judging.judges import JudgeDraft
from evaluations.models import Criterion, Judge, JudgeKind, Project, ScoringMode


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "slug", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        labels = {"slug": "Short name"}


class MultipleFileInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class MultipleFileField(forms.FileField):
    """One field, several files; each must not be larger than the upload limit."""

    widget = MultipleFileInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data]
        cleaned = [super(MultipleFileField, self).clean(file, initial) for file in files]
        for file in cleaned:
            if file.size > settings.UPLOAD_LIMIT_BYTES:
                limit = settings.UPLOAD_LIMIT_BYTES // 2**20
                raise ValidationError(f"{file.name} is larger than {limit} MB; split it, or use manage.py load.")
        return cleaned


class UploadForm(forms.Form):
    files = MultipleFileField(  # type: ignore[assignment]  # a field's name, popped by the form's metaclass
        label="Files",
        help_text="JSONL or CSV of outputs, CSV of ratings or scores, JSON of a release; plain or gzip.",
    )
    judge = forms.CharField(
        label="Judge's name",
        required=False,
        max_length=200,
        help_text="For scores that come without one (predict_scores). Left empty, the file's name is taken.",
    )


class JudgeForm(forms.Form):
    name = forms.CharField(max_length=200, help_text="What reports call it, such as “G-Eval gpt-4o-mini”.")
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        help_text="Of an OpenAI-compatible endpoint; ends in /v1 on most servers.",
    )
    model = forms.CharField(max_length=200)
    mode = forms.ChoiceField(label="Scoring", choices=ScoringMode.choices, initial=ScoringMode.LOGPROBS)
    samples = forms.IntegerField(
        label="Replies an item", min_value=1, max_value=100, initial=20, help_text="For the mode Samples."
    )
    temperature = forms.FloatField(
        min_value=0, max_value=2, required=False, help_text="Left empty: 1 for samples, 0 otherwise."
    )
    key_env = forms.CharField(
        label="Key variable",
        max_length=100,
        required=False,
        help_text="Name of the worker's environment variable that holds the key. Empty if none is needed.",
    )
    use_steps = forms.BooleanField(
        label="Evaluation steps",
        required=False,
        initial=True,
        help_text="The LLM writes them first (auto chain-of-thought).",
    )
    concurrency = forms.IntegerField(label="Calls in flight", min_value=1, max_value=512, initial=16)

    def draft(self) -> JudgeDraft:
        """The judge that a valid form describes."""
        return JudgeDraft(**self.cleaned_data)

    def take_errors(self, error: ValidationError) -> None:
        """Show errors of the judge's own checks at their fields."""
        for field, messages in error.message_dict.items():
            self.add_error(field if field in self.fields else None, messages)


class RunForm(forms.Form):
    judge = forms.ModelChoiceField(queryset=Judge.objects.none(), empty_label=None)
    criteria = forms.ModelMultipleChoiceField(
        queryset=Criterion.objects.none(),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose one."},
    )
    fresh = forms.BooleanField(
        label="Judge everything again", required=False, help_text="Otherwise only missing scores are filled."
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        criteria = project.criteria.all()
        judges = project.judges.filter(kind=JudgeKind.GEVAL)
        self.fields["judge"].queryset = judges  # type: ignore[attr-defined]
        self.fields["judge"].initial = judges.last()  # most often the one that was just made
        self.fields["criteria"].queryset = criteria  # type: ignore[attr-defined]
        self.fields["criteria"].initial = [criterion.pk for criterion in criteria]
