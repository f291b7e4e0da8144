"""Keys of endpoints come from variables that the operator has named, and from no others, however
the name got there."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.test import Client

from evaluations.judging.judges.clients import client_for
from evaluations.judging.judges.judges import EndpointDraft, endpoint_at, save_endpoint
from evaluations.models import Endpoint, Project
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from geval.llm.child_environment import passed_on
from geval.llm.errors import EndpointError, ErrorKind
from geval_site.key_names import ANY, key_names, why_not_allowed

ADDRESS = "http://127.0.0.1:9/v1"
OURS = (
    "GEVAL_SECRET_KEY",
    "DATABASE_URL",
    "CELERY_BROKER_URL",
    "PGPASSWORD",
    "RABBITMQ_DEFAULT_PASS",
    "DJANGO_SETTINGS_MODULE",
    "PATH",
)


@pytest.mark.parametrize(
    "name", [*OURS, "geval_secret_key", "PG", "POSTGRES_PASSWORD", "SECRET_KEY", "HOME"]
)
def test_what_the_site_runs_on_cannot_be_listed(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"{name}, which this site itself uses"):
        key_names(["OPENAI_API_KEY", name])


@pytest.mark.parametrize("name", ["A KEY", "1KEY", "KEY=x", ""])
def test_what_is_no_name_cannot_be_listed(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="not a variable's name"):
        key_names([name])


def test_administrator_allows_any_other_name() -> None:
    names = {"PGVECTOR_API_KEY", "MY_VLLM_KEY", "GATEWAY_PASSWORD", "a_secret_of_tomorrow"}

    assert key_names(names) == names


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("GATEWAY_PASSWORD", ""),
        ("HF_TOKEN", ""),
        ("", ""),
        ("A KEY", "not a variable's name"),
        ("*", "not a variable's name"),
        *[(name, "site's own variables") for name in OURS],
    ],
)
def test_any_name_but_the_sites_own_is_allowed_on_ones_own_machine(name: str, phrase: str) -> None:
    assert phrase in why_not_allowed(name, ANY)
    assert bool(why_not_allowed(name, ANY)) == bool(phrase)


@pytest.mark.django_db
@pytest.mark.parametrize("name", OURS)
def test_the_sites_own_variables_are_never_sent_even_by_an_old_row(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "the-sites-own-secret")
    endpoint = Endpoint.objects.create(project=project, name="e", base_url=ADDRESS, key_env=name)

    with pytest.raises(
        EndpointError, match=f"{name} is one of this site's own variables"
    ) as raised:
        client_for(endpoint, timeout=1)

    assert raised.value.kind == ErrorKind.KEY


@pytest.mark.django_db
def test_an_allowed_variable_is_read(
    project: Project, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setenv("MY_VLLM_KEY", "sk-vllm")
    settings.ENDPOINT_KEYS = frozenset({"MY_VLLM_KEY"})

    assert (
        save_endpoint(project, EndpointDraft(base_url=ADDRESS, key_env="MY_VLLM_KEY")).api_key
        == "sk-vllm"
    )
    with pytest.raises(ValidationError, match="allowed here are MY_VLLM_KEY"):
        endpoint_at(project, ADDRESS, key_env="OPENAI_API_KEY")


@pytest.mark.django_db
def test_page_and_api_refuse_other_names_and_say_which_are_allowed(
    owner: User, project: Project, settings: Any
) -> None:
    settings.ENDPOINT_KEYS = frozenset({"OPENAI_API_KEY", "MISTRAL_API_KEY"})
    browser = Client()
    browser.force_login(owner)
    wanted = {"base_url": ADDRESS, "key_env": "MY_OWN_KEY"}

    page = browser.post("/p/small/endpoints/new/", wanted).content.decode()
    answer = browser.post(
        "/api/v1/projects/small/endpoints", json.dumps(wanted), content_type="application/json"
    )

    assert "not read from the variable MY_OWN_KEY" in page
    assert "MISTRAL_API_KEY, OPENAI_API_KEY" in page
    assert (answer.status_code, answer.json()["errors"][0]["at"]) == (422, "key_env")
    assert not Endpoint.objects.exists()


@pytest.mark.django_db
def test_an_archive_brings_no_names_of_variables(small_project: Project, tmp_path: Path) -> None:
    Endpoint.objects.create(
        project=small_project, name="e", base_url=ADDRESS, key_env="OPENAI_API_KEY"
    )
    with (tmp_path / "a.zip").open("wb") as file:
        write_archive(small_project, file)

    copy = read_archive(tmp_path / "a.zip", slug="copy")

    assert [(one.name, one.key_env) for one in copy.endpoints.all()] == [("e", "")]


def test_processes_that_score_get_no_secrets() -> None:
    environment = dict.fromkeys(
        [
            *OURS,
            "OPENAI_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "HTTPS_PROXY",
            "HF_TOKEN",
            "HUGGINGFACE_HUB_TOKEN",
        ],
        "secret",
    )
    needed = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "HF_HOME": "/m",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": "/p",
    }

    assert passed_on(environment | needed) == needed


@pytest.mark.processes
@pytest.mark.django_db(transaction=True)
def test_a_run_that_computes_here_starts_its_process_without_the_secret_key(
    small_project: Project, monkeypatch: pytest.MonkeyPatch, load: Callable[..., Any]
) -> None:
    import asyncio

    from geval.evaluators.processes import ScoringProcess
    from geval.evaluators.registry import make_local

    monkeypatch.setenv("GEVAL_SECRET_KEY", "the-sites-own-secret")

    async def environment_of_a_process() -> bytes:
        process = await ScoringProcess.start(make_local("chrf", {}), None)
        try:
            return Path(f"/proc/{process.process.pid}/environ").read_bytes()
        finally:
            await process.stop()

    if not Path("/proc/self/environ").exists():
        pytest.skip("this system shows no environments of processes")
    assert b"the-sites-own-secret" not in asyncio.run(environment_of_a_process())
