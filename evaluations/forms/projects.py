"""Making a project."""

from django import forms

from evaluations.models import Project


class ArchiveForm(forms.Form):
    file = forms.FileField(label="Archive", help_text="A zip that another site, or this one, wrote of a project.")
    slug = forms.SlugField(
        label="Short name", required=False, help_text="Left empty, the archive's own. It must be free here."
    )


class ProjectForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ("name", "slug", "description")
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}
        labels = {"slug": "Short name"}
