"""Convert rows of files to the outputs that a judge reads."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from geval.files.rows import ConversationRow, OutputRow, Row
from geval.llm.item_texts import Texts
from geval.measuring.inputs import InputError
from geval.measuring.reading import NO_SOURCE
from geval.texts.turns import Turn, turns_from


@dataclass(frozen=True)
class JudgedOutput:
    """A system's output on a document. `document` is the document's name in the row, or its
    text; `repeat` counts how often the model is asked about it, "" where that is once."""

    document: str
    system: str
    texts: Texts
    repeat: str = ""


def outputs_of(rows: Iterable[Row]) -> list[JudgedOutput]:
    """Return the outputs in rows, in order, without repetitions.

    Raises:
        InputError: there are none, or a system has two texts on a document.
    """
    outputs: dict[tuple[str, str], JudgedOutput] = {}
    conversations: dict[str, tuple[Turn, ...]] = {}
    for row in rows:
        if isinstance(row, ConversationRow):
            conversations[row.digest] = turns_from(json.loads(row.turns))
        if not isinstance(row, OutputRow):
            continue
        around = conversations.get(row.conversation, ())
        output = JudgedOutput(row.doc_id or row.source, row.system_id, _texts_of(row, around))
        earlier = outputs.setdefault((output.document, output.system), output)
        if earlier != output:
            raise InputError(
                f"Row {row.line}: there are two different outputs of {output.system!r} on"
                f" {output.document[:80]!r}. Name what tells them apart: document=… and system=…."
            )
    if not outputs:
        raise InputError(
            "There are no outputs in this. Name the column that has them: output=…, and the one"
            " with what they were written about, if there is such: text=…."
        )
    return list(outputs.values())


def _texts_of(row: OutputRow, around: tuple[Turn, ...]) -> Texts:
    return Texts(
        "" if row.source == NO_SOURCE else row.source,
        row.output,
        row.context,
        row.references,
        history=around[: row.turns_before],
        turns=turns_from(json.loads(row.turns)) if row.turns else (),
    )
