"""The stand-in's switches as command-line options."""

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tests.standin.leaning import LEANINGS
from tests.standin.server import Switches

HELP = {
    "latency": "seconds before each answer",
    "rate_limit_rate": "share of calls answered with 429",
    "retry_after": "seconds named in Retry-After",
    "error_rate": "share of calls answered with 500",
    "refusal_rate": "share of replies that refuse",
    "unparseable_rate": "share of replies without a rating",
    "hang_rate": "share of calls never answered",
    "requests_per_minute": "limit on calls per minute; 0 for none",
    "requests_per_second": "rate of a token bucket that limits calls; 0 for none",
    "burst": "calls that the token bucket holds; 0 for those of a second",
    "limit_headers": "which replies name the token bucket's limits: all, refused or none",
    "calls_at_once": "calls that it answers at once; others get 503; 0 for any number",
    "quota": "calls until the account is out of credit; 0 for no quota",
    "quota_seconds": "seconds until the quota is renewed",
    "ignores_n": "return one choice, whatever n is",
    "most_choices": "largest n that it takes",
    "most_alternatives": "largest top_logprobs that it takes",
    "without_top_p": "refuse top_p",
    "without_logprobs": "leave log-probabilities out",
    "ignores_schema": "take a JSON schema and do nothing about it",
    "context_tokens": "longest prompt in tokens",
    "batch_seconds": "seconds until a batch is done",
    "only_max_completion_tokens": (
        "refuse max_tokens and temperatures other than 1, like reasoning models"
    ),
    "only_model": "the only model that exists; empty for any",
    "api_key": "key that callers must send",
    "leaning": "a planted defect of its ratings; empty for none",
}

CHOICES = {"limit_headers": ("all", "refused", "none"), "leaning": LEANINGS}


def add_switches(parser: ArgumentParser) -> None:
    """Add an option for each switch."""
    for switch in fields(Switches):
        option = f"--{switch.name.replace('_', '-')}"
        if switch.type is bool:
            parser.add_argument(option, action="store_true", help=HELP[switch.name])
        else:
            parser.add_argument(
                option,
                type=switch.type,
                default=switch.default,
                choices=CHOICES.get(switch.name),
                help=HELP[switch.name],
            )


def switches_in(options: Mapping[str, Any]) -> Switches:
    """Return the switches that options set."""
    return Switches(**{switch.name: options[switch.name] for switch in fields(Switches)})
