"""compose.yaml and Kubernetes' manifests give each process the secrets that it uses, and no others;
what it may call and be called by is named."""

import re
from functools import cache
from typing import Any

import pytest
import yaml

from evaluations.key_names import WELL_KNOWN
from tests.conftest import CHECKOUT

# What each of our processes needs of what is secret.
EVERY = {"DATABASE_URL", "GEVAL_SECRET_KEY"}
SENDS_JOBS = {"CELERY_BROKER_URL"}
SIGNS_IN = {"GEVAL_OIDC_SECRET"}
ERRORS = {"GEVAL_SENTRY_DSN", "OTEL_EXPORTER_OTLP_HEADERS", "HTTPS_PROXY", "HTTP_PROXY"}
NEEDED = {
    "migrate": EVERY | SIGNS_IN,
    "web": EVERY | SENDS_JOBS | SIGNS_IN | ERRORS | {"GEVAL_METRICS_TOKEN"},
    "worker-runs": EVERY | SENDS_JOBS | ERRORS | {*WELL_KNOWN},
    "worker-short": EVERY | SENDS_JOBS | ERRORS | {*WELL_KNOWN, "GEVAL_EMAIL_URL"},
    "postgres": {"POSTGRES_PASSWORD"},
    "rabbitmq": {"RABBITMQ_DEFAULT_PASS"},
    "caddy": set(),
}
SECRET = set.union(*NEEDED.values())
# Settings that the image decides, or that belong to commands.
OF_THE_IMAGE = {
    "GEVAL_MODE", "GEVAL_DATA_DIR", "GEVAL_DEBUG", "GEVAL_ALLOW_EMBEDDED", "GEVAL_ONLY_PROJECT",
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

    ours = {"migrate", "web", "worker-runs", "worker-short"}
    assert holders == {
        "POSTGRES_PASSWORD": ours | {"postgres"},
        "RABBITMQ_PASSWORD": ours - {"migrate"} | {"rabbitmq"},
        "GEVAL_SECRET_KEY": ours,
    }


def test_no_service_gets_a_whole_file_but_workers_that_of_endpoint_keys() -> None:
    files = {
        name: service["env_file"] for name, service in services().items() if "env_file" in service
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


@pytest.mark.parametrize("service", NEEDED)
def test_an_image_can_be_named_by_its_digest(service: str) -> None:
    variable = re.match(r"\$\{([A-Z]+_IMAGE):-", services()[service]["image"])

    assert variable
    example = (CHECKOUT / ".env.example").read_text()
    assert re.search(rf"^#{variable[1]}=\S+:\S+@sha256:…$", example, re.M)


def test_the_base_of_the_image_can_be_named_by_its_digest() -> None:
    assert services()["web"]["build"]["args"] == {"BASE": None}
    assert "\n#BASE=docker.io/library/python:" in (CHECKOUT / ".env.example").read_text()
    assert "\nFROM ${BASE}" in (CHECKOUT / "Containerfile").read_text()
