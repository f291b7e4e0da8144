"""Samples that lm-evaluation-harness logs (`--log_samples`): one object per request and filter."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings, points_of

TITLE = "samples of lm-evaluation-harness"
MARKS = ("resps",)
JUDGE = "lm-evaluation-harness"
NO_FILTER = ("", "none")
_KNOWN = ("doc", "doc_id", "doc_hash", "prompt_hash", "target_hash", "target", "task", "model",
          "arguments", "resps", "filtered_resps", "filter", "metrics")  # fmt: skip


def knows(record: Mapping[str, Any]) -> bool:
    return "resps" in record and "arguments" in record and isinstance(record.get("doc"), dict)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield the prompt, the first response as the model wrote it, and the target; nothing for
    multiple choice, whose responses are likelihoods. What a filter left of the response is
    metadata, and each filter's scores have its name."""
    output = _first_text(record["resps"].value)
    prompt = _prompt(record["arguments"].value)
    if output is None:
        record.note_unused("records without a text to rate")
        return
    target, task, number = record["target"].value, record["task"].value, record["doc_id"].value
    document = f"{task} {number}" if task else number
    filter_ = _filter(record, document)
    named = f" ({filter_})" if filter_ else ""
    output_ratings = OutputRatings()
    for name in _metrics(record):
        output_ratings.score(f"{name}{named}", JUDGE, record[name])
    filtered = _first_text(record["filtered_resps"].value)
    for unused in ("doc", "doc_hash", "prompt_hash", "target_hash"):
        record[unused].skip()
    yield {
        "doc_id": document,
        "source": prompt,
        "output": output,
        "references": str(target) if target not in (None, "") else None,
        "system_id": record["model"].value,
        **({f"metadata.filtered{named}": filtered} if _is_news(filtered, output) else {}),
        **output_ratings.columns,
    }


def _filter(record: Part, document: Any) -> str:
    """Return the name of the filter; older versions write none, so that a sample's second line is
    known by its number alone."""
    number = record.reading.number_of(TITLE, document)
    name = record["filter"].name()
    if name or number == 1:
        return "" if name in NO_FILTER else name
    return f"filter {number}"


def _is_news(filtered: str | None, output: str) -> bool:
    return filtered is not None and filtered.strip() != output.strip()


def _metrics(record: Part) -> list[str]:
    """Return the fields with scores: those that are named, or, in older versions, all numbers."""
    if record["metrics"].holds:
        return [metric.name() for metric in record["metrics"].listed()]
    others = (name for name in record.reading.record if name not in _KNOWN)
    return [name for name in others if points_of(record[name].given) is not None]


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
