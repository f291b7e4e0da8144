"""The form with a project's own limits."""

from django import forms

from evaluations.models import ProjectLimits


class LimitsForm(forms.ModelForm):
    """Empty fields take the site's limits; 0 is none."""

    class Meta:
        model = ProjectLimits
        fields = ("storage_mb", "runs", "money_per_month")
