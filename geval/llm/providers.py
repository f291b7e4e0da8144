"""Providers of models and what to enter for each: base URL, key and hints.

Pure. This is the only such table; the endpoint form offers it, and docs/models.md shows it.
"""

from dataclasses import dataclass

from geval.llm.responses import without_route

CONTAINERS = "In containers, write the server's host name instead of localhost."


@dataclass(frozen=True)
class Provider:
    """A provider of models, or a self-hosted server.

    `base_url` is empty where each customer has a different one; `is_own` says that the address may
    differ from the usual one. `key_env` is the usual environment variable for its key, empty for
    none.
    """

    name: str
    title: str
    base_url: str
    key_env: str
    hint: str
    is_own: bool = False

    @property
    def asks_for_address(self) -> bool:
        """Whether the user has to enter or check its base URL."""
        return self.is_own or not self.base_url


PROVIDERS = (
    Provider(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "Keys are made at platform.openai.com, under API keys.",
    ),
    Provider(
        "azure",
        "Azure OpenAI",
        "",
        "AZURE_OPENAI_API_KEY",
        "Enter https://NAME.openai.azure.com/openai/v1 with the name of your resource. The model"
        " is the name of your deployment.",
    ),
    Provider(
        "anthropic",
        "Anthropic",
        "https://api.anthropic.com/v1",
        "ANTHROPIC_API_KEY",
        "It has no token probabilities, so scores come from samples or from one reply.",
    ),
    Provider(
        "gemini",
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "Keys are made in Google AI Studio.",
    ),
    Provider(
        "vllm",
        "vLLM",
        "http://localhost:8000/v1",
        "",
        f"No key is needed unless it was started with --api-key. {CONTAINERS}",
        is_own=True,
    ),
    Provider(
        "ollama",
        "Ollama",
        "http://localhost:11434/v1",
        "",
        f"No key is needed. {CONTAINERS}",
        is_own=True,
    ),
    Provider(
        "llamacpp",
        "llama.cpp",
        "http://localhost:8080/v1",
        "",
        f"No key is needed unless it was started with --api-key. {CONTAINERS}",
        is_own=True,
    ),
    Provider(
        "other",
        "Another server",
        "",
        "",
        "Any OpenAI-compatible API works; its address ends in /v1 on most servers.",
    ),
)
BY_NAME = {provider.name: provider for provider in PROVIDERS}


def provider_at(base_url: str) -> Provider:
    """Return the provider with this base URL; for any other URL the last provider."""
    address = without_route(base_url)
    at_address = (provider for provider in PROVIDERS if provider.base_url == address)
    return next(at_address, PROVIDERS[-1])
