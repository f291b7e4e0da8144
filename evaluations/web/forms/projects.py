"""Forms for creating a project."""

from typing import Any

from django import forms

from evaluations.models import Project
from evaluations.projects.deletion import confirm


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label="Archive", help_text="A zip file of a project, downloaded from this or another site."
    )


class FormatsForm(forms.ModelForm):
    """How the project's texts are shown, and their language."""

    class Meta:
        model = Project
        fields = (
            "source_format",
            "output_format",
            "reference_format",
            "code_language",
            "text_language",
        )
        labels = {
            "source_format": "Sources",
            "output_format": "Outputs",
            "reference_format": "References",
            "code_language": "Language of code",
            "text_language": "Language of the texts",
        }


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}


class DeletionForm(forms.Form):
    """The project's name, typed to prevent deletion by mistake."""

    name = forms.CharField(
        max_length=200,
        label="Name of the project",
        help_text="Type it to confirm.",
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project

    def clean_name(self) -> str:
        return confirm(self.project, self.cleaned_data["name"])
