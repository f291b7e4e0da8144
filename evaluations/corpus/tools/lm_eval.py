"""Samples that lm-evaluation-harness logs (`--log_samples`): one object per request."""

from collections.abc import Mapping
from typing import Any

TITLE = "samples of lm-evaluation-harness"


def knows(record: Mapping[str, Any]) -> bool:
    return "resps" in record and "arguments" in record and isinstance(record.get("doc"), dict)


def read(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The prompt, the first response after filters, and the target; None for multiple choice,
    whose responses are likelihoods."""
    output = _first_text(record.get("filtered_resps")) or _first_text(record["resps"])
    prompt = _prompt(record["arguments"])
    if output is None:
        return None
    found = {
        "doc_id": f"{record['task']} {record['doc_id']}"
        if record.get("task")
        else record.get("doc_id"),
        "source": prompt,
        "output": output,
        "references": str(record["target"]) if record.get("target") not in (None, "") else None,
        "system_id": record.get("model"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _first_text(value: Any) -> str | None:
    """The first text in nested lists."""
    while isinstance(value, list) and value:
        value = value[0]
    return value if isinstance(value, str) else None


def _prompt(arguments: Any) -> Any:
    """The prompt of the first request: older versions write lists, newer ones objects."""
    if isinstance(arguments, dict):
        first = arguments.get("gen_args_0")
        return first.get("arg_0") if isinstance(first, dict) else None
    return _first_text(arguments)
