"""A probe of an address without its path says which address was meant, and offers the models that
the endpoint lists."""

from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.judging.judges.probing import probe_endpoint
from evaluations.judging.runs.errands import request_probe
from evaluations.models import Endpoint, Project
from geval.llm.addresses import likely_addresses
from geval.llm.errors import EndpointError
from tests.conftest import do_errands
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
def test_a_server_that_lists_nothing_anywhere_keeps_its_own_error(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluations.judging.judges.listing.models_listed_by", lambda _endpoint: [])
    endpoint.base_url = endpoint.base_url.removesuffix("/v1")

    with pytest.raises(EndpointError, match="Most addresses end in /v1"):
        probe_endpoint(endpoint, MODEL)


@pytest.mark.django_db
def test_listed_models_are_offered_where_a_model_is_typed(
    endpoint: Endpoint, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    page = f"/p/small/endpoints/{endpoint.pk}/"
    before = client.get(page).content.decode()
    request_probe(endpoint, MODEL)
    under_way = client.get(page).content.decode()
    do_errands()
    endpoint.refresh_from_db()

    assert "<datalist" not in before
    assert "Probing what e can do" in under_way
    assert MODEL in (endpoint.listed_models or [])
    for address in (page, "/p/small/judges/new/?kind=geval"):
        text = client.get(address).content.decode()
        assert f'<option value="{MODEL}">' in text
        assert 'list="known-models"' in text


@pytest.mark.django_db
def test_the_models_of_an_address_that_changed_meanwhile_are_not_kept(endpoint: Endpoint) -> None:
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="http://127.0.0.1:1/v1")

    probe_endpoint(endpoint, MODEL)
    endpoint.refresh_from_db()

    assert endpoint.listed_models is None
