"""Forms for endpoints and judges. Keys are write-only: forms accept them and never show them."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from evaluations.evaluators.asking import AskingEvaluator
from evaluations.judges.judges import EndpointDraft
from evaluations.models import Endpoint, JudgeKind, Project, ScoringMode

NO_LIMIT = "Over all workers. Empty: no limit."


class TakesErrors(forms.Form):
    def take_errors(self, error: ValidationError) -> None:
        """Show the model's validation errors at their fields."""
        for field, messages in error.message_dict.items():
            self.add_error(self.field_of(field), messages)

    def field_of(self, name: str) -> str | None:
        """The form's field for a field of the model; None if there is none."""
        return name if name in self.fields else None


class EndpointForm(TakesErrors):
    name = forms.CharField(max_length=100, required=False, help_text="If empty, the host is used.")
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        help_text="Of an OpenAI-compatible API; ends in /v1 on most servers.",
    )
    key = forms.CharField(
        label="Key",
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=(
            "Stored encrypted, never shown again. Empty: keep the stored one, or none is needed."
        ),
    )
    forget_key = forms.BooleanField(label="Delete the stored key", required=False)
    key_env = forms.CharField(
        label="Key variable",
        max_length=100,
        required=False,
    )
    confirms_key_env = forms.BooleanField(
        label="Send the key of this variable to the new address",
        required=False,
        help_text="Tick this if you change the address and the key may be sent there.",
    )
    requests_per_minute = forms.IntegerField(
        min_value=1, required=False, help_text="Over all workers. Empty: no limit."
    )
    tokens_per_minute = forms.IntegerField(
        min_value=1, required=False, help_text="Over all workers. Empty: no limit."
    )
    api_version = forms.CharField(
        label="Azure API version",
        max_length=40,
        required=False,
        help_text=("Only for Azure deployment addresses (not for those that end in /openai/v1)."),
    )

    def __init__(self, *args: Any, endpoint: Endpoint | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["key_env"].help_text = _about_key_names()
        if endpoint is None or not endpoint.key_env:
            del self.fields["confirms_key_env"]
        if endpoint is None or not endpoint.sealed_key:
            del self.fields["forget_key"]

    @classmethod
    def of(cls, endpoint: Endpoint) -> "EndpointForm":
        """The form with an endpoint's values, except its key."""
        initial = {
            name: getattr(endpoint, name) for name in cls.base_fields if hasattr(endpoint, name)
        }
        return cls(initial=initial, endpoint=endpoint)

    def draft(self) -> EndpointDraft:
        """The endpoint that a valid form describes."""
        data = {"confirms_key_env": True, **self.cleaned_data}
        forget, key = data.pop("forget_key", False), data.pop("key")
        return EndpointDraft(**data, key="" if forget and not key else key or None)


def _about_key_names() -> str:
    names = sorted(settings.ENDPOINT_KEYS)
    if not names:
        return (
            "This site reads no keys from variables; enter the key above. (GEVAL_ENDPOINT_KEYS "
            "lists allowed names.)"
        )
    said = "Instead of a key: the worker's environment variable that contains it. Allowed here: "
    return f"{said}{', '.join(names)} (GEVAL_ENDPOINT_KEYS)."


class ProbeForm(forms.Form):
    model = forms.CharField(
        max_length=200, help_text="A probe makes about six calls of a few tokens."
    )


class AskingForm(forms.Form):
    """The fields of every judge that asks an LLM; see forms/evaluators.py for the whole form."""

    endpoint = forms.ModelChoiceField(queryset=Endpoint.objects.none(), empty_label=None)
    model = forms.CharField(max_length=200)
    mode = forms.ChoiceField(
        label="Scoring",
        choices=[("", "The best one that the endpoint supports"), *ScoringMode.choices],
        required=False,
        help_text="The endpoint is probed first; a mode that it does not support is refused.",
    )
    samples = forms.IntegerField(
        label="Replies per item",
        min_value=1,
        max_value=100,
        initial=20,
        help_text="For the mode Samples.",
    )
    temperature = forms.FloatField(
        min_value=0,
        max_value=2,
        required=False,
        help_text="If empty: 1 for samples, 0 otherwise.",
    )
    max_tokens = forms.IntegerField(
        label="Longest reply in tokens",
        min_value=1,
        max_value=32_000,
        initial=32,
        help_text="A rating takes a few; a model that reasons first takes hundreds.",
    )
    use_steps = forms.BooleanField(
        label="Evaluation steps",
        required=False,
        initial=True,
        help_text="The LLM first writes them itself (auto chain-of-thought).",
    )
    concurrency = forms.IntegerField(
        label="Concurrent calls", min_value=1, max_value=512, initial=16, help_text="Per worker."
    )
    timeout_seconds = forms.FloatField(
        label="Time limit of a call",
        min_value=1,
        max_value=3600,
        initial=60,
        help_text="In seconds, for the whole call.",
    )
    price_in = forms.DecimalField(
        label="Price per million input tokens", min_value=0, max_digits=12, decimal_places=4,
        required=False,
        help_text="For estimates and budgets, in any currency.",
    )  # fmt: skip
    price_out = forms.DecimalField(
        label="Price per million output tokens",
        min_value=0,
        max_digits=12,
        decimal_places=4,
        required=False,
    )

    @classmethod
    def fields_for(
        cls, evaluator: type[AskingEvaluator], project: Project
    ) -> dict[str, forms.Field]:
        """Keep the fields that an evaluator uses, and offer the project's endpoints."""
        fields = cls().fields
        endpoints = project.endpoints.current()
        fields["endpoint"].queryset = endpoints  # type: ignore[attr-defined]
        fields["endpoint"].initial = endpoints.last()
        left_out = set() if evaluator.has_mode else {"mode", "samples", "temperature", "max_tokens"}
        if evaluator.kind != JudgeKind.GEVAL:
            left_out.add("use_steps")
        return {name: field for name, field in fields.items() if name not in left_out}
