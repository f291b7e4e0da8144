"""Forms for creating and changing campaigns."""

from functools import partial
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.http import QueryDict

from annotations.forms.plans import GOAL_FIELDS, GoalFields
from annotations.models import Campaign, CampaignState
from annotations.planning.drafts import Draft, free_name, save_goal
from annotations.planning.known_answers import ids_by_name
from evaluations.models import Project, Role
from evaluations.models.goals import LACKING
from evaluations.web.field_groups import FieldGroup, field_groups
from geval.files.answers.gold import GoldError, read_gold
from geval.files.fields import COMMENT_LIMIT
from geval.pipelines.project_files.fields import PLAN

User = get_user_model()
# What a link to the form may fill in.
FILLED_IN = (*GOAL_FIELDS, "criteria", "selection", "sample_size", "overlap")
BASICS = ("name", "kind", "criteria", "annotators", "selection", "sample_size", "overlap")
FOLDED = (
    (
        "Items and time",
        ("whole_documents", "group_size", "strength", "order", "seed", "lease_minutes", "deadline"),
    ),
    ("Stop when it is enough", GOAL_FIELDS),
    (
        "Checks and practice",
        (
            "check_percent",
            "attention_checks",
            "check_tolerance",
            "practice_items",
            "practice_pass",
            "gold_csv",
        ),
    ),
    (
        "What annotators see",
        (
            "language",
            "show_systems",
            "show_others",
            "show_scores",
            "unseen_percent",
            "show_markdown",
        ),
    ),
    (
        "Marked errors and adjudication",
        ("categories", "severities", "adjudicate_beyond"),
    ),
)


class CampaignForm(GoalFields, forms.ModelForm):
    annotators = forms.ModelMultipleChoiceField(
        queryset=User._default_manager.none(),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="Members of the project. People you remove get no new items; their work is kept.",
    )
    gold_csv = forms.CharField(
        label="Known answers",
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "class": "code"}),
        help_text=(
            "CSV. For ratings: doc_id,system_id,criterion,score. For pairs:"
            " doc_id,system_a,system_b,winner. For groups a line for each output:"
            " doc_id,system_id,place (best, worst or empty), or doc_id,system_id,rank. With"
            " criteria also criterion."
        ),
    )
    categories = forms.CharField(
        label="Error types for marked spans",
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=(
            "One per line. MQM uses Accuracy, Fluency, Terminology, Style, Locale. Leave empty for"
            " no marking. For ratings only."
        ),
    )
    severities = forms.CharField(
        label="Severities",
        required=False,
        help_text="Separated by commas. MQM uses “neutral, minor, major, critical”.",
    )

    class Meta:
        model = Campaign
        fields = (
            "name", "kind", "criteria", "selection", "sample_size", "whole_documents",
            "group_size", "overlap", "order", "seed",
            "lease_minutes", "deadline", "check_percent", "attention_checks", "practice_items",
            "check_tolerance", "practice_pass", "show_systems",
            "show_others", "show_scores", "unseen_percent", "show_markdown", "strength", "language",
            "adjudicate_beyond",
        )  # fmt: skip
        widgets = {
            "criteria": forms.CheckboxSelectMultiple,
            "deadline": forms.DateTimeInput(
                attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
            ),
        }
        labels = {
            "kind": "Task",
            "selection": "Selection of items",
            "sample_size": "Number of items",
            "whole_documents": "Draw whole documents",
            "group_size": "Outputs per group",
            "overlap": "Annotators per item",
            "lease_minutes": "Reassign unfinished items after (minutes)",
            "check_percent": "Share of checks (percent)",
            "attention_checks": "Attention checks",
            "practice_items": "Practice items",
            "check_tolerance": "Tolerance of checks",
            "practice_pass": "Pass mark of practice (percent)",
            "language": "Language of annotators’ pages",
            "show_systems": "Show system names",
            "show_others": "Compare with others",
            "show_scores": "Show LLM scores",
            "unseen_percent": "Leave LLM scores out at random (percent)",
            "show_markdown": "Show Markdown as formatted text",
            "strength": "Graded choices (much better / better / tie)",
            "adjudicate_beyond": "Adjudicate items whose answers differ by more than",
        }
        help_texts = {
            "criteria": "Comparisons without a criterion ask which output is better overall.",
            "selection": (
                "Samples describe all outputs: the report weights each by its chance of being"
                " drawn. “Where the estimate needs it” takes more where judges were wrong so far,"
                " and skips outputs that are already rated. “Only where judges disagree most” is"
                " not a sample and describes only the rated outputs."
            ),
            "sample_size": "For a sample. Leave empty for all items.",
            "whole_documents": (
                "For ratings of a sample. All outputs of a drawn document are rated, as"
                " correlations within documents need; the number of items is then approximate."
            ),
            "group_size": "For best-worst and ranking tasks.",
            "seed": "The same seed gives the same plan.",
            "deadline": "In the site's time zone.",
            "check_percent": (
                "The share of an annotator's items that have known answers or are attention checks."
            ),
            "attention_checks": "Items that state which answer to give.",
            "practice_items": (
                "Taken from the known answers. Everybody starts with them and sees the expected"
                " answers."
            ),
            "check_tolerance": (
                "How far a score or a rank may be from the known answer. The first answer to a"
                " check counts."
            ),
            "practice_pass": (
                "Anyone who gets fewer practice items right gets no other items; an open link"
                " screens them out. 0: no pass mark."
            ),
            "language": (
                "Buttons, keys and messages; your own texts stay as you write them. Annotators can"
                " choose another language. Leave empty for that of their browser."
            ),
            "show_systems": (
                "If off, annotators do not see which system wrote a text, nor the names of judges."
            ),
            "show_others": (
                "Annotators see other people's answers once they have submitted their own."
            ),
            "show_scores": (
                "Ratings made while scores are visible are marked, and the report says so."
            ),
            "unseen_percent": (
                "For ratings, where LLM scores are shown: with this probability an annotator does"
                " not see them beside an item, and the campaign's page says what seeing them"
                " changed."
            ),
            "show_markdown": (
                "Outputs are shown with headings, lists and tables; annotators can switch to the"
                " text as it was written. If off, they are shown as the project shows them. Judges"
                " always get the text as it was written."
            ),
            "strength": "For pairs: five choices instead of three.",
            "adjudicate_beyond": (
                "Leave empty for no adjudication. For pairs, A and B are a distance of 2 apart."
            ),
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        self.fields["criteria"].queryset = project.criteria.all()  # type: ignore[attr-defined]
        self.fields["unseen_percent"].required = False
        members = User._default_manager.filter(memberships__project=project).order_by("username")
        self.fields["annotators"].queryset = members  # type: ignore[attr-defined]
        campaign = self.instance
        self.set_up_goal(project, campaign)
        if campaign.pk:
            seated = members.filter(
                annotators__seats__campaign=campaign, annotators__seats__removed_at=None
            )
            self.fields["annotators"].initial = seated
            self.fields["categories"].initial = "\n".join(campaign.span_categories)
            self.fields["severities"].initial = ", ".join(campaign.span_severities)
        else:
            self.initial["criteria"] = list(
                project.criteria.all()
            )  # otherwise the empty instance would decide
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

    def clean_unseen_percent(self) -> int:
        """Turn an empty value into 0."""
        return self.cleaned_data["unseen_percent"] or 0

    def clean_categories(self) -> list[str]:
        return _names(self.cleaned_data["categories"].splitlines())

    def clean_severities(self) -> list[str]:
        return _names(self.cleaned_data["severities"].split(","))

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


def _names(written: list[str]) -> list[str]:
    return [name.strip()[:100] for name in written if name.strip()]


class GuidelinesForm(forms.ModelForm):
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


class DecisionNoteForm(forms.Form):
    note = forms.CharField(
        required=False, max_length=COMMENT_LIMIT, widget=forms.Textarea(attrs={"rows": 2})
    )
