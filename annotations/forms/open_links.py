"""Forms of open links: the owner's settings and the participants' answers."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy

from annotations.models import Campaign, OpenLink
from annotations.open_links.arrival import LONGEST_ID
from annotations.open_links.links import COLUMNS, FIELD_CLASSES, LINES, change_settings, lines_of
from evaluations.people.languages import own_name
from evaluations.web.field_groups import FieldGroup, field_groups
from evaluations.web.revisions import EditForm
from geval.texts.in_languages import name_in
from geval.texts.short_questions import CHOICE, NUMBER, ShortQuestion, question_of, shown_number

# The page's names of settings with lines.
AS_LINES = {"before": "before_lines", "after": "after_lines", "banned": "banned_ids"}
BASICS = (
    "address", "title", "consent", "people", "items_each", "minutes", "skip_percent",
    "before_lines", "after_lines", "is_open",
)  # fmt: skip
FOLDED = (
    (
        "Codes and ways back",
        (
            "done_code", "done_url", "incomplete_code", "incomplete_url", "screened_code",
            "screened_url", "returned_code", "returned_url",
        ),
    ),
    ("Payment", ("amount", "pays_by_item", "amount_screened", "bonus", "bonus_percent")),
    ("Bans and addresses", ("banned_ids", "per_address")),
)  # fmt: skip
_LINES = forms.Textarea(attrs={"rows": 3, "class": "code"})
_QUESTIONS_HELP = (
    "One per line: the question, then | and “text”, “number” or the choices, separated by commas."
    " In several languages: Are you a teacher? [de] Lehren Sie? | yes [de] ja, no [de] nein."
)


class OpenLinkForm(EditForm, forms.ModelForm):
    before_lines = LINES["before"](
        label="Questions before",
        widget=_LINES,
        help_text=(
            f"{_QUESTIONS_HELP} “yes = 50, no = 0” wants 50 people who answer yes and none who"
            " answers no."
        ),
    )
    after_lines = LINES["after"](label="Questions after", widget=_LINES, help_text=_QUESTIONS_HELP)
    banned_ids = LINES["banned"](
        label="Banned ids",
        widget=_LINES,
        help_text="One per line. People who are working give back their items at once.",
    )

    class Meta:
        model = OpenLink
        fields = COLUMNS
        widgets = {"consent": forms.Textarea(attrs={"rows": 8})}
        field_classes = FIELD_CLASSES
        labels = {
            "address": "Name in the address",
            "title": "Title that participants see",
            "consent": "Consent",
            "is_open": "Let new people begin",
            "people": "People in all",
            "items_each": "Items per person",
            "minutes": "Time limit (minutes)",
            "skip_percent": "Items that a person may skip (percent)",
            "per_address": "Open places per network address",
            "amount": "Amount for people who are done",
            "pays_by_item": "Pay this amount per answered item",
            "amount_screened": "Amount for people who are screened out",
            "bonus": "Bonus",
            "bonus_percent": "Checks to pass for the bonus (percent)",
            "done_code": "Code: done",
            "incomplete_code": "Code: incomplete",
            "screened_code": "Code: screened out",
            "returned_code": "Code: returned or out of time",
            "done_url": "Way back: done",
            "incomplete_url": "Way back: incomplete",
            "screened_url": "Way back: screened out",
            "returned_url": "Way back: returned or out of time",
        }
        help_texts = {
            "address": "Letters, digits, - and _; the link ends with it.",
            "consent": (
                "Markdown. Say who asks, what for, what is stored and for how long, and whom to"
                " ask. Nothing is stored of people who do not agree. A line [de] alone begins the"
                " text for readers of German, and so on."
            ),
            "is_open": "If off, people who have begun can continue.",
            "people": "Those who are working or done; each one who leaves makes room for another.",
            "items_each": "Without practice and checks.",
            "minutes": "After it, unfinished items go to others.",
            "skip_percent": (
                "People who skip more end as incomplete. One item may always be skipped, except"
                " with 0."
            ),
            "per_address": (
                "For people without a panel’s id, at the same time. Allow more if a class shares a"
                " network."
            ),
            "pays_by_item": "Also to people who did not answer all their items.",
            "incomplete_code": (
                "For people who skip too many items, or answer most faster than anybody reads."
            ),
            "bonus": "For people who are done and passed enough checks.",
            "done_url": (
                "https only. Behind the ? you can write {id}, {study} and {session}; they become"
                " what the panel sent."
            ),
        }

    def __init__(self, *args: Any, campaign: Campaign, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        link = self.instance
        if link.pk:
            self.initial["before_lines"] = lines_of(link.before)
            self.initial["after_lines"] = lines_of(link.after)
            self.initial["banned_ids"] = "\n".join(link.banned)
        else:
            link.campaign = campaign
            self.initial["title"] = campaign.name

    def groups(self) -> list[FieldGroup]:
        return field_groups(self, BASICS, FOLDED)

    def _clean_fields(self) -> None:
        """Validate as the API does."""
        values = {name: self[AS_LINES.get(name, name)].data for name in (*COLUMNS, *LINES)}
        try:
            change_settings(self.instance, values)
        except ValidationError as error:
            for name, texts in error.message_dict.items():
                self.add_error(AS_LINES.get(name, name), texts)


class OwnCodeForm(forms.Form):
    code = forms.CharField(
        label=gettext_lazy("Your code"),
        max_length=LONGEST_ID,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )


class ShortQuestionsForm(forms.Form):
    """The short questions of a link; `answers` are by question name."""

    def __init__(self, stored: list[dict[str, Any]], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.questions = [question_of(question) for question in stored]
        for number, question in enumerate(self.questions):
            self.fields[f"q{number}"] = _field(question)

    def answers(self) -> dict[str, Any]:
        answers = {}
        for number, question in enumerate(self.questions):
            value = self.cleaned_data[f"q{number}"]
            answers[question.name] = shown_number(value) if question.kind == NUMBER else value
        return answers


def _field(question: ShortQuestion) -> forms.Field:
    label = own_name(question.text)
    if question.kind == CHOICE:
        return forms.ChoiceField(
            label=label,
            choices=[(name_in(option), own_name(option)) for option in question.options],
            widget=forms.RadioSelect,
        )
    if question.kind == NUMBER:
        return forms.FloatField(label=label, min_value=-1e12, max_value=1e12)
    return forms.CharField(
        label=label,
        required=False,
        max_length=5000,
        widget=forms.Textarea(attrs={"rows": 2}),
    )
