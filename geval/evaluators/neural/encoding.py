"""Contextual embeddings of texts, token by token."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from geval.evaluators.base import Item, Outcome
from geval.evaluators.neural.base import by_length
from geval.evaluators.neural.combining import combined
from geval.evaluators.neural.loading import Loaded
from geval.evaluators.references import Reduction, reduced
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored


@dataclass(frozen=True)
class Encoded:
    """A text's tokens with their vectors: `vectors` has shape (requested layers, tokens, size).

    `special` marks tokens that a tokenizer adds, such as [CLS].
    """

    ids: tuple[int, ...]
    special: tuple[bool, ...]
    vectors: Any
    note: str = ""


def encode(
    loaded: Loaded, texts: Sequence[str], what: str, *, layers: Sequence[int], size: int
) -> list[Encoded | Failure]:
    """Encode texts at some layers (0 is the embedding, -1 the last); long texts are cut or failed
    by the limits.

    Equal texts are encoded once.
    """
    import torch

    unique = list(dict.fromkeys(texts))
    rows = [loaded.limits.fitted(loaded.tokenizer(text)["input_ids"], what) for text in unique]
    fitting = [(ids, note) for row in rows if not isinstance(row, Failure) for ids, note in [row]]

    def run(batch: list[tuple[list[int], str]]) -> list[Encoded]:
        ids, mask = padded([ids for ids, _ in batch], loaded)
        with torch.inference_mode():
            states = loaded.model(
                input_ids=ids, attention_mask=mask, output_hidden_states=True
            ).hidden_states
        stacked = torch.stack([states[layer] for layer in layers], dim=1).float().cpu()
        return [
            Encoded(tuple(own), special_mask(loaded, own), stacked[index, :, : len(own)], note)
            for index, (own, note) in enumerate(batch)
        ]

    encoded = iter(by_length(fitting, size, length=lambda row: len(row[0]), work=run))
    by_text = {
        text: row if isinstance(row, Failure) else next(encoded)
        for text, row in zip(unique, rows, strict=True)
    }
    return [by_text[text] for text in texts]


def padded(rows: Sequence[Sequence[int]], loaded: Loaded) -> tuple[Any, Any]:
    """Return ids and attention mask as tensors on the device, padded on the right."""
    import torch

    longest = max(len(row) for row in rows)
    pad = loaded.tokenizer.pad_token_id or 0
    ids = torch.full((len(rows), longest), pad, dtype=torch.long)
    mask = torch.zeros((len(rows), longest), dtype=torch.long)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = torch.tensor(list(row))
        mask[index, : len(row)] = 1
    return ids.to(loaded.device), mask.to(loaded.device)


def special_mask(loaded: Loaded, ids: Sequence[int]) -> tuple[bool, ...]:
    special = set(loaded.tokenizer.all_special_ids)
    return tuple(token in special for token in ids)


def compared(
    loaded: Loaded,
    items: Sequence[Item],
    against: Literal["source", "references"],
    pair: Callable[[Encoded, Encoded], float | Failure],
    *,
    layers: Sequence[int],
    size: int,
    references: Reduction,
    what: str = "",
) -> list[Outcome]:
    """Compare each output with its source, or with each of its references, of which the best or the
    mean counts.

    Args:
        pair: computes the score of an output and another text; called only where both fit the
            model.
        what: the name of the other text in messages, if not `against`.
    """
    others = [
        (
            [item.texts.source]
            if against == "source"
            else [reference for reference in item.texts.references if reference.strip()]
        )
        for item in items
    ]
    outputs = encode(
        loaded, [item.texts.output for item in items], "output", layers=layers, size=size
    )
    flat = iter(
        encode(
            loaded,
            [text for listed in others for text in listed],
            what or against,
            layers=layers,
            size=size,
        )
    )
    return [
        combined(
            [_compared_pair(output, next(flat), pair) for _ in listed],
            lambda values: reduced(values, references),
        )
        for output, listed in zip(outputs, others, strict=True)
    ]


def _compared_pair(
    output: Encoded | Failure,
    other: Encoded | Failure,
    pair: Callable[[Encoded, Encoded], float | Failure],
) -> Outcome:
    if isinstance(output, Failure):
        return output
    if isinstance(other, Failure):
        return other
    value = pair(output, other)
    if isinstance(value, Failure):
        return value
    return Scored.plain(value, " ".join(note for note in (output.note, other.note) if note))
