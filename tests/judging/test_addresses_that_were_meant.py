"""A probe of an address without its path says which address was meant, and offers the models that
the endpoint lists."""

from collections.abc import Callable

import pytest

from evaluations.judging.judges.probing import probe_endpoint
from evaluations.models import Endpoint, Project
from geval.llm.addresses import likely_addresses
from geval.llm.errors import EndpointError
from tests.processes import StandInProcess

MODEL = "offline-stand-in"


@pytest.mark.parametrize(
    ("base_url", "first"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://host:8000/", "http://host:8000/v1"),
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/v1/models", "https://host/v1"),
        ("https://host/gateway", "https://host/gateway/v1"),
        ("https://host/v2", "https://host/v2/v1"),
    ],
)
def test_an_address_that_was_meant_is_on_the_same_server(base_url: str, first: str) -> None:
    found = likely_addresses(base_url)

    assert found[0] == first
    assert base_url.rstrip("/") not in found
    assert {one.split("/")[2] for one in found} == {base_url.split("/")[2]}


@pytest.fixture
def endpoint(project: Project, start_standin: Callable[..., StandInProcess]) -> Endpoint:
    return project.endpoints.create(name="e", base_url=start_standin().base_url)


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["", "/wrong", "/v1/chat/completions"])
def test_a_wrong_path_is_answered_with_the_address_that_lists_models(
    endpoint: Endpoint, path: str
) -> None:
    right = endpoint.base_url
    endpoint.base_url = right.removesuffix("/v1") + path
    endpoint.save()

    with pytest.raises(EndpointError) as said:
        probe_endpoint(endpoint, MODEL)

    assert f"Did you mean {right}?" in str(said.value)
    assert "does not know the model" not in str(said.value)


@pytest.mark.django_db
def test_the_models_of_an_address_that_changed_meanwhile_are_not_kept(endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="http://127.0.0.1:1/v1")

    probe_endpoint(endpoint, MODEL)
    endpoint.refresh_from_db()

    assert endpoint.listed_models is None
