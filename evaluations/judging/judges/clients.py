"""Create a client from an endpoint's record, and ask a model once. Each new client checks the
address and decrypts the key. What probes and later calls learned about a model is read and kept
here."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from evaluations.models import Endpoint, ModelProbe
from evaluations.models.sealing import SealError
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.calls import Answer, RetryPolicy, ask_until_answered
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.findings import Findings
from geval.llm.requests import ChatRequest
from geval.llm.server_fit import LearnedFit
from geval.llm.time_limit import TimeLimit, ask_within_patience


def client_for(endpoint: Endpoint, *, timeout: float | TimeLimit) -> Client:
    """Return a client of an endpoint, to be used in an `async with`.

    Raises:
        EndpointError: it is retired, its address must not be called, or its key cannot be
            decrypted.
    """
    if endpoint.retired_at:
        # Resumed and imported runs come here too: a retired endpoint is not called until it is
        # restored.
        text = (
            f"The endpoint {endpoint} is retired and is not called. Restore it on its page first."
        )
        raise EndpointError(ErrorKind.FORBIDDEN_ADDRESS, text)
    try:
        check_address(endpoint.base_url, allow_private=settings.ALLOW_PRIVATE_ENDPOINTS)
        key, headers = endpoint.api_key, endpoint.headers
    except ForbiddenAddressError as error:
        raise EndpointError(ErrorKind.FORBIDDEN_ADDRESS, str(error)) from None
    except SealError as error:
        raise EndpointError(ErrorKind.KEY, str(error)) from None
    return Client(
        endpoint.base_url,
        key,
        timeout=timeout,
        api_version=endpoint.api_version,
        headers=headers,
        allow_private=settings.ALLOW_PRIVATE_ENDPOINTS,
        reply_limit=settings.REPLY_LIMIT_BYTES,
        file_limit=settings.BATCH_LIMIT_BYTES,
    )


def ask_model(endpoint: Endpoint, request: ChatRequest, *, timeout: float) -> Answer:
    """Return a model's answer to one request outside runs, after a few attempts.

    Raises:
        EndpointError: it does not answer, or must not be called.
    """
    client = client_for(endpoint, timeout=timeout)
    learned = known_fit(endpoint, request.model, request.options)

    async def ask() -> Answer:
        async with client:
            policy = RetryPolicy(attempts=4, longest_wait=10)
            return await ask_until_answered(client.chat, request, policy=policy, learned=learned)

    return ask_within_patience(ask(), endpoint.base_url)


Options = Mapping[str, Any]


def known_findings(
    endpoint: Endpoint | None, model: str, options: Options | None = None
) -> Findings | None:
    """Return the findings of a model's last finished probe with a judge's request options, if
    any."""
    probe = _probe(endpoint, model, options)
    return findings_of(probe) if probe else None


def findings_of(probe: ModelProbe) -> Findings:
    return Findings.from_json(probe.findings)


def known_fit(endpoint: Endpoint | None, model: str, options: Options | None = None) -> LearnedFit:
    """Return what the endpoint is known to accept in a request, for calls that learn more."""
    findings = known_findings(endpoint, model, options)
    return LearnedFit(findings.fit) if findings else LearnedFit()


def keep_learned(endpoint: Endpoint, model: str, options: Options, learned: LearnedFit) -> None:
    """Add what refusals have taught to the findings of the model's probe, which the endpoint's page
    shows."""
    probe = _probe(endpoint, model, options)
    if probe is None or not learned.refusals:
        return
    taken = findings_of(probe).with_fit(learned.fit, learned.refusals)
    ModelProbe.objects.filter(pk=probe.pk, findings=probe.findings).update(findings=taken.as_json())


def _probe(endpoint: Endpoint | None, model: str, options: Options | None) -> ModelProbe | None:
    asked = {"endpoint": endpoint, "model": model, "request_options": dict(options or {})}
    return ModelProbe.objects.filter(**asked).exclude(findings={}).first()
