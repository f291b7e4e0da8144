"""The form that tries a judge on a few items, with parts of its prompt reworded."""

from typing import Any

from django import forms
from django.forms.utils import flatatt
from django.http import QueryDict
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from evaluations.judging.judges.wordings import editable_parts, wording_texts
from evaluations.judging.runs.trial import (
    MOST_PLAYGROUND_ITEMS,
    offered_outputs,
)
from evaluations.models import Criterion, EvaluationRun, Judge
from evaluations.web.field_groups import FieldGroup
from geval.evaluators.wording import LONGEST_PART
from geval.llm.reflection import PARTS

ITEMS = tuple(f"item_{number}" for number in range(1, MOST_PLAYGROUND_ITEMS + 1))
LABELS = ("Item", "Second item", "Third item")


class LongSelect(forms.Select):
    """A list of many options. Django renders a template for each, which takes a tenth of a second
    for a thousand."""

    def render(
        self,
        name: str,
        value: Any,
        attrs: dict[str, Any] | None = None,
        renderer: Any = None,  # noqa: ARG002
    ) -> SafeString:
        chosen = "" if value is None else str(value)
        options = format_html_join(
            "\n",
            '<option value="{}"{}>{}</option>',
            ((key, " selected" if key == chosen else "", label) for key, label in self.choices),
        )
        attributes = flatatt(self.build_attrs(self.attrs, {**(attrs or {}), "name": name}))
        return format_html("<select{}>\n{}\n</select>", attributes, options)


class PlaygroundForm(forms.Form):
    """A criterion, one to three items, and the parts of the prompt that can be reworded.

    It starts with the wording of the judge's latest trial on the criterion, unless the judge's own
    is requested.
    """

    criterion = forms.ModelChoiceField(Criterion.objects.none(), widget=forms.HiddenInput)

    def __init__(
        self,
        data: QueryDict | None,
        *,
        judge: Judge,
        chosen: Criterion,
        trial: EvaluationRun | None,
        is_own: bool = False,
    ) -> None:
        # The page has other forms with a criterion.
        super().__init__(data, auto_id="try_%s")
        self.fields["criterion"].queryset = (  # type: ignore[attr-defined]
            judge.project.criteria.without_rubrics()
        )
        self.fields["criterion"].initial = chosen
        self.chosen = chosen
        self.parts = editable_parts(judge, chosen)
        offered = [
            (str(pk), f"{document} · {system}")
            for pk, document, system in offered_outputs(judge.project)
        ]
        if trial is not None and chosen not in trial.judged_criteria():
            trial = None
        before = [str(pk) for pk in trial.frozen.outputs] if trial else []
        for name, label, pk in zip(ITEMS, LABELS, [*before, "", "", ""], strict=False):
            is_first = name == ITEMS[0]
            self.fields[name] = forms.ChoiceField(
                label=label,
                choices=offered if is_first else [("", "–"), *offered],
                required=is_first,
                initial=pk,
                widget=LongSelect,
            )
        self._own = wording_texts(judge.settings, chosen)
        shown = self._own
        if trial is not None and not is_own:
            shown = wording_texts(trial.frozen.settings, chosen)
        for part in self.parts:
            self.fields[part] = forms.CharField(
                label=PARTS[part],
                max_length=LONGEST_PART,
                required=False,
                initial=shown.get(part, ""),
                widget=forms.Textarea({"rows": 6}),
                help_text="" if self._own.get(part) else "The model writes them if this is empty.",
            )

    def items(self) -> list[forms.BoundField]:
        return [self[name] for name in ITEMS]

    def editor(self) -> FieldGroup | None:
        """Return the parts of the prompt, expanded if they differ from the judge's own."""
        fields = tuple(self[part] for part in self.parts)
        if not fields:
            return None
        differs = any(
            plain_lines(str(field.value() or "")) != plain_lines(self._own.get(field.name, ""))
            for field in fields
        )
        return FieldGroup("Edit the prompt", fields, is_open=differs)

    @property
    def outputs(self) -> list[int]:
        """The ids of the chosen items of a valid form, without duplicates."""
        chosen = [self.cleaned_data[name] for name in ITEMS]
        return [int(pk) for pk in dict.fromkeys(chosen) if pk]

    @property
    def texts(self) -> dict[str, str]:
        """The parts of the prompt of a valid form."""
        return {part: self.cleaned_data[part] for part in self.parts}


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text for comparing: without spaces at their ends."""
    return [line.rstrip() for line in text.strip().splitlines()]
