"""Judges with their settings, and OpenAI-compatible endpoints with the findings of probes."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import MD5, Cast
from django.urls import reverse

from evaluations.models.corpus import FAMILY
from evaluations.models.errands import Errand
from evaluations.models.project import Project
from evaluations.models.sealing import KeyNameError, seal, unseal
from geval.evaluators.registry import evaluators, find_evaluator
from geval.llm.judge_settings import declared, range_of
from geval.llm.request_options import options_text, read_options
from geval.llm.request_settings import Mode, RequestSettings
from geval.texts.stand_in import MODEL as STAND_IN
from geval_site.key_names import why_not_allowed

if TYPE_CHECKING:
    from geval.evaluators.base import Evaluator


def validate_finite(value: float) -> None:
    """Reject NaN, which is neither below nor above any limit, so the other validators accept it."""
    if not math.isfinite(value):
        raise ValidationError("Enter a number.")


def validate_request_options(value: Any) -> None:
    try:
        read_options(value)
    except ValueError as error:
        message = str(error)
        raise ValidationError(f"{message[:1].upper()}{message[1:]}.") from None


def _declared(name: str) -> dict[str, Any]:
    """Return the field options of a declared setting; without a default it may be empty.

    Its words stay out, so that a better title is no migration; its limits are a constraint of the
    database too, which only a migration can move.
    """
    info = declared(name)
    lowest, highest = range_of(name)
    number = not isinstance(info.default, bool)
    options: dict[str, Any] = {
        "validators": [
            *([validate_finite] if number else []),
            *([] if lowest is None else [MinValueValidator(lowest)]),
            *([] if highest is None else [MaxValueValidator(highest)]),
        ],
    }
    if info.default is None:
        return options | {"null": True, "blank": True}
    return options | {"default": info.default}


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    def current(self) -> EndpointQuerySet:
        return self.filter(retired_at=None)


class Endpoint(models.Model):
    """An OpenAI-compatible API. Its key is encrypted in the database, or in a variable of the
    worker; headers that gateways ask for are encrypted, too."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=100)
    # Not a URLField, which rejects host names without a dot, as servers in containers have.
    base_url = models.CharField(
        "base URL", max_length=500, help_text="Ends in /v1 on most servers."
    )
    api_version = models.CharField(
        "Azure API version",
        max_length=40,
        blank=True,
        help_text="Only for Azure deployment addresses.",
    )
    key_env = models.CharField(
        "key variable",
        max_length=100,
        blank=True,
        help_text=(
            "The worker's environment variable that contains the key. Empty if none is needed."
        ),
    )
    sealed_key = models.TextField(blank=True, editable=False)
    sealed_headers = models.TextField(blank=True, default="", db_default="", editable=False)
    requests_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Over all workers. Empty: no limit.",
    )
    tokens_per_minute = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Over all workers. Empty: no limit.",
    )
    parallel_calls = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=(
            "At most so many calls are open at once, over all workers, and all projects with the"
            " same address and key. Empty: no limit."
        ),
    )
    account = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="The digest of its address and key as a worker last read them; runs/accounts.py.",
    )
    listed_models = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="The models it listed when it was last probed; suggestions only.",
    )
    retired_at = models.DateTimeField(null=True, blank=True, editable=False)

    objects = EndpointQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="endpoint_once_per_project"),
        )

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("evaluations:endpoint_detail", args=[self.project.slug, self.pk])

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc

    @property
    def api_key(self) -> str:
        """The key, or an empty text if the server needs none.

        Raises:
            SealError: the stored key was encrypted under another secret key of the site.
            KeyNameError: the operator has not allowed keys from its variable.
        """
        if self.sealed_key:
            return unseal(self.sealed_key)
        # Check again, because old rows, archives or the admin pages may have any name.
        why_not = why_not_allowed(self.key_env, settings.ENDPOINT_KEYS)
        if why_not:
            raise KeyNameError(why_not)
        return os.environ.get(self.key_env, "") if self.key_env else ""

    @property
    def headers(self) -> dict[str, str]:
        """The headers of its calls.

        Raises:
            SealError: they were encrypted under another secret key of the site.
        """
        return dict(json.loads(unseal(self.sealed_headers))) if self.sealed_headers else {}

    @property
    def models_probed(self) -> list[str]:
        """The models with findings of a probe; failed probes do not count."""
        return [probe.model for probe in self.probes.all() if probe.findings]

    @property
    def suggested_models(self) -> list[str]:
        """Models to choose from: listed and probed ones."""
        return sorted({*(self.listed_models or []), *self.models_probed})

    def keep_key(self, key: str) -> None:
        """Encrypt a key for storing; no page shows it."""
        self.sealed_key = seal(key) if key else ""

    def keep_headers(self, headers: Mapping[str, str]) -> None:
        """Encrypt headers for storing; no page shows them."""
        self.sealed_headers = seal(json.dumps(dict(headers))) if headers else ""


class ModelProbe(Errand):
    """The findings of a probe about a model on an endpoint; see llm/probe.py.

    A repeated probe keeps its earlier findings until it has new ones. A probe without a model
    requests the list of models, which is stored as the endpoint's `listed_models`.
    """

    PROJECT = "endpoint__project_id"

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="probes")
    model = models.CharField(max_length=200)
    request_options = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        help_text="Of the judge that it was probed for: a model can do more or less with them.",
    )
    findings = models.JSONField(default=dict)
    probed_at = models.DateTimeField(null=True)

    @property
    def options_text(self) -> str:
        return options_text(self.request_options)

    class Meta:
        ordering = ("model",)
        constraints = (
            models.UniqueConstraint(
                "endpoint",
                "model",
                MD5(Cast("request_options", models.TextField())),
                name="probe_once_per_request",
            ),
        )

    def __str__(self) -> str:
        return f"{self.model} at {self.endpoint}"


class EndpointQuota(models.Model):
    """Limits and paces recorded by workers of an earlier version; to be removed."""

    endpoint = models.OneToOneField(
        Endpoint, on_delete=models.CASCADE, primary_key=True, related_name="quota"
    )
    requests = models.FloatField()
    tokens = models.FloatField()
    counted_at = models.DateTimeField()
    paces = models.JSONField(
        null=True, help_text="Paces that an earlier version learned; to be removed."
    )

    def __str__(self) -> str:
        return f"quota of {self.endpoint}"


class OfAccountQuerySet(models.QuerySet[Any]):
    def unused(self) -> OfAccountQuerySet:
        """Return rows of accounts without any endpoint."""
        endpoints = Endpoint.objects.filter(account=models.OuterRef("account"))
        return self.filter(~models.Exists(endpoints))


class AccountBucket(models.Model):
    """What is left of an account's limits per minute (runs/accounts.py), as people set them on its
    endpoints, shared by all workers; see runs/quota.py. Endpoints with the same limits share a row;
    0 means no limit."""

    account = models.CharField(max_length=64)
    requests_per_minute = models.PositiveIntegerField()
    tokens_per_minute = models.PositiveIntegerField()
    requests = models.FloatField()
    tokens = models.FloatField()
    counted_at = models.DateTimeField()

    objects = OfAccountQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("account", "requests_per_minute", "tokens_per_minute"),
                name="bucket_once_per_limits",
            ),
        )

    def __str__(self) -> str:
        return f"bucket of {self.requests_per_minute} requests, {self.tokens_per_minute} tokens"


class AccountQuota(models.Model):
    """What was learned about a model at an account (runs/accounts.py), for all workers and all
    projects that reach the same server with the same key; see runs/quota.py."""

    account = models.CharField(max_length=64)
    model = models.CharField(max_length=200)
    pace = models.JSONField(default=dict, help_text="The pace that it allows.")

    objects = OfAccountQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("account", "model"), name="quota_once_per_model"),
        )

    def __str__(self) -> str:
        return f"quota of {self.model}"


class JudgeKind:
    """The default kind of a judge, and the kind of uploaded scores. What a kind can do is defined
    by its class in `evaluators/`, or in an installed package."""

    GEVAL = "geval"
    IMPORTED = "imported"


class ScoringMode(models.TextChoices):
    LOGPROBS = "logprobs", "Token probabilities"
    SAMPLES = "samples", "Samples"
    DIRECT = "direct", "One greedy reply"


class LengthParameter(models.TextChoices):
    """The name of the parameter that limits a reply's length."""

    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


class JudgeQuerySet(models.QuerySet["Judge"]):
    def that_run(self) -> JudgeQuerySet:
        """Return judges with which a run can be started."""
        return self.exclude(kind=JudgeKind.IMPORTED).filter(retired_at=None)

    def with_scores(self) -> JudgeQuerySet:
        """Return judges with a run that counts, including imported scores: those that a report
        compares."""
        counting = {"runs__isnull": False, "runs__search": None, "runs__purpose": ""}
        return self.filter(**counting).distinct()

    def with_models(self) -> JudgeQuerySet:
        """Return judges with a chat model that can do other tasks, such as writing evaluation
        steps."""
        chatting = [kind for kind, evaluator in evaluators().items() if evaluator.chats]
        return self.filter(kind__in=chatting, retired_at=None)


class Judge(models.Model):
    """An evaluator with its settings; imported scores belong to a judge of a separate kind.

    Once a run has used a judge, it is frozen: a change creates a new version, which is another row
    with the same name.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=200)
    version = models.PositiveIntegerField(default=1)
    kind = models.CharField(
        max_length=40, default=JudgeKind.GEVAL, help_text="Which evaluator it is."
    )
    settings = models.JSONField(default=dict, blank=True, help_text="The evaluator's own settings.")
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.PROTECT, null=True, blank=True, related_name="judges"
    )
    model = models.CharField(max_length=200, blank=True)
    family = models.CharField(**FAMILY)
    mode = models.CharField(max_length=20, choices=ScoringMode, blank=True)
    samples = models.PositiveIntegerField(**_declared("samples"))
    temperature = models.FloatField(
        **_declared("temperature") | {"default": 0, "null": False, "blank": False}
    )
    use_steps = models.BooleanField(**_declared("use_steps"))
    concurrency = models.PositiveIntegerField(**_declared("concurrency"))
    max_tokens = models.PositiveIntegerField(**_declared("max_tokens"))
    timeout_seconds = models.FloatField(**_declared("timeout_seconds"))
    min_coverage = models.FloatField(**_declared("min_coverage"))
    request_options = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        validators=[validate_request_options],
        help_text="Sent with each request as they are; llm/request_options.py.",
    )
    price_in = models.DecimalField(max_digits=12, decimal_places=4, **_declared("price_in"))
    price_out = models.DecimalField(max_digits=12, decimal_places=4, **_declared("price_out"))
    price_cached = models.DecimalField(max_digits=12, decimal_places=4, **_declared("price_cached"))
    length_parameter = models.CharField(
        max_length=40, choices=LengthParameter, default=LengthParameter.MAX_TOKENS
    )
    sends_temperature = models.BooleanField(
        default=True, help_text="Some models accept only one temperature."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    objects = JudgeQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)
        constraints = (
            models.UniqueConstraint(
                fields=("project", "name", "version"), name="judge_once_per_project"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    **{
                        f"{name}__range": range_of(name)
                        for name in (
                            "samples",
                            "temperature",
                            "concurrency",
                            "max_tokens",
                            "timeout_seconds",
                            "min_coverage",
                        )
                    }
                ),
                name="judge_settings_in_range",
            ),
        )

    def __str__(self) -> str:
        return self.label

    def get_absolute_url(self) -> str:
        return reverse("evaluations:judge_detail", args=[self.project.slug, self.pk])

    @property
    def label(self) -> str:
        """The name, with the version from the second on, so that reports can tell versions
        apart."""
        return self.name if self.version == 1 else f"{self.name} (version {self.version})"

    @property
    def is_stand_in(self) -> bool:
        """Whether it asks the offline stand-in, which is not an LLM; every report says so."""
        return self.model == STAND_IN

    @property
    def evaluator(self) -> type[Evaluator] | None:
        """The evaluator class of this kind; None if its package is not installed."""
        return find_evaluator(self.kind)

    @property
    def request_settings(self) -> RequestSettings:
        """The request settings, regardless of what its server is known to accept."""
        return RequestSettings(
            model=self.model,
            mode=cast(Mode, self.mode),
            samples=self.samples,
            temperature=self.temperature if self.sends_temperature else None,
            max_tokens=self.max_tokens,
            length_parameter=self.length_parameter,
            min_coverage=self.min_coverage,
            options=self.request_options,
        )

    @property
    def options_text(self) -> str:
        return options_text(self.request_options)

    @property
    def can_run(self) -> bool:
        return self.kind != JudgeKind.IMPORTED

    @property
    def asks_llm(self) -> bool:
        return self.endpoint_id is not None

    @property
    def rates_on_scale(self) -> bool:
        """Whether its scores are on the criterion's scale, as far as known."""
        return bool(self.evaluator and self.evaluator.rates_on_scale)

    @property
    def compares_pairs(self) -> bool:
        return bool(self.evaluator and self.evaluator.compares_pairs)

    @property
    def writes_steps(self) -> bool:
        """Whether its prompts have evaluation steps, so that `use_steps` applies."""
        return bool(self.evaluator and self.evaluator.writes_steps)

    @property
    def kind_title(self) -> str:
        """The title of its kind, or its name if the package that provides it is missing."""
        return self.evaluator.title if self.evaluator else self.kind

    @property
    def is_frozen(self) -> bool:
        return self.runs.exists()
