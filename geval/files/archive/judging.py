"""Judges, their runs, and the results."""

from pydantic import TypeAdapter

from geval.files.archive.record_file import (
    TO_CRITERION,
    TO_JUDGE,
    TO_OUTPUT,
    TO_RIVAL,
    TO_RIVAL_OUTPUT,
    TO_RUN,
    Halted,
    RecordFile,
    Ref,
    Row,
    WrongValueError,
    same,
)
from geval.files.archive.shapes import NAMED_VALUES, Entries, Share, StoredChoice, Text
from geval.llm.addresses import ForbiddenAddressError, check_address
from geval.llm.request_options import StoredOptions
from geval.llm.run_parameters import RunParameters


def _prices_are_numbers(row: Row) -> None:
    try:
        RunParameters.from_json(row["parameters"])
    except (TypeError, ValueError, ArithmeticError):
        raise WrongValueError("parameters: a price is not a number") from None


def _address_is_allowed(row: Row) -> None:
    try:
        # Private networks are checked when the endpoint is called.
        check_address(row["base_url"], allow_private=True)
    except (ForbiddenAddressError, ValueError) as error:
        raise WrongValueError(f"base_url: {error}") from None


JUDGING = (
    RecordFile(
        "endpoints",
        {"name": "endpoint"}
        | same("base_url api_version key_env requests_per_minute tokens_per_minute")
        | same("parallel_calls retired_at"),
        key=("endpoint",),
        later={"parallel_calls": None},
        rule=_address_is_allowed,
    ),
    RecordFile(
        "judges",
        {"name": "judge"}
        | {"endpoint_id": Ref("endpoints", ("endpoint",))}
        | same("version kind settings model family mode samples temperature use_steps concurrency")
        | same("max_tokens timeout_seconds min_coverage request_options price_in price_out")
        | same("price_cached length_parameter sends_temperature created_at retired_at"),
        key=("judge", "version"),
        json={
            "settings": NAMED_VALUES,
            "request_options": TypeAdapter(StoredOptions),
        },
        later={"min_coverage": 0, "family": "", "request_options": {}, "price_cached": None},
    ),
    RecordFile(
        "runs",
        {"judge_id": TO_JUDGE, "goal_rival_id": TO_RIVAL}
        | same("state message parameters software_version transport budget goal_width calls")
        | same("cache_hits prompt_tokens completion_tokens cached_tokens reasoning_tokens")
        | same("created_at started_at finished_at"),
        key=("run",),
        json={"parameters": TypeAdapter(RunParameters)},
        later={
            "goal_width": None,
            "rival": None,
            "rival_version": None,
            "cached_tokens": 0,
            "reasoning_tokens": 0,
        },
        halted=Halted(("preparing", "running"), "paused", "runs of an archive are paused or over"),
        rule=_prices_are_numbers,
    ),
    RecordFile(
        "prompts",
        same("template")
        | {
            "run_id": TO_RUN,
            "criterion_id": TO_CRITERION,
            "steps_id": Ref("steps", ("criterion", "version")),
        },
    ),
    RecordFile(
        "replies",
        same("request_key choices model request_id prompt_tokens completion_tokens calls seconds")
        | same("created_at removed_at"),
        key=("reply",),
        json={"choices": TypeAdapter(Entries[StoredChoice])},
        later={"removed_at": None},
    ),
    RecordFile(
        "items",
        {
            "run_id": TO_RUN,
            "output_id": TO_OUTPUT,
            "rival_id": TO_RIVAL_OUTPUT,
            "criterion_id": TO_CRITERION,
            "reply_id": Ref("replies", ("reply",)),
        }
        | same("state attempts reason detail"),
        halted=Halted(("leased", "sent"), "pending", "no worker of another site is at it"),
    ),
    RecordFile(
        "scores",
        {"run_id": TO_RUN, "output_id": TO_OUTPUT, "criterion_id": TO_CRITERION}
        | same("value distribution coverage entropy mode note created_at"),
        json={"distribution": TypeAdapter(dict[Text, Share])},
    ),
    RecordFile(
        "pair_scores",
        {
            "run_id": TO_RUN,
            "output_id": TO_OUTPUT,
            "rival_id": TO_RIVAL_OUTPUT,
            "criterion_id": TO_CRITERION,
        }
        | same("value tie left coverage created_at"),
    ),
    RecordFile(
        "gap_causes",
        {"judge_id": TO_JUDGE, "output_id": TO_OUTPUT, "criterion_id": TO_CRITERION}
        | same("cause note given_at")
        | {"given_by_name": "given_by"},
    ),
)
