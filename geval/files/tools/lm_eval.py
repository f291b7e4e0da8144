"""Samples that lm-evaluation-harness logs (`--log_samples`): one object per request."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings

TITLE = "samples of lm-evaluation-harness"
MARKS = ("resps",)
JUDGE = "lm-evaluation-harness"


def knows(record: Mapping[str, Any]) -> bool:
    return "resps" in record and "arguments" in record and isinstance(record.get("doc"), dict)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the prompt, the first response after filters, and the target; nothing for multiple
    choice, whose responses are likelihoods."""
    filtered, responses = record["filtered_resps"].value, record["resps"].value
    output = _first_text(filtered) or _first_text(responses)
    prompt = _prompt(record["arguments"].value)
    if output is None:
        record.note_unused("records without a text to rate")
        return
    output_ratings = OutputRatings()
    for metric in record["metrics"].listed():
        name = metric.name()
        output_ratings.score(name, JUDGE, record[name])
    target, task, number = record["target"].value, record["task"].value, record["doc_id"].value
    for unused in ("doc", "doc_hash", "prompt_hash", "target_hash", "filter"):
        record[unused].skip()
    yield {
        "doc_id": f"{task} {number}" if task else number,
        "source": prompt,
        "output": output,
        "references": str(target) if target not in (None, "") else None,
        "system_id": record["model"].value,
        **output_ratings.columns,
    }


def _first_text(value: Any) -> str | None:
    """Return the first text in nested lists."""
    while isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else None


def _prompt(arguments: Any) -> Any:
    """Return the prompt of the first request: older versions write lists, newer ones objects."""
    if isinstance(arguments, dict):
        first = arguments.get("gen_args_0")
        return first.get("arg_0") if isinstance(first, dict) else None
    return _first_text(arguments)
