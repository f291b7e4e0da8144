"""The demo's judges ask where they were told to, also when another endpoint was used in the demo
before."""

import pytest

from evaluations.management.demo import demo_judges, load_demo
from evaluations.models import Judge, Project

pytestmark = pytest.mark.django_db


def judges(project: Project, base_url: str, model: str, *, key_env: str = "") -> list[Judge]:
    return demo_judges(
        project, base_url=base_url, model=model, key_env=key_env, label=model, both=not key_env
    )


def test_with_a_key_the_judge_gets_an_endpoint_of_its_own_and_not_the_stand_ins(
    project: Project,
) -> None:
    judges(project, "http://127.0.0.1:8189/v1", "offline-stand-in")

    with_key = judges(project, "http://127.0.0.1:9/v1", "some-model", key_env="OPENAI_API_KEY")[0]

    assert with_key.endpoint
    assert (with_key.endpoint.base_url, with_key.endpoint.key_env) == (
        "http://127.0.0.1:9/v1",
        "OPENAI_API_KEY",
    )


def test_the_demos_files_are_where_it_looks_and_load_once() -> None:
    project, _ = load_demo()
    outputs = project.systems.count() * project.documents.count()
    load_demo()

    assert outputs == 72
    assert project.campaigns.count() == 2
