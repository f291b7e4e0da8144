"""Results of promptfoo: one per test, prompt and provider, with the scores of assertions."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.fields import as_text
from geval.files.tools.columns import named_columns
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OVERALL, OutputRatings

TITLE = "promptfoo's results"
MARKS = ("vars",)
HOLDER, SHARED = "results", ("prompts",)
JUDGE, PERSON = "promptfoo", "promptfoo user"
ONLY = "score"
# How promptfoo marks a result without an answer; failed assertions are another number.
NO_ANSWER = 2


def knows(record: Mapping[str, Any]) -> bool:
    has_more = any(name in record for name in ("response", "prompt", "provider", "gradingResult"))
    return isinstance(record.get("vars"), dict) and has_more


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield an output; the test's variables are its document, or the prompt's text if none has a
    usual name."""
    columns = named_columns(record["vars"])
    output = record["response"]
    output = output["output"] if isinstance(output.given, dict) else output
    is_failure = record["failureReason"].value == NO_ANSWER
    if is_failure or (not output.holds and record["error"].holds):
        record.note_unused("results with an error")
        return
    output_ratings = OutputRatings()
    for name, score in record["namedScores"].items():
        output_ratings.score(name, JUDGE, score)
    grading = record["gradingResult"]
    output_ratings.score(
        ONLY, JUDGE, record["score"] if record["score"].holds else grading["score"]
    )
    if isinstance(grading.given, dict):
        grading["score"].skip()
        for part in grading["componentResults"].objects():
            if part.at("assertion", "type").given == "human":
                output_ratings.rating(OVERALL, PERSON, part["score"])
                part.skip()
        for unused in ("pass", "namedScores"):
            grading[unused].skip()
    prompt = record["prompt"]
    raw = prompt["raw"] if isinstance(prompt.given, dict) else prompt
    provider = record["provider"]
    if isinstance(provider.given, dict):
        provider = provider.first("label", "id")
    system = columns.pop("system_id", "") or provider.name()
    number = _prompt_number(record, provider.name())
    if "source" not in columns:
        columns["source"] = raw.value
    elif number > 1:
        system = f"{system}, prompt {number}"
    for unused in ("id", "testIdx", "success", "promptId"):
        record[unused].skip()
    if columns["source"] is None:
        record["prompt"].error("expected the prompt's text (raw), found nothing")
    value = output.value
    yield {
        **columns,
        "system_id": system,
        "output": value if value is None or isinstance(value, str) else as_text(value),
        **output_ratings.columns,
    }


def _prompt_number(record: Part, provider: str) -> int:
    """Return the number of a result's prompt, from 1: among its provider's, where the file lists
    all prompts of all providers."""
    index, prompts = record["promptIdx"].value, record["prompts"].value
    if not isinstance(index, int):
        return 1
    if not isinstance(prompts, list) or index >= len(prompts):
        return index + 1
    return 1 + [prompt.get("provider") for prompt in prompts[:index]].count(provider)
