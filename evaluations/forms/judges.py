"""Endpoints and judges. Keys are write-only: a form takes them and never shows one."""

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from evaluations.evaluators.asking import AskingEvaluator
from evaluations.judging.judges import EndpointDraft
from evaluations.models import Endpoint, JudgeKind, Project, ScoringMode

NO_LIMIT = "For all workers together. Leave empty for no limit."


class TakesErrors(forms.Form):
    def take_errors(self, error: ValidationError) -> None:
        """Show errors of the record's own checks at their fields."""
        for field, messages in error.message_dict.items():
            self.add_error(self.field_of(field), messages)

    def field_of(self, name: str) -> str | None:
        """The form's field for a field of the record; None if it has none."""
        return name if name in self.fields else None


class EndpointForm(TakesErrors):
    name = forms.CharField(max_length=100, required=False, help_text="Leave empty to use the host name.")
    base_url = forms.CharField(
        label="Base URL",
        max_length=500,
        help_text="The address of an OpenAI-compatible API; it ends in /v1 on most servers.",
    )
    key = forms.CharField(
        label="Key",
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown again. Leave empty to keep the stored key, or if no key is needed.",
    )
    forget_key = forms.BooleanField(label="Delete the stored key", required=False)
    key_env = forms.CharField(
        label="Key variable",
        max_length=100,
        required=False,
    )
    confirms_key_env = forms.BooleanField(
        label="Send the key in this variable to the new address",
        required=False,
        help_text="Tick this if you change the address and trust the new one with the key.",
    )
    requests_per_minute = forms.IntegerField(min_value=1, required=False, help_text=NO_LIMIT)
    tokens_per_minute = forms.IntegerField(min_value=1, required=False, help_text=NO_LIMIT)
    api_version = forms.CharField(
        label="Azure API version",
        max_length=40,
        required=False,
        help_text="Only for Azure addresses that name a deployment (not for those that end in /openai/v1).",
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
        initial = {name: getattr(endpoint, name) for name in cls.base_fields if hasattr(endpoint, name)}
        return cls(initial=initial, endpoint=endpoint)

    def draft(self) -> EndpointDraft:
        """The endpoint that a valid form describes."""
        data = {"confirms_key_env": True, **self.cleaned_data}
        forget, key = data.pop("forget_key", False), data.pop("key")
        return EndpointDraft(**data, key="" if forget and not key else key or None)


def _about_key_names() -> str:
    names = sorted(settings.ENDPOINT_KEYS)
    if not names:
        return "This site reads no keys from variables; enter the key above. (GEVAL_ENDPOINT_KEYS allows variables.)"
    said = "Instead of a key: the name of the worker's environment variable that contains it. Allowed here: "
    return f"{said}{', '.join(names)} (GEVAL_ENDPOINT_KEYS)."


class ProbeForm(forms.Form):
    model = forms.CharField(max_length=200, help_text="A probe makes about six calls of a few tokens each.")


class AskingForm(forms.Form):
    """The fields of every judge that asks an LLM; see forms/evaluators.py for the whole form."""

    endpoint = forms.ModelChoiceField(queryset=Endpoint.objects.none(), empty_label=None)
    model = forms.CharField(max_length=200)
    mode = forms.ChoiceField(
        label="Scoring",
        choices=[("", "The best mode the endpoint supports"), *ScoringMode.choices],
        required=False,
        help_text="The endpoint is probed first; a mode it does not support is refused.",
    )
    samples = forms.IntegerField(
        label="Replies per item", min_value=1, max_value=100, initial=20, help_text="Only for the scoring mode Samples."
    )
    temperature = forms.FloatField(
        min_value=0, max_value=2, required=False, help_text="Leave empty for 1 with samples and 0 otherwise."
    )
    max_tokens = forms.IntegerField(
        label="Maximum reply length (tokens)",
        min_value=1,
        max_value=32_000,
        initial=32,
        help_text="A rating needs a few tokens; a model that reasons first needs hundreds.",
    )
    use_steps = forms.BooleanField(
        label="Use evaluation steps",
        required=False,
        initial=True,
        help_text="The LLM writes the steps first (auto chain-of-thought).",
    )
    concurrency = forms.IntegerField(label="Parallel calls per worker", min_value=1, max_value=512, initial=16)
    timeout_seconds = forms.FloatField(label="Time limit per call (seconds)", min_value=1, max_value=3600, initial=60)
    price_in = forms.DecimalField(
        label="Price per million tokens in", min_value=0, max_digits=12, decimal_places=4, required=False,
        help_text="For estimates and budgets, in any currency.",
    )  # fmt: skip
    price_out = forms.DecimalField(
        label="Price per million tokens out", min_value=0, max_digits=12, decimal_places=4, required=False
    )

    @classmethod
    def fields_for(cls, evaluator: type[AskingEvaluator], project: Project) -> dict[str, forms.Field]:
        """Those that mean something to an evaluator, with the project's endpoints to choose from."""
        fields = cls().fields
        endpoints = project.endpoints.current()
        fields["endpoint"].queryset = endpoints  # type: ignore[attr-defined]
        fields["endpoint"].initial = endpoints.last()
        left_out = set() if evaluator.has_mode else {"mode", "samples", "temperature", "max_tokens"}
        if evaluator.kind != JudgeKind.GEVAL:
            left_out.add("use_steps")
        return {name: field for name, field in fields.items() if name not in left_out}
