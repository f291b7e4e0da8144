"""Probabilities of a classifier's labels for pairs of texts."""

from collections.abc import Sequence
from typing import Any

from geval.evaluators.base import EvaluatorError
from geval.evaluators.neural.base import by_length
from geval.evaluators.neural.encoding import padded
from geval.evaluators.neural.loading import Loaded
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored


def label_probability(
    loaded: Loaded, pairs: Sequence[tuple[str, str]], label: int, what: str, *, size: int
) -> list[Scored | Failure]:
    """Return the probability of a label for each (first text, second text)."""
    import torch

    rows = [loaded.limits.fitted(loaded.tokenizer(*pair)["input_ids"], what) for pair in pairs]
    types = [loaded.tokenizer(*pair).get("token_type_ids") for pair in pairs]
    tokens = [
        (row[0], kind, row[1])
        for row, kind in zip(rows, types, strict=True)
        if not isinstance(row, Failure)
    ]

    def run(batch: list[tuple[list[int], list[int] | None, str]]) -> list[float]:
        ids, mask = padded([own for own, _, _ in batch], loaded)
        more: dict[str, Any] = {}
        if all(kind is not None for _, kind, _ in batch):
            more["token_type_ids"] = (
                padded([(kind or [])[: len(own)] for own, kind, _ in batch], loaded)[0] * mask
            )
        with torch.inference_mode():
            logits = loaded.model(input_ids=ids, attention_mask=mask, **more).logits
        label_probability: list[float] = (
            torch.softmax(logits.float(), dim=-1)[:, label].cpu().tolist()
        )
        return label_probability

    values = iter(by_length(tokens, size, length=lambda row: len(row[0]), work=run))
    return [row if isinstance(row, Failure) else Scored.plain(next(values), row[1]) for row in rows]


def label_index(config: Any, wanted: str, usual: Sequence[str], title: str) -> int:
    """Return the index of a classifier's label: the one named, or one with a usual name.

    Raises:
        EvaluatorError: there is no such label; the message lists the labels.
    """
    labels = {str(name).lower(): int(index) for index, name in config.id2label.items()}
    if wanted:
        if wanted.lower() not in labels:
            raise EvaluatorError(
                f"{title}: the model has no label {wanted!r} (labels: {', '.join(labels)})."
            )
        return labels[wanted.lower()]
    for name in usual:
        if name in labels:
            return labels[name]
    raise EvaluatorError(
        f"{title}: none of the model's labels ({', '.join(labels)}) is known to mean that; set"
        " label to one."
    )
