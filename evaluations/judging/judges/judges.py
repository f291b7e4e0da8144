"""Create, change and retire endpoints and judges, for pages, commands and the API."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from evaluations.judging.judges.clients import known_findings
from evaluations.judging.judges.probing import probe_endpoint, puts_tags
from evaluations.models import Endpoint, ErrandState, Judge, JudgeKind, Project, ScoringMode
from evaluations.people.audit import note_before
from geval.evaluators.base import Evaluator, EvaluatorError, SettingsError, new_settings
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.evaluators.registry import find_evaluator, make_evaluator
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.errors import EndpointError
from geval.llm.findings import Findings
from geval.llm.judge_settings import JudgeSettings, default_of, usual_temperature
from geval.llm.request_headers import checked_headers
from geval.llm.responses import why_not_at
from geval.llm.time_limit import TimeLimit
from geval_site.key_names import why_not_allowed


@dataclass(frozen=True)
class EndpointDraft:
    """The values of an endpoint. `key=None` keeps the stored key, an empty text removes it;
    `headers` likewise.

    A key is sent to another address only with the user's consent: a stored key is entered again,
    as are headers, and `confirms_key_env` confirms that the variable is meant for the new address.
    """

    base_url: str
    name: str = ""
    api_version: str = ""
    key_env: str = ""
    key: str | None = None
    headers: Mapping[str, str] | None = None
    confirms_key_env: bool = True
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    parallel_calls: int | None = None


@dataclass(frozen=True)
class JudgeDraft:
    """The values of a judge. `temperature=None` is the mode's default: 1 for samples, 0 otherwise.

    An empty `mode` means the best mode that the endpoint supports. All fields except `name`, `kind`
    and `settings` are for evaluators that ask an LLM.
    """

    name: str
    endpoint: Endpoint | None = None
    model: str = ""
    kind: str = JudgeKind.GEVAL
    settings: Mapping[str, Any] = field(default_factory=dict)
    mode: str = ""
    samples: int = default_of("samples")
    temperature: float | None = None
    use_steps: bool = default_of("use_steps")
    concurrency: int = default_of("concurrency")
    max_tokens: int = default_of("max_tokens")
    timeout_seconds: float | None = default_of("timeout_seconds")
    min_coverage: float = default_of("min_coverage")
    request_options: Mapping[str, Any] = field(default_factory=dict)
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    price_cached: Decimal | None = None

    def changed(self, **values: Any) -> "JudgeDraft":
        """Return a copy with other values; another mode resets the temperature unless one is
        given."""
        resets = values.get("mode", self.mode) != self.mode
        return replace(self, **({"temperature": None} if resets else {}) | values)


# Endpoints


@transaction.atomic
def save_endpoint(
    project: Project, draft: EndpointDraft, *, endpoint: Endpoint | None = None
) -> Endpoint:
    """Create or change an endpoint. Its address cannot change once its judges have runs, as a
    judge keeps the endpoint that it has.

    Raises:
        ValidationError: a field is wrong, the address must not be called, or another name or
            address is needed.
    """
    endpoint = endpoint or Endpoint(project=project)
    base_url = draft.base_url.strip().rstrip("/")
    if (
        endpoint.pk
        and base_url != endpoint.base_url
        and endpoint.judges.filter(runs__isnull=False).exists()
    ):
        raise ValidationError(
            {"base_url": "Runs have used this address; create a new endpoint for a different one."}
        )
    moves = bool(endpoint.pk) and (endpoint.base_url, endpoint.api_version) != (
        base_url,
        draft.api_version.strip(),
    )
    if moves:
        _check_keys_may_move(endpoint, draft)
    is_other_key = draft.key is not None or draft.key_env.strip() != endpoint.key_env
    if moves or is_other_key or draft.headers is not None:
        endpoint.account = ""  # filled in when a worker has read its key
    if moves:
        endpoint.listed_models = None  # they belong to the previous address
    endpoint.base_url = base_url
    endpoint.api_version = draft.api_version.strip()
    endpoint.key_env = draft.key_env.strip()
    endpoint.requests_per_minute = draft.requests_per_minute
    endpoint.tokens_per_minute = draft.tokens_per_minute
    endpoint.parallel_calls = draft.parallel_calls
    if draft.key is not None:
        endpoint.keep_key(draft.key.strip())
    if draft.headers is not None:
        _keep_headers(endpoint, draft.headers)
    endpoint.name = draft.name.strip() or endpoint.name or _free_name(project, endpoint.host)
    _check_base_url(base_url, endpoint.api_version)
    _check_key_name(endpoint.key_env)
    endpoint.full_clean(validate_constraints=False)
    if (
        Endpoint.objects.filter(project=project, name=endpoint.name)
        .exclude(pk=endpoint.pk)
        .exists()
    ):
        raise ValidationError(
            {"name": f"An endpoint {endpoint.name!r} already exists; choose another name."}
        )
    if endpoint.sealed_key and endpoint.key_env:
        raise ValidationError({"key_env": "Enter the key or the name of its variable, not both."})
    endpoint.save()
    if moves:
        endpoint.probes.all().delete()  # they describe the server at the previous address
    else:
        endpoint.probes.filter(state=ErrandState.FAILED, findings={}).delete()
    return endpoint


def endpoint_at(project: Project, base_url: str, *, key_env: str = "") -> Endpoint:
    """Return the endpoint with this address and key variable, creating it if there is none.

    Raises:
        ValidationError: the address is invalid, or must not be called.
    """
    url = base_url.strip().rstrip("/")
    existing = (
        project.endpoints.current()
        .filter(base_url=url, key_env=key_env, sealed_key="", sealed_headers="")
        .first()
    )
    return existing or save_endpoint(project, EndpointDraft(base_url=url, key_env=key_env))


def _keep_headers(endpoint: Endpoint, headers: Mapping[str, str]) -> None:
    try:
        endpoint.keep_headers(checked_headers(headers))
    except ValueError as error:
        raise ValidationError({"headers": str(error)}) from None


def _check_keys_may_move(endpoint: Endpoint, draft: EndpointDraft) -> None:
    """Refuse to send a key to an address that it was not entered for."""
    if endpoint.sealed_key and draft.key is None:
        raise ValidationError(
            {
                "key": "The address has changed, and the stored key was entered for the previous"
                " one. Enter the key for the new address, or delete the stored one."
            }
        )
    if endpoint.sealed_headers and draft.headers is None:
        raise ValidationError(
            {
                "headers": "The address has changed, and the stored headers were entered for the"
                " previous one. Enter them for the new address, or delete the stored ones."
            }
        )
    if (
        draft.key_env.strip()
        and draft.key_env.strip() == endpoint.key_env
        and not draft.confirms_key_env
    ):
        raise ValidationError(
            {
                "key_env": (
                    "The address has changed. Confirm that the key of this variable may be sent to"
                    " the new one."
                )
            }
        )


def _check_key_name(name: str) -> None:
    why_not = why_not_allowed(name, settings.ENDPOINT_KEYS)
    if why_not:
        raise ValidationError({"key_env": why_not})


def _check_base_url(base_url: str, api_version: str) -> None:
    try:
        check_address(base_url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
    except ForbiddenAddressError as error:
        raise ValidationError({"base_url": str(error)}) from None
    if why_not := why_not_at(base_url, api_version):
        raise ValidationError({"base_url": why_not})


def _free_name(project: Project, wanted: str) -> str:
    taken = set(project.endpoints.values_list("name", flat=True))
    names = (
        wanted[:90] if number == 1 else f"{wanted[:90]} {number}"
        for number in range(1, len(taken) + 2)
    )
    return next(name for name in names if name not in taken)


# Judges


class ProbeNeededError(Exception):
    """A judge cannot be created yet: its endpoint must first be probed for the model."""

    def __init__(self, endpoint: Endpoint, model: str, options: Mapping[str, Any]) -> None:
        super().__init__(f"{endpoint} has not been probed for {model} yet.")
        self.endpoint = endpoint
        self.model = model
        self.options = dict(options)


def create_judge(
    project: Project, draft: JudgeDraft, *, probe: bool = True, here: bool = True
) -> tuple[Judge, bool]:
    """Create a judge; if an identical judge exists, return that judge and False.

    Args:
        probe: require a probe of the endpoint for this model, so that an unsupported mode is
            refused now.
        here: probe in this process. Web processes leave that to a worker, and create the judge
            afterwards.

    Raises:
        ProbeNeededError: the endpoint was not probed for this model, and must not be called in this
            process.
        ValidationError: a setting is wrong, the name is taken by another judge, the mode does not
            fit a criterion or the endpoint, or the endpoint does not answer.
    """
    existing = newest_version(project, draft.name)
    draft = _with_new_settings(draft, existing)
    judge = _judge_from_draft(project, draft, _findings_for(project, draft, probe=probe, here=here))
    if existing is None:
        judge.save()
        return judge, True
    different = [name for name in _SETTINGS if getattr(existing, name) != getattr(judge, name)]
    if different:
        listed = ", ".join(name.removesuffix("_id") for name in different)
        raise ValidationError(
            {
                "name": (
                    f"A judge {judge.name!r} with a different {listed} already exists; choose"
                    " another name."
                )
            }
        )
    return existing, False


def draft_of(judge: Judge) -> JudgeDraft:
    """Return a judge's values as a draft, to change some of them."""
    declared = {name: getattr(judge, name) for name in JudgeSettings.model_fields}
    return JudgeDraft(
        name=judge.name,
        endpoint=judge.endpoint,
        model=judge.model,
        kind=judge.kind,
        settings=judge.settings,
        **declared,
    )


def change_judge(
    judge: Judge, draft: JudgeDraft, *, probe: bool = True, here: bool = True
) -> Judge:
    """Change a judge; once a run has used it, this creates a new version and retires the old one.

    Raises:
        ProbeNeededError, ValidationError: as for `create_judge`, or the new name belongs to another
            judge.
    """
    draft = _with_new_settings(draft, judge)
    # Probe first, so that no transaction is open while a slow endpoint answers.
    findings = _findings_for(judge.project, draft, probe=probe, here=here)
    return _change_judge(judge, _judge_from_draft(judge.project, draft, findings))


@transaction.atomic
def _change_judge(judge: Judge, changed: Judge) -> Judge:
    other = newest_version(judge.project, changed.name)
    if other and other.name != judge.name:
        raise ValidationError(
            {"name": f"A judge {changed.name!r} already exists; choose another name."}
        )
    differs = any(getattr(judge, name) != getattr(changed, name) for name in _FROZEN)
    if judge.is_frozen and differs:
        if changed.name != judge.name:
            raise ValidationError(
                {
                    "name": (
                        "Runs have used this judge, so this creates a new version with the same "
                        "name; rename it separately."
                    )
                }
            )
        changed.version = (newest_version(judge.project, judge.name) or judge).version + 1
        changed.name = judge.name
        changed.family = judge.family
        changed.save()
        note_before(judge, becomes=changed)
        Judge.objects.filter(pk=judge.pk, retired_at=None).update(retired_at=timezone.now())
        return changed
    if changed.kind != judge.kind:
        raise ValidationError(
            {"name": f"{judge} is a judge of a different kind; create a new one."}
        )
    for name in (
        "name",
        *_SETTINGS,
        "length_parameter",
        "sends_temperature",
        "price_in",
        "price_out",
        "price_cached",
    ):
        setattr(judge, name, getattr(changed, name))
    judge.save()
    return judge


def _with_new_settings(draft: JudgeDraft, existing: Judge | None) -> JudgeDraft:
    """Return the draft with its evaluator's settings completed from the existing judge, or from the
    defaults of new judges."""
    kind = find_evaluator(draft.kind)
    before = existing.settings if existing and existing.kind == draft.kind else None
    return replace(draft, settings=new_settings(kind, draft.settings, before)) if kind else draft


def newest_version(project: Project, name: str) -> Judge | None:
    """Return the newest version of the judge with this name."""
    return project.judges.filter(name=name.strip()).order_by("-version").first()


def same_but_for_settings(judge: Judge, other: Judge) -> bool:
    """Whether two judges differ in nothing but their evaluator's own settings."""
    names = [name for name in _FROZEN if name != "settings"]
    return all(getattr(judge, name) == getattr(other, name) for name in names)


def retire(thing: Judge | Endpoint, *, back: bool = False) -> None:
    """Retire a judge or an endpoint (its scores are kept), or restore it."""
    thing.retired_at = None if back else timezone.now()
    thing.save(update_fields=["retired_at"])


def _findings_for(
    project: Project, draft: JudgeDraft, *, probe: bool, here: bool
) -> Findings | None:
    model, endpoint = draft.model.strip(), draft.endpoint
    if not model or endpoint is None:
        return None
    evaluator = find_evaluator(draft.kind)
    if evaluator and issubclass(evaluator, LlmEvaluator) and not evaluator.is_probed:
        return None
    findings = known_findings(endpoint, model, draft.request_options)
    if findings or not probe:
        return findings
    # Report errors that no probe can change before the endpoint is called; any mode serves as a
    # placeholder for the mode to be chosen.
    _judge_from_draft(project, replace(draft, mode=draft.mode or ScoringMode.DIRECT), None)
    if not here:
        raise ProbeNeededError(endpoint, model, draft.request_options)
    try:
        return probe_endpoint(
            endpoint,
            model,
            time_limit=TimeLimit(draft.timeout_seconds),
            is_delimited=puts_tags(draft.kind, draft.settings),
            options=draft.request_options,
        )
    except EndpointError as error:
        raise ValidationError({"endpoint": f"The endpoint was probed: {error.message}"}) from None


def _evaluator(draft: JudgeDraft) -> Evaluator:
    """Return a draft's evaluator, which validates the settings."""
    try:
        evaluator = make_evaluator(draft.kind, draft.settings)
    except EvaluatorError as error:
        raise ValidationError({"kind": str(error)}) from None
    except SettingsError as error:
        raise ValidationError(error.messages) from None
    if not evaluator.runs:
        raise ValidationError(
            {
                "kind": f"{evaluator.title} are created by uploading scores; set the judge's name "
                "there."
            }
        )
    return evaluator


def _judge_from_draft(project: Project, draft: JudgeDraft, findings: Findings | None) -> Judge:
    """Return the judge that a draft describes, validated but not saved."""
    evaluator = _evaluator(draft)
    common = {
        "project": project,
        "name": draft.name.strip(),
        "kind": draft.kind,
        "settings": evaluator.settings.model_dump(mode="json"),
    }
    if not isinstance(evaluator, LlmEvaluator):
        judge = Judge(**common)
        judge.full_clean(validate_unique=False, validate_constraints=False)
        return judge
    mode = draft.mode or (findings.best_mode if findings else "") if evaluator.chats else ""
    temperature = draft.temperature
    if temperature is None:
        temperature = usual_temperature(mode)
    declared = {name: getattr(draft, name) for name in JudgeSettings.model_fields}
    judge = Judge(
        **common,
        endpoint=draft.endpoint,
        model=draft.model.strip(),
        **declared | {"mode": mode, "temperature": temperature},
    )
    if findings:
        judge.max_tokens = findings.room_for_replies(draft.max_tokens)
        judge.length_parameter = findings.length_parameter
        judge.sends_temperature = findings.temperature
    judge.full_clean(validate_unique=False, validate_constraints=False)
    if evaluator.chats and findings and not mode:
        raise ValidationError({"mode": f"{findings.why_not('')} To use one, choose it."})
    _check_required(judge, evaluator)
    _check_options(judge, evaluator)
    _check_prices(judge)
    _check_temperature(judge, findings)
    _check_mode(judge, evaluator, findings)
    _check_endpoint(evaluator, findings)
    return judge


def _check_required(judge: Judge, evaluator: LlmEvaluator) -> None:
    wanted = ("endpoint", "model", "mode") if evaluator.chats else ("endpoint", "model")
    for name in wanted:
        if not getattr(judge, name):
            raise ValidationError({name: "This field is required."})


def _check_endpoint(evaluator: LlmEvaluator, findings: Findings | None) -> None:
    why_not = evaluator.why_not_with(findings) if findings else ""
    if why_not:
        raise ValidationError({"endpoint": why_not})


def _check_options(judge: Judge, evaluator: LlmEvaluator) -> None:
    if judge.request_options and not evaluator.chats:
        why = f"{evaluator.title} makes no chat requests, which alone can carry these; empty them."
        raise ValidationError({"request_options": why})


def _check_prices(judge: Judge) -> None:
    if (judge.price_in is None) != (judge.price_out is None):
        raise ValidationError({"price_out": "Enter both prices, or none."})
    if judge.price_cached is not None and judge.price_in is None:
        raise ValidationError({"price_cached": "Enter the prices of tokens in and out, too."})


def _check_temperature(judge: Judge, findings: Findings | None) -> None:
    if judge.mode == ScoringMode.SAMPLES and judge.temperature == 0 and judge.samples > 1:
        raise ValidationError(
            {"temperature": "At temperature 0 all samples are the same; use 1, or mode direct."}
        )
    own_temperature = findings is not None and not findings.temperature
    if own_temperature and judge.temperature not in (0, 1):
        raise ValidationError(
            {"temperature": "This model accepts only its own temperature; leave it empty."}
        )


def _check_mode(judge: Judge, evaluator: LlmEvaluator, findings: Findings | None) -> None:
    if evaluator.chats and findings and findings.why_not(judge.mode):
        raise ValidationError({"mode": findings.why_not(judge.mode)})
    for criterion in judge.project.criteria.without_rubrics():
        reason = evaluator.why_not_on(criterion.scale, judge.mode)
        if reason:
            raise ValidationError({"mode": f"{criterion.name}: {reason}"})


# What decides a score: a change makes a new version. The other fields are about speed and price.
_FROZEN = (
    "kind",
    "settings",
    "endpoint_id",
    "model",
    "mode",
    "samples",
    "temperature",
    "use_steps",
    "max_tokens",
    "min_coverage",
    "request_options",
)
_SETTINGS = (*_FROZEN, "concurrency", "timeout_seconds")
