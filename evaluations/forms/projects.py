"""Forms for creating a project."""

from django import forms

from evaluations.models import Project


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label="Archive", help_text="A zip file of a project, downloaded from this or another site."
    )


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
