"""Forms for creating a project."""

from django import forms

from evaluations.models import Project


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label="Archive", help_text="A zip file of a project, downloaded from this or another site."
    )


class FormatsForm(forms.ModelForm):
    """How the project's texts are shown, and in which language they are."""

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
