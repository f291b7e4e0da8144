"""Forms for creating and changing campaigns."""

from functools import partial
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.http import QueryDict
from pydantic import ValidationError as InvalidError

from annotations.forms.plans import GOAL_FIELDS, GoalFields
from annotations.models import Annotator, Campaign, CampaignState, NamedItems
from annotations.planning.drafts import Draft, free_name, save_goal
from annotations.planning.known_answers import ids_by_name, known_answers
from annotations.planning.named_items import fields_of_documents
from evaluations.models import Project, Role
from evaluations.models.goals import LACKING
from evaluations.web.field_groups import FieldGroup, field_groups
from evaluations.web.forms.setting_fields import describe_fields
from evaluations.web.revisions import EditForm
from geval.files.answers.gold import GoldError, csv_of_rows, read_gold
from geval.files.fields import COMMENT_LIMIT
from geval.files.project_fields import (
    COLUMNS,
    PLAN,
    CampaignFields,
    ChecksAndPractice,
    ErrorsAndAdjudication,
    ItemsAndTime,
    WhatAnnotatorsSee,
    WhatIsRated,
)

User = get_user_model()
# What a link to the form may fill in.
FILLED_IN = (*GOAL_FIELDS, "criteria", "selection", "sample_size", "overlap")
BASICS = tuple(dict.fromkeys(("name", "kind", "criteria", "annotators", *WhatIsRated.model_fields)))
# Some fields are written in another form than they are stored.
WRITTEN = {"gold": "gold_csv", "span_categories": "categories", "span_severities": "severities"}
HOW_WRITTEN = {
    "gold": "CSV. ", "span_categories": "One per line. ", "span_severities": "Separated by commas. "
}  # fmt: skip
FOLDED = tuple(
    (heading, tuple(WRITTEN.get(name, name) for name in names))
    for heading, names in (
        ("Items and time", ItemsAndTime.model_fields),
        ("Stop when it is enough", GOAL_FIELDS),
        ("Checks and practice", ChecksAndPractice.model_fields),
        ("What annotators see", WhatAnnotatorsSee.model_fields),
        ("Marked errors and adjudication", ErrorsAndAdjudication.model_fields),
    )
)


class CampaignForm(EditForm, GoalFields, forms.ModelForm):
    annotators = forms.ModelMultipleChoiceField(
        queryset=User._default_manager.none(),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Members of the project. People you remove get no new items; their work is kept.",
    )
    gold_csv = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 4, "class": "code"})
    )
    categories = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    severities = forms.CharField(required=False)

    class Meta:
        model = Campaign
        fields = ("name", "criteria", *COLUMNS)
        widgets = {
            "criteria": forms.CheckboxSelectMultiple,
            "deadline": forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
            ),
        }
        help_texts = {
            "criteria": "Comparisons without a criterion ask which output is better overall."
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        declared = CampaignFields.model_fields
        describe_fields(self, {WRITTEN.get(name, name): declared[name] for name in declared})
        for name, how in HOW_WRITTEN.items():
            self.fields[WRITTEN[name]].help_text = f"{how}{declared[name].description}"
        self.fields["criteria"].queryset = project.criteria.without_rubrics()  # type: ignore[attr-defined]
        members = User._default_manager.filter(memberships__project=project).order_by("username")
        self.fields["annotators"].queryset = members  # type: ignore[attr-defined]
        campaign = self.instance
        self.set_up_goal(project, campaign)
        if campaign.pk:
            seated = members.filter(
                annotators__seats__campaign=campaign, annotators__seats__removed_at=None
            )
            self.fields["annotators"].initial = seated
            self.fields["gold_csv"].initial = csv_of_rows(known_answers(campaign))
            self.fields["categories"].initial = "\n".join(campaign.span_categories)
            self.fields["severities"].initial = ", ".join(campaign.span_severities)
        else:
            # Otherwise the empty instance would decide.
            self.initial["criteria"] = list(project.criteria.without_rubrics())
            annotators = members.filter(
                memberships__project=project, memberships__role=Role.ANNOTATOR
            )
            self.fields["annotators"].initial = annotators
            usual = Campaign._meta.get_field("overlap").get_default()
            self.initial["overlap"] = max(1, min(usual, annotators.count()))
        if self.is_planned:
            for name in (*PLAN, "criteria", "gold_csv", *GOAL_FIELDS):
                self.fields[name].disabled = True

    def fill_in(self, query: QueryDict) -> None:
        """Set initial values from a link to the form, such as a plan's: the goal, the criteria,
        which outputs and how many, and the annotators per item. Unusable values are ignored."""
        for name in FILLED_IN:
            given: Any = query.getlist(name) if name == "criteria" else query.get(name)
            if not given:
                continue
            try:
                self.fields[name].clean(given)
            except ValidationError:
                continue
            self.initial[name] = given

    @property
    def is_planned(self) -> bool:
        return bool(self.instance.pk) and self.instance.state != CampaignState.DRAFT

    def groups(self) -> list[FieldGroup]:
        """Return the fields under their headings, without the known answers of an open campaign."""
        hidden = {"gold_csv"} if self.is_planned else set()
        return field_groups(self, BASICS, FOLDED, hidden=hidden)

    def clean_name(self) -> str:
        return free_name(self.instance, self.cleaned_data["name"])

    def clean_categories(self) -> list[str]:
        return _names("span_categories", self.cleaned_data["categories"].splitlines())

    def clean_severities(self) -> list[str]:
        return _names("span_severities", self.cleaned_data["severities"].split(","))

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.is_planned:
            return data
        try:
            self.instance.gold = read_gold(
                data.get("gold_csv") or "",
                data.get("kind") or "",
                list(data.get("criteria") or ()),
                partial(ids_by_name, self.project),
            )
        except GoldError as error:
            self.add_error("gold_csv", str(error))
        return data

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.is_planned:
            return
        criteria = list(self.cleaned_data.get("criteria") or ())
        for field, message in Draft(self.instance, criteria, self.goal).problems():
            if message != LACKING or field not in self.errors:
                self.add_error(field, message)

    def save(self, commit: bool = True) -> Campaign:
        self.instance.span_categories = self.cleaned_data["categories"]
        self.instance.span_severities = self.cleaned_data["severities"]
        saved: Campaign = super().save(commit)
        if not self.is_planned:
            save_goal(saved, self.goal)
        return saved


def _names(setting: str, written: list[str]) -> list[str]:
    """
    Raises:
        ValidationError: there are too many, or one is too long.
    """
    names = [name.strip() for name in written if name.strip()]
    try:
        CampaignFields.model_validate({setting: names})
    except InvalidError as error:
        raise ValidationError(error.errors()[0]["msg"]) from None
    return names


class GuidelinesForm(EditForm, forms.ModelForm):
    class Meta:
        model = Project
        fields = ("guidelines",)
        widgets = {"guidelines": forms.Textarea(attrs={"rows": 16})}
        help_texts = {
            "guidelines": (
                "Markdown. Annotators open the guidelines with the key g. A line [de] alone begins"
                " the text for readers of German, and so on."
            )
        }


class NamedItemsForm(forms.Form):
    """Items of a campaign for one of its annotators; a valid form has them as `row`, unsaved."""

    annotator = forms.ModelChoiceField(Annotator.objects.none(), label="Person")
    field = forms.ChoiceField(label="Documents by their")
    wanted = forms.CharField(
        label="is one of", help_text="One per line.", widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.campaign = campaign
        seated = Annotator.objects.filter(seats__campaign=campaign, seats__removed_at=None)
        self.fields["annotator"].queryset = seated.exclude(user=None)  # type: ignore[attr-defined]
        choices = [(name, name) for name in fields_of_documents(campaign.project)]
        self.fields["field"].choices = choices  # type: ignore[attr-defined]

    @property
    def row(self) -> NamedItems:
        data = self.cleaned_data
        lines = [line.strip() for line in data["wanted"].splitlines()]
        wanted = list(dict.fromkeys(line for line in lines if line))
        return NamedItems(
            campaign=self.campaign, annotator=data["annotator"], field=data["field"], wanted=wanted
        )


class DecisionNoteForm(forms.Form):
    note = forms.CharField(
        required=False, max_length=COMMENT_LIMIT, widget=forms.Textarea(attrs={"rows": 2})
    )
