"""The likelihood of a text given another: log-probabilities of its tokens, by an encoder-decoder
model, or by a causal model that reads both as one text."""

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from geval.evaluators.neural.base import by_length
from geval.evaluators.neural.encoding import padded
from geval.evaluators.neural.loading import Loaded
from geval.llm.parsing import Failure
from geval.llm.scoring import Scored


@dataclass(frozen=True)
class ConditionedText:
    """A text to be scored, and the text that it is conditioned on, with their names for
    messages."""

    before: str
    text: str
    before_name: str = "source"
    text_name: str = "output"


def conditional_log_likelihood(
    loaded: Loaded, pairs: Sequence[ConditionedText], *, size: int
) -> list[Scored | Failure]:
    """(1 / m) * sum over the m tokens of a text of log p(token | tokens before it, the given text).

    All tokens that the tokenizer produces count, including begin and end tokens, as in BARTScore's
    release.
    """
    rows = [_row(loaded, pair) for pair in pairs]
    tokens = [row for row in rows if not isinstance(row, Failure)]
    values = iter(
        by_length(
            tokens,
            size,
            length=lambda row: len(row[0]) + len(row[1]),
            work=lambda batch: _log_likelihoods(loaded, batch),
        )
    )
    return [row if isinstance(row, Failure) else Scored.plain(next(values), row[2]) for row in rows]


def _row(loaded: Loaded, pair: ConditionedText) -> tuple[list[int], list[int], str] | Failure:
    source = loaded.limits.fitted(loaded.tokenizer(pair.before)["input_ids"], pair.before_name)
    target = loaded.limits.fitted(
        loaded.tokenizer(text_target=pair.text)["input_ids"], pair.text_name
    )
    if isinstance(source, Failure):
        return source
    if isinstance(target, Failure):
        return target
    return source[0], target[0], " ".join(note for note in (source[1], target[1]) if note)


def _log_likelihoods(
    loaded: Loaded, batch: Sequence[tuple[list[int], list[int], str]]
) -> list[float]:
    import torch

    sources, mask = padded([source for source, _, _ in batch], loaded)
    targets, counted = padded([target for _, target, _ in batch], loaded)
    with torch.inference_mode():
        logits: Any = loaded.model(input_ids=sources, attention_mask=mask, labels=targets).logits
        chosen = (
            torch.log_softmax(logits.float(), dim=-1).gather(2, targets.unsqueeze(2)).squeeze(2)
        )
    means: list[float] = ((chosen * counted).sum(dim=1) / counted.sum(dim=1)).cpu().tolist()
    return means


@dataclass(frozen=True)
class Continuation:
    """Token ids whose log-probabilities count from `start` on, which is at least 1: nothing
    precedes the first token."""

    ids: list[int]
    start: int
    note: str = ""


def continuation_log_likelihoods(
    loaded: Loaded, rows: Sequence[Continuation], *, size: int
) -> list[float]:
    """sum over t >= start of log p(token t | tokens before it), by a causal model."""
    return by_length(
        rows,
        size,
        length=lambda row: len(row.ids),
        work=lambda batch: _continued(loaded, batch),
    )


def _continued(loaded: Loaded, batch: Sequence[Continuation]) -> list[float]:
    import torch

    ids, mask = padded([row.ids for row in batch], loaded)
    # Logits of a large vocabulary take the most memory: compute only those that count, if the model
    # can skip the others.
    last = ids.shape[1] - min(row.start for row in batch) + 1
    part = {}
    if "logits_to_keep" in inspect.signature(loaded.model.forward).parameters:
        part = {"logits_to_keep": last}
    with torch.inference_mode():
        logits: Any = loaded.model(input_ids=ids, attention_mask=mask, **part).logits[:, -last:]
        first = ids.shape[1] - logits.shape[1]
        shares = torch.log_softmax(logits[:, :-1].float(), dim=-1)
        chosen = shares.gather(2, ids[:, first + 1 :].unsqueeze(2)).squeeze(2).cpu()
    return [
        float(chosen[index, row.start - 1 - first : len(row.ids) - 1 - first].double().sum())
        for index, row in enumerate(batch)
    ]
