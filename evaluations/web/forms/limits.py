"""The form with a project's own limits."""

from django import forms

from evaluations.models import ProjectLimits


class LimitsForm(forms.ModelForm):
    """A project's own limits. Empty fields use the site's limits; 0 means no limit."""

    class Meta:
        model = ProjectLimits
        fields = ("storage_mb", "runs", "money_per_month")
