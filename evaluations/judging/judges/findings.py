"""What probes found out about an endpoint's models, and what later calls learned."""

from collections.abc import Mapping
from typing import Any

from evaluations.models import Endpoint, ModelProbe
from geval.llm.findings import Findings
from geval.llm.server_fit import LearnedFit

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
