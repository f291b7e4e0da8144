"""compose.yaml and Kubernetes' manifests give each process the secrets that it uses, and no others;
what it may call and be called by is named."""

import ipaddress
import re
from functools import cache
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from geval.llm.addresses import ForbiddenAddressError, IPAddress, check_ip
from tests.conftest import CHECKOUT

# What each of our processes needs of what is secret.
EVERY = {"DATABASE_URL", "GEVAL_SECRET_KEY"}
SENDS_JOBS = {"CELERY_BROKER_URL"}
SIGNS_IN = {"GEVAL_OIDC_SECRET"}
PROXIES = {"HTTPS_PROXY", "HTTP_PROXY"}
KEYS = {
    "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY", "CEREBRAS_API_KEY", "COHERE_API_KEY",
    "DEEPINFRA_API_KEY", "DEEPSEEK_API_KEY", "FIREWORKS_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY",
    "HF_TOKEN", "MISTRAL_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY", "XAI_API_KEY",
}  # fmt: skip
NEEDED = {
    "migrate": EVERY | SIGNS_IN,
    "backup": EVERY,
    "web": EVERY | SENDS_JOBS | SIGNS_IN | PROXIES | {"GEVAL_METRICS_TOKEN"},
    "worker-runs": EVERY | SENDS_JOBS | PROXIES | KEYS,
    "worker-reports": EVERY | SENDS_JOBS | PROXIES,
    "worker-short": EVERY | SENDS_JOBS | PROXIES | KEYS | {"GEVAL_EMAIL_URL"},
    "postgres": {"POSTGRES_PASSWORD"},
    "rabbitmq": {"RABBITMQ_DEFAULT_PASS"},
    "caddy": set(),
}
SECRET = set.union(*NEEDED.values())
# Settings that the image decides, or that belong to commands.
OF_THE_IMAGE = {
    "GEVAL_MODE", "GEVAL_DATA_DIR", "GEVAL_DEBUG", "GEVAL_ALLOW_EMBEDDED", "GEVAL_ONLY_PROJECT",
    "GEVAL_PULSE_FILE",
}  # fmt: skip


@cache
def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((CHECKOUT / "compose.yaml").read_text())
    return found["services"]


def secrets_of(environment: dict[str, Any]) -> set[str]:
    """What is secret of an environment, by name; an address without a password is not."""
    return {
        name
        for name, value in environment.items()
        if name in SECRET and not re.fullmatch(r"amqp://[\w.]+//", value or "")
    }


@pytest.mark.parametrize("service", NEEDED)
def test_a_service_gets_the_secrets_that_it_uses(service: str) -> None:
    assert set(services()) == set(NEEDED)
    assert secrets_of(services()[service].get("environment", {})) == NEEDED[service]


def test_a_password_is_in_no_service_that_does_not_use_it() -> None:
    holders = {
        secret: {name for name, service in services().items() if f"${{{secret}:?" in str(service)}
        for secret in ("POSTGRES_PASSWORD", "RABBITMQ_PASSWORD", "GEVAL_SECRET_KEY")
    }

    ours = {"migrate", "backup", "web", "worker-runs", "worker-reports", "worker-short"}
    assert holders == {
        "POSTGRES_PASSWORD": ours | {"postgres"},
        "RABBITMQ_PASSWORD": ours - {"migrate", "backup"} | {"rabbitmq"},
        "GEVAL_SECRET_KEY": ours,
    }


def test_no_service_gets_a_whole_file_but_workers_that_of_endpoint_keys() -> None:
    files = {
        name: service["env_file"] for name, service in services().items() if service.get("env_file")
    }

    of_keys = [{"path": ".env.keys", "required": False}]
    assert files == {"worker-runs": of_keys, "worker-short": of_keys}


def test_every_setting_reaches_the_processes_of_the_site() -> None:
    table = (CHECKOUT / "docs" / "settings.md").read_text()
    settings = set(re.findall(r"^\| `([A-Z_]+)` \|", table, re.M)) - OF_THE_IMAGE
    given = {name: set(services()[name]["environment"]) for name in ("web", "worker-short")}

    plain = settings - SECRET
    assert {name for name in plain if not name.startswith("GEVAL_OIDC_")} <= given["worker-short"]
    assert plain <= given["web"]
    assert settings <= given["web"] | given["worker-short"]


# Kubernetes


@cache
def resources() -> tuple[dict[str, Any], ...]:
    texts = (path.read_text() for path in (CHECKOUT / "deploy" / "kubernetes").glob("*.yaml"))
    return tuple(found for text in texts for found in yaml.safe_load_all(text))


@cache
def pods() -> dict[str, dict[str, Any]]:
    """The template of each kind of pod, by its component."""
    specs = [one.get("spec", {}) for one in resources()]
    specs = [spec.get("jobTemplate", {}).get("spec", spec) for spec in specs]
    templates = (spec["template"] for spec in specs if "template" in spec)
    return {
        one["metadata"]["labels"]["app.kubernetes.io/component"]: one["spec"] for one in templates
    }


# The job that migrates makes the queue where there is no broker, so it has to know of one.
OF_PODS = {
    "migrate": EVERY | SENDS_JOBS | SIGNS_IN,
    "backup": EVERY | SENDS_JOBS,
    "web": EVERY | SENDS_JOBS | SIGNS_IN | {"GEVAL_METRICS_TOKEN"},
    "worker-runs": EVERY | SENDS_JOBS,
    "worker-reports": EVERY | SENDS_JOBS,
    "worker-short": EVERY | SENDS_JOBS | {"GEVAL_EMAIL_URL"},
}


CALL_ENDPOINTS = {"worker-runs", "worker-short"}


def test_health_checks_look_at_the_file_that_a_worker_touches_while_its_threads_answer() -> None:
    look = "find /tmp/pulse -mmin -1 | grep -q ."
    for name in ("worker-runs", "worker-reports", "worker-short"):
        service, (container,) = services()[name], pods()[name]["containers"]
        assert service["healthcheck"]["test"] == ["CMD-SHELL", look]
        assert service["environment"]["GEVAL_PULSE_FILE"] == "/tmp/pulse"
        assert container["livenessProbe"]["exec"]["command"] == ["sh", "-c", look]
        assert {"name": "GEVAL_PULSE_FILE", "value": "/tmp/pulse"} in container["env"]


@pytest.mark.parametrize("component", OF_PODS)
def test_a_pod_takes_the_secrets_that_it_uses_by_name(component: str) -> None:
    assert set(pods()) == set(OF_PODS)
    (container,) = pods()[component]["containers"]
    taken = {
        one["name"]: one["valueFrom"]["secretKeyRef"]
        for one in container["env"]
        if "valueFrom" in one
    }

    assert set(taken) == OF_PODS[component]
    assert {name: one["key"] for name, one in taken.items()} == {name: name for name in taken}
    assert {name for name, one in taken.items() if not one.get("optional")} == EVERY
    whole = [one["secretRef"]["name"] for one in container["envFrom"] if "secretRef" in one]
    assert whole == (["geval-site-endpoint-keys"] if component in CALL_ENDPOINTS else [])


def policies_of(component: str, kind: str) -> list[list[dict[str, Any]]]:
    """The rules of each policy that holds for a component, of what comes in or goes out."""
    labels = {"app.kubernetes.io/name": "geval-site", "app.kubernetes.io/component": component}
    return [
        one["spec"].get(kind.lower(), [])
        for one in resources()
        if one["kind"] == "NetworkPolicy"
        and kind in one["spec"]["policyTypes"]
        and selects(one["spec"]["podSelector"], labels)
    ]


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    expressions = selector.get("matchExpressions", [])
    assert all(one["operator"] == "In" for one in expressions)
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(one["key"]) in one["values"] for one in expressions
    )


@pytest.mark.parametrize("component", OF_PODS)
def test_web_alone_is_called_and_from_two_namespaces(component: str) -> None:
    rules = [rule for policy in policies_of(component, "Ingress") for rule in policy]

    assert policies_of(component, "Ingress")
    callers = [
        source["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
        for rule in rules
        for source in rule["from"]
    ]
    assert callers == (["ingress-nginx", "monitoring"] if component == "web" else [])
    assert all(rule["ports"] == [{"port": "http"}] for rule in rules)


def ports_and_addresses(component: str) -> tuple[set[int], list[dict[str, Any]]]:
    """The ports that a component may reach, and the blocks of addresses at any port."""
    rules = [rule for policy in policies_of(component, "Egress") for rule in policy]
    ports = {port["port"] for rule in rules for port in rule.get("ports", [])}
    anywhere = [place for rule in rules if "ports" not in rule for place in rule["to"]]
    return ports, [place["ipBlock"] for place in anywhere]


@pytest.mark.parametrize("component", OF_PODS)
def test_workers_that_ask_endpoints_alone_call_out(component: str) -> None:
    ports, blocks = ports_and_addresses(component)

    assert policies_of(component, "Egress")
    assert ports == {53, 5432, 5671, 5672}
    assert bool(blocks) == (component in CALL_ENDPOINTS)


def may_be_called(address: IPAddress, blocks: list[dict[str, Any]]) -> bool:
    for block in blocks:
        out = [ipaddress.ip_network(network) for network in block.get("except", [])]
        if address in ipaddress.ip_network(block["cidr"]):
            return not any(address in network for network in out)
    return False


@given(address=st.ip_addresses())
def test_workers_call_no_address_that_the_site_refuses(address: IPAddress) -> None:
    _, blocks = ports_and_addresses("worker-runs")

    try:
        check_ip(address, host="it", allow_private=False)
    except ForbiddenAddressError:
        assert not may_be_called(address, blocks)


@pytest.mark.parametrize(
    "address", ["169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "10.0.0.1"]
)
def test_workers_call_no_metadata_service(address: str) -> None:
    _, blocks = ports_and_addresses("worker-short")

    assert not may_be_called(ipaddress.ip_address(address), blocks)
