"""Scenario states of HELM (`scenario_state.json`): the requests of a run with their completions."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.parts import Part

TITLE = "scenario states of HELM"
MARKS = ("instance",)
HOLDER, SHARED = "request_states", ("adapter_spec",)
CORRECT = "correct"


def knows(record: Mapping[str, Any]) -> bool:
    instance = record.get("instance")
    return isinstance(instance, dict) and "input" in instance and "request" in record


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield an instance's input, the first completion, and the correct references.

    Perturbed inputs and other trials are separate documents of one session.
    """
    instance, completion = record["instance"], record.at("result", "completions", 0)
    if not completion["text"].holds:
        record.note_unused("requests without a completion")
        return
    name = instance["id"].name()
    parts = [name]
    if instance["perturbation"].holds:
        parts.append(instance.at("perturbation", "name").name())
    trial = record["train_trial_index"].value
    if isinstance(trial, int) and trial:
        parts.append(f"trial {trial + 1}")
    references = [
        text
        for reference in instance["references"].objects()
        if CORRECT in _tags(reference) and (text := reference.at("output", "text").text())
    ]
    for unused in ("prompt", "model_deployment"):
        record.at("request", unused).skip()
    for unused in ("adapter_spec", "request_mode"):
        record[unused].skip()
    yield {
        "doc_id": ", ".join(filter(None, parts)) if name else "",
        "session_id": name if len(parts) > 1 else "",
        "system_id": record.at("request", "model").name()
        or record.at("adapter_spec", "model").name(),
        "source": instance.at("input", "text").text(),
        "output": completion["text"].text(),
        "references": references,
    }


def _tags(reference: Part) -> list[Any]:
    tags = reference["tags"].value
    return tags if isinstance(tags, list) else []
