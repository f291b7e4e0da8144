"""Request evaluation steps from a model: auto chain-of-thought (Liu et al., 2023). Pure; separate
from the module that reads the reply, which runs on every Python without packages."""

from geval.llm.prompts import PromptParts, steps_prompt
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import ChatRequest

# Steps are a list of sentences; the judge's own limit may be for a single number.
STEPS_MAX_TOKENS = 600


def steps_request(parts: PromptParts, settings: RequestSettings) -> ChatRequest:
    """Return the request for steps: greedy, so that asking again gives the same if the model is
    deterministic. Where a judge's replies have room for a thought, so has this reply."""
    return ChatRequest(
        model=settings.model,
        prompt=steps_prompt(parts),
        temperature=None if settings.temperature is None else 0.0,
        max_tokens=max(STEPS_MAX_TOKENS, settings.max_tokens),
        length_parameter=settings.length_parameter,
        options=settings.options,
    )
