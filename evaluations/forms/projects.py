"""Making a project."""

from django import forms

from evaluations.models import Project


class ArchiveForm(forms.Form):
    file = forms.FileField(
        label="Archive", help_text="A zip that another site, or this one, wrote of a project."
    )


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
