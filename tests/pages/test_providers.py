"""An endpoint begins with its provider, which brings the base URL and says what else to enter."""

import re
from collections.abc import Callable

import pytest
from django.test import Client

from evaluations.models import Endpoint, Project
from geval.llm.providers import BY_NAME, PROVIDERS, provider_at
from tests.conftest import CHECKOUT

NEW = "/p/small/endpoints/new/"


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda one: one.name)
def test_a_provider_s_variable_is_known_and_the_docs_show_it(provider: object) -> None:
    one = BY_NAME[provider.name]  # type: ignore[attr-defined]
    docs = (CHECKOUT / "docs/models.md").read_text()

    assert not one.key_env or one.key_env.endswith("_API_KEY")
    assert one.name == "other" or f"| {one.title} | " in docs
    assert one.base_url in docs


@pytest.mark.django_db
def test_a_chosen_provider_brings_its_base_url(
    as_role: Callable[[str], Client], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluations.judging.judges.judges.check_address", lambda *_a, **_k: None)
    as_role("owner").post(NEW, {"provider": "openai", "key": "sk-1"})

    endpoint = Endpoint.objects.get()
    assert (endpoint.base_url, endpoint.api_key) == ("https://api.openai.com/v1", "sk-1")
    assert provider_at(endpoint.base_url).name == "openai"


@pytest.mark.django_db
def test_what_is_typed_counts_before_the_provider_s_address(
    as_role: Callable[[str], Client], project: Project
) -> None:
    as_role("owner").post(NEW, {"provider": "vllm", "base_url": "http://127.0.0.1:8100/v1"})

    assert Endpoint.objects.get().base_url == "http://127.0.0.1:8100/v1"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("provider", "said"),
    [("azure", "https://NAME.openai.azure.com/openai/v1"), ("", "Choose a provider, or enter")],
)
def test_where_each_customer_has_another_address_it_is_asked_for(
    as_role: Callable[[str], Client], project: Project, provider: str, said: str
) -> None:
    page = as_role("owner").post(NEW, {"provider": provider, "key": "sk-1"}).content.decode()

    field = re.search(r'<input[^>]*name="base_url"[^>]*>', page)
    assert field
    assert 'aria-invalid="true"' in field[0]
    assert "data-shown-for" not in field[0]  # in sight, whatever is chosen
    assert said in page
    assert not Endpoint.objects.exists()
