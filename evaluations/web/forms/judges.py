"""Forms for endpoints and judges. Keys are write-only: forms accept them and never show them."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import QueryDict

from evaluations.judging.judges.judges import EndpointDraft
from evaluations.models import Endpoint, Project, ScoringMode
from evaluations.web.field_groups import SHOWN_FOR, FieldGroup, field_groups, show_for_choices
from evaluations.web.forms.setting_fields import field_for
from evaluations.web.revisions import EditForm
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.files.project_fields import EndpointFields
from geval.llm.judge_settings import CHATTING, JudgeSettings
from geval.llm.providers import BY_NAME, PROVIDERS, provider_at
from geval.llm.request_headers import read_headers
from geval_site.key_names import ANY

DECLARED = ("requests_per_minute", "tokens_per_minute", "parallel_calls", "api_version")
FOLDED = (
    ("Key in a variable", ("key_env", "confirms_key_env")),
    ("Headers", ("headers", "forget_headers")),
    ("Limits", ("requests_per_minute", "tokens_per_minute", "parallel_calls")),
    ("Name and Azure version", ("name", "api_version")),
)


class TakesErrors(forms.Form):
    def take_errors(self, error: ValidationError) -> None:
        """Show the model's validation errors at their fields."""
        for field, messages in error.message_dict.items():
            self.add_error(self.field_of(field), messages)

    def field_of(self, name: str) -> str | None:
        """Return the form's field for a field of the model, or None."""
        return name if name in self.fields else None


class ProviderSelect(forms.Select):
    """A select whose options carry the values that they fill in (static/js/providers.js)."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **kwargs)
        if provider := BY_NAME.get(str(value)):
            option["attrs"] |= {
                "data-base-url": provider.base_url,
                "data-key-env": provider.key_env,
                "data-hint": provider.hint,
            }
        return option


class AddressForm(TakesErrors):
    """The address of a model's server, and its key."""

    provider = forms.ChoiceField(
        choices=[("", "Choose a provider"), *((each.name, each.title) for each in PROVIDERS)],
        required=False,
        widget=ProviderSelect,
        help_text="Any OpenAI-compatible API works.",
    )
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        required=False,
        help_text=(
            "For Azure, https://NAME.openai.azure.com/openai/v1; for your own server, its"
            " address, such as http://localhost:8000/v1. With /responses at its end, models are"
            " asked by the Responses API."
        ),
    )
    key = forms.CharField(
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown again. Leave empty if none is needed.",
    )
    key_env = forms.CharField(label="Key variable", max_length=100, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["key_env"].help_text = _about_key_names()
        asking = ["", *(each.name for each in PROVIDERS if each.asks_for_address)]
        show_for_choices(self, "provider", {name: ["base_url"] for name in asking})

    def clean(self) -> dict[str, Any]:
        """Set the provider's usual address if none is given."""
        data = super().clean() or {}
        provider = BY_NAME.get(data.get("provider", ""))
        if "base_url" in self.fields and not data.get("base_url") and "base_url" not in self.errors:
            data["base_url"] = provider.base_url if provider else ""
            if not data["base_url"]:
                missing = "Choose a provider, or enter the base URL."
                self.add_error("base_url", provider.hint if provider else missing)
        return data

    def add_error(self, field: str | None, error: Any) -> None:
        """Show fields with errors, whatever the provider."""
        super().add_error(field, error)
        if field == "base_url":
            for name in SHOWN_FOR:
                self.fields[field].widget.attrs.pop(name, None)


class SecretLines(forms.Textarea):
    """Lines that are typed and never shown again."""

    def format_value(self, _value: Any) -> str | None:
        return None


class EndpointForm(EditForm, AddressForm):
    name = forms.CharField(
        max_length=100, required=False, help_text="Leave empty to use the host name."
    )
    forget_key = forms.BooleanField(label="Delete the stored key", required=False)
    headers = forms.CharField(
        required=False,
        max_length=20_000,
        widget=SecretLines({"rows": 3, "autocomplete": "off"}),
        help_text=(
            "For gateways that ask for more than a key: one per line, such as x-team: research."
            " Stored encrypted and never shown again."
        ),
    )
    forget_headers = forms.BooleanField(label="Delete the stored headers", required=False)
    confirms_key_env = forms.BooleanField(
        label="Send the key in this variable to the new address",
        required=False,
        help_text="Tick this if you change the address and trust the new one with the key.",
    )
    requests_per_minute, tokens_per_minute, parallel_calls, api_version = (
        field_for(name, EndpointFields.model_fields[name]) for name in DECLARED
    )

    def __init__(self, *args: Any, endpoint: Endpoint | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if endpoint is None or not endpoint.key_env:
            del self.fields["confirms_key_env"]
        if endpoint is None or not endpoint.sealed_key:
            del self.fields["forget_key"]
        else:
            self.fields["key"].help_text = "Leave empty to keep the stored key."
        if endpoint is None or not endpoint.sealed_headers:
            del self.fields["forget_headers"]
        else:
            self.fields["headers"].help_text = "Leave empty to keep the stored headers."

    @classmethod
    def of(cls, endpoint: Endpoint, data: QueryDict | None = None) -> "EndpointForm":
        """Return the form with an endpoint's values, except its key; or with what was sent."""
        initial = {
            name: getattr(endpoint, name)
            for name in cls.base_fields
            if name != "headers" and hasattr(endpoint, name)
        }
        initial["provider"] = provider_at(endpoint.base_url).name
        form = cls(data, initial=initial, endpoint=endpoint)
        form.edits(endpoint)
        # its default, so that only other names are shown
        form.fields["name"].initial = endpoint.host
        return form

    def groups(self) -> list[FieldGroup]:
        """Return the fields under their headings."""
        return field_groups(self, ("provider", "base_url", "key", "forget_key"), FOLDED)

    def clean_headers(self) -> dict[str, str] | None:
        try:
            return read_headers(self.cleaned_data["headers"]) or None
        except ValueError as error:
            raise ValidationError(str(error)) from None

    def draft(self) -> EndpointDraft:
        """Return the endpoint that a valid form describes."""
        data = {"confirms_key_env": True, **self.cleaned_data}
        del data["provider"]
        forget, key = data.pop("forget_key", False), data.pop("key")
        if data.pop("forget_headers", False) and not data["headers"]:
            data["headers"] = {}
        return EndpointDraft(**data, key="" if forget and not key else key or None)


def _about_key_names() -> str:
    if settings.ENDPOINT_KEYS == ANY:
        return "Instead of a key: the name of the worker's environment variable that contains it."
    names = sorted(settings.ENDPOINT_KEYS)
    if not names:
        return (
            "This site reads no keys from variables; enter the key above. (GEVAL_ENDPOINT_KEYS"
            " allows variables.)"
        )
    text = (
        "Instead of a key: the name of the worker's environment variable that contains it. Allowed"
        " here: "
    )
    return f"{text}{', '.join(names)} (GEVAL_ENDPOINT_KEYS)."


class ModelField(forms.CharField):
    """The name of a model; the browser offers `suggestions` during typing."""

    suggestions: list[str]

    def __init__(self, suggestions: Iterable[str] = (), **options: Any) -> None:
        super().__init__(max_length=200, **options)
        self.suggest(suggestions)

    def suggest(self, names: Iterable[str]) -> None:
        """Replace the suggestions."""
        self.suggestions = list(names)
        if self.suggestions:
            self.widget.attrs["list"] = "known-models"
            self.help_text = (
                f"Choose from the list ({len(self.suggestions)}), or type another name."
            )


class ProbeForm(forms.Form):
    model = ModelField()

    def __init__(self, *args: Any, suggestions: Iterable[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["model"].suggest(suggestions)  # type: ignore[attr-defined]


def llm_judge_fields(
    evaluator: type[LlmEvaluator], project: Project, *, is_new: bool
) -> dict[str, forms.Field]:
    """Return the fields of a judge that asks an LLM that apply to its evaluator, with the project's
    endpoints to choose from. For a new judge without endpoints, they describe one."""
    endpoints = project.endpoints.current()
    left_out = set() if evaluator.chats else CHATTING
    if not evaluator.writes_steps:
        left_out = left_out | {"use_steps"}
    declared = {
        name: field_for(name, info)
        for name, info in JudgeSettings.model_fields.items()
        if name not in left_out
    }
    if "mode" in declared:
        declared["mode"] = forms.ChoiceField(
            label=declared["mode"].label,
            choices=[("", "The best mode the endpoint supports"), *ScoringMode.choices],
            required=False,
            help_text=declared["mode"].help_text,
        )
    newest = endpoints.last()
    if newest is None and is_new:
        model = ModelField(
            required=False, help_text="Leave empty to choose from the endpoint's list."
        )
        return {**AddressForm().fields, "model": model, **declared}
    chosen = forms.ModelChoiceField(queryset=endpoints, empty_label=None, initial=newest)
    names = {
        name for each in endpoints.prefetch_related("probes") for name in each.suggested_models
    }
    return {"endpoint": chosen, "model": ModelField(sorted(names)), **declared}
