"""Making a project."""

from django import forms

from evaluations.models import Project


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "slug", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        labels = {"slug": "Short name"}
