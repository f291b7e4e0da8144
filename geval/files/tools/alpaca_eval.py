"""Annotations of AlpacaEval: two outputs for an instruction, and which a judge prefers."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.fields import number_of
from geval.files.rows import name_of_source
from geval.files.tools.parts import Part

TITLE = "annotations of AlpacaEval"
MARKS = ("output_1",)
JUDGE = "AlpacaEval annotator"
# What is known of a call, not of its answer.
_OF_CALLS = ("raw_completion", "time_per_example", "price_per_example", "date", "version")


def knows(record: Mapping[str, Any]) -> bool:
    return {"instruction", "output_1", "output_2", "preference"} <= record.keys()


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield both outputs, and the preference: 1 for the first, 2 for the second, 1.5 for a tie; any
    other number between is the probability of the second, plus 1."""
    record["dataset"].skip()
    for name in _OF_CALLS:
        record[name].skip()
        record[f"preference_{name}"].skip()
    source = record["instruction"].text() or ""
    document = name_of_source(source)
    systems = [record[f"generator_{n}"].name() or f"generator {n}" for n in (1, 2)]
    for number, system in enumerate(systems, start=1):
        output = record[f"output_{number}"].text()
        yield {"doc_id": document, "system_id": system, "source": source, "output": output}
    preference = record["preference"]
    value = number_of(preference.value)
    judge = record["annotator"].name() or JUDGE
    if value is None or not 1 <= value <= 2:
        preference.note_unused("preferences without a choice between 1 and 2")
        return
    if systems[0] == systems[1]:
        preference.note_unused("preferences between two outputs of one system")
        return
    yield {
        "doc_id": document,
        "system_a": systems[0],
        "system_b": systems[1],
        "judge": judge,
        "share": 2 - value,
    }
