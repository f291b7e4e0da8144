"""Logs of Inspect: the samples of an evaluation, with the values of its scorers.

A log is one JSON object with its samples, or a zip (`.eval`) with a file for each
(`geval.files.opening`); both give records of a sample with the evaluation's description.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.exchanges import exchange
from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings

TITLE = "logs of Inspect"
MARKS = ("sample",)
HOLDER, ITEM, SHARED = "samples", "sample", ("eval",)
# How scorers write correct, incorrect, partially correct and no answer.
GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
ATTACHED = "attachment://"


def knows(record: Mapping[str, Any]) -> bool:
    sample = record.get("sample")
    return isinstance(sample, dict) and "input" in sample and isinstance(record.get("eval"), dict)


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield a sample's input, the model's answer and the target; epochs belong to one session."""
    sample = record["sample"]
    about = record["eval"]
    output = sample["output"]
    has_answer = output["choices"].holds or output["completion"].holds
    if sample["error"].holds or not has_answer:
        sample.note_unused("samples that failed or have no answer")
        about.skip()
        return
    output_ratings = OutputRatings()
    for scorer, score in sample["scores"].items():
        _read_score(scorer, score, output_ratings)
    name, epoch = sample["id"].name(), sample["epoch"].value
    target = sample["target"].value
    listed = target if isinstance(target, list) else [target]
    model = output["model"].name() or about["model"].name()
    columns = {
        "doc_id": name,
        "system_id": about["model"].name() or model,
        "references": [text for text in listed if isinstance(text, str) and text],
        **exchange(_attached(sample, sample["input"]), _attached(sample, output)),
        **output_ratings.columns,
    }
    for unused in ("messages", "uuid", "attachments", "summary"):
        sample[unused].skip()
    for unused in ("completion", "stop_reason", "choices"):
        output[unused].skip()
    about.skip()
    if isinstance(epoch, int) and epoch > 1:
        columns |= {"doc_id": f"{name}, epoch {epoch}", "session_id": name}
    yield columns


def _read_score(scorer: str, score: Part, output_ratings: OutputRatings) -> None:
    value = score["value"]
    if isinstance(value.given, dict):
        for name, part in value.items():
            output_ratings.score(name, scorer, _graded(part))
    else:
        output_ratings.score(scorer, scorer, _graded(value))


def _graded(value: Part) -> Part:
    if isinstance(value.given, str) and value.given in GRADES:
        value.skip()
        return Part(value.reading, value.path, GRADES[value.given])
    return value


def _attached(sample: Part, part: Part) -> Part:
    """Return a value, including long texts that a log stores separately."""
    texts = sample["attachments"].given
    if not isinstance(texts, dict) or not texts:
        return part
    return Part(part.reading, part.path, _filled(part.given, texts))


def _filled(value: Any, texts: Mapping[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith(ATTACHED):
        return texts.get(value.removeprefix(ATTACHED), value)
    if isinstance(value, list):
        return [_filled(part, texts) for part in value]
    if isinstance(value, dict):
        return {name: _filled(part, texts) for name, part in value.items()}
    return value
