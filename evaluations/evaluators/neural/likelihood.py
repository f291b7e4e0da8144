"""How likely an encoder-decoder model finds one text given another: mean log-probability of its
tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluations.evaluators.neural.base import by_length
from evaluations.evaluators.neural.encoding import padded
from evaluations.evaluators.neural.loading import Loaded
from evaluations.llm.parsing import Failure
from evaluations.llm.scoring import Scored


@dataclass(frozen=True)
class Given:
    """A text to be scored, and the text it is conditioned on; names for messages."""

    before: str
    text: str
    before_name: str = "source"
    text_name: str = "output"


def conditional_log_likelihood(
    loaded: Loaded, pairs: Sequence[Given], *, size: int
) -> list[Scored | Failure]:
    """(1 / m) * sum over the m tokens of a text of log p(token | tokens before it, the given text).

    All tokens that the tokenizer makes of the text count, marks of its beginning and end included,
    as in BARTScore's release.
    """
    rows = [_row(loaded, pair) for pair in pairs]
    known = [row for row in rows if not isinstance(row, Failure)]
    values = iter(
        by_length(
            known,
            size,
            length=lambda row: len(row[0]) + len(row[1]),
            work=lambda batch: _log_likelihoods(loaded, batch),
        )
    )
    return [row if isinstance(row, Failure) else Scored.plain(next(values), row[2]) for row in rows]


def _row(loaded: Loaded, pair: Given) -> tuple[list[int], list[int], str] | Failure:
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
