"""Forms for browsing documents."""

from typing import Any

from django import forms

from evaluations.models import Project

SORTS = {
    "": "as uploaded",
    "name": "name",
    "low": "lowest human mean",
    "high": "highest human mean",
    "disagreement": "judges furthest from people",
}


class DocumentFilterForm(forms.Form):
    """Which documents to list, and in which order."""

    q = forms.CharField(label="Words in the source or outputs", required=False, max_length=200)
    rated = forms.ChoiceField(
        label="Ratings",
        required=False,
        choices=(("", "any"), ("yes", "rated by people"), ("no", "not rated yet")),
    )
    name = forms.ChoiceField(label="Metadata", required=False)
    value = forms.CharField(label="is", required=False, max_length=1000)
    sort = forms.ChoiceField(label="Sort by", required=False)

    def __init__(self, project: Project, names: list[str], data: Any) -> None:
        super().__init__(data)
        judges = list(project.judges.order_by("pk"))
        self.fields["sort"].choices = [  # type: ignore[attr-defined]
            *SORTS.items(),
            *((f"high-{judge.pk}", f"highest score of {judge.label}") for judge in judges),
            *((f"low-{judge.pk}", f"lowest score of {judge.label}") for judge in judges),
        ]
        wanted = (data.get("name") or "").replace("\0", "")
        choices = names if not wanted or wanted in names else [*names, wanted]
        self.fields["name"].choices = [("", "any"), *((name, name) for name in choices)]  # type: ignore[attr-defined]
        self.judges = {judge.pk: judge.label for judge in judges}
        if not names:
            del self.fields["name"], self.fields["value"]

    def filters(self) -> dict[str, str]:
        """Return the valid filters; invalid ones are ignored."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value}
