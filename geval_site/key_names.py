"""Endpoint keys are read only from environment variables that the operator lists."""

import re
from collections.abc import Iterable

from django.core.exceptions import ImproperlyConfigured

# In local mode these are assumed to be for LLM servers, so they need no setting.
WELL_KNOWN = (
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "CEREBRAS_API_KEY",
    "COHERE_API_KEY",
    "DEEPINFRA_API_KEY",
    "DEEPSEEK_API_KEY",
    "FIREWORKS_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "HF_TOKEN",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENROUTER_API_KEY",
    "PERPLEXITY_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
)
# Variables of the site, its database and its processes. A user's endpoint never gets them, even
# with a wrong setting.
_OWN = re.compile(
    r"(GEVAL|CELERY|DJANGO|PG|POSTGRES|PYTHON|LD|GUNICORN)(_.*)?|PG[A-Z]+|PYTHON[A-Z]+|DATABASE_URL|SECRET_KEY"
    r"|PATH|HOME|USER|SHELL|PWD|HOSTNAME",
    re.I,
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# The pattern of variables with keys of LLM servers that are not well known. Passwords, addresses
# and secrets of other services are in the same environment, and no list of their names could be
# complete.
_OF_AN_LLM = re.compile(r"\w*(API|LLM)_?(KEY|TOKEN)", re.I)


def key_names(listed: Iterable[str]) -> frozenset[str]:
    """Return the names in `GEVAL_ENDPOINT_KEYS`.

    Raises:
        ImproperlyConfigured: a name is invalid, is a variable that the site itself uses, or does
            not look like that of an LLM server's key.
    """
    names = frozenset(listed)
    for name in sorted(names):
        if not _NAME.fullmatch(name):
            raise ImproperlyConfigured(
                f"GEVAL_ENDPOINT_KEYS has {name!r}, which is not a variable's name."
            )
        if _OWN.fullmatch(name):
            raise ImproperlyConfigured(
                f"GEVAL_ENDPOINT_KEYS has {name}, which this site itself uses: users could have it "
                "sent to their own server. Remove it, and keep each endpoint's key in a separate "
                "variable."
            )
        if name not in WELL_KNOWN and not _OF_AN_LLM.fullmatch(name):
            raise ImproperlyConfigured(
                f"GEVAL_ENDPOINT_KEYS has {name}, which is not named like an LLM server's key:"
                " users could have it sent to their own server. If it is one, give it to the"
                " workers under a name that ends in _API_KEY or _LLM_KEY, and list that."
            )
    return names


def why_not_allowed(name: str, allowed: Iterable[str]) -> str:
    """Return why an endpoint's key is not read from a variable, and what to do; empty if it may
    be."""
    names = sorted(allowed)
    if not name or name in names:
        return ""
    if _OWN.fullmatch(name):
        return (
            f"{name} is one of this site's own variables, which are never sent to endpoints. Enter "
            "the key itself."
        )
    instead = f"The names allowed here are {', '.join(names)}. " if names else ""
    return (
        f"Keys are not read from the variable {name} on this site. {instead}"
        "Enter the key itself, or ask the administrator to allow the name in GEVAL_ENDPOINT_KEYS."
    )
