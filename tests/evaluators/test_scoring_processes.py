"""What a process that scores answers is data to its worker, and so is what a process that reads
files sends; neither can have its parent do anything."""

import asyncio
import json
import math
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from geval.evaluators.base import Corpus, EvaluatorError, Item
from geval.evaluators.ensemble import Ensemble
from geval.evaluators.processes import LENGTH, ScoringProcess, _packed
from geval.evaluators.registry import make_local
from geval.files.apart.messages import Ended, packed_message, unpacked_message
from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.scoring import Scored
from geval.texts.turns import ToolCall, Turn

ITEM = Item(Texts("s", "o", turns=(Turn("user", calls=(ToolCall("f", "{}"),)),)))


class Harm:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


def answered(content: bytes, items: int = 1) -> Any:
    """Return what a worker reads from a process that answers with these bytes."""

    async def score() -> Any:
        output = asyncio.StreamReader()
        output.feed_data(LENGTH.pack(len(content)) + content)
        output.feed_eof()

        async def drain() -> None: ...

        written = SimpleNamespace(write=lambda _content: None, drain=drain)
        process = SimpleNamespace(stdin=written, stdout=output)
        return await ScoringProcess(cast(Any, process), "Ours").score([ITEM] * items)

    return asyncio.run(score())


def test_outcomes_come_back_as_they_were() -> None:
    outcomes = [
        Scored(0.1 + 0.2, {1.0: 0.25, 2.5: 0.75}, 0.5, "ä"),
        Scored.plain(cast(float, np.float32(0.5))),
        Scored.plain(cast(float, np.int64(3))),
        Scored.plain(math.inf),
        Failure(Reason.EVALUATOR, "\udcff no".encode("utf-8", "replace").decode()),
    ]

    assert answered(_packed(outcomes)[LENGTH.size :], len(outcomes)) == outcomes
    assert math.isnan(answered(_packed([Scored.plain(math.nan)])[LENGTH.size :])[0].value)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"[1]", b"7", b'[{"value": "much", "distribution": {}}]', b"[" * 100_000,
     b'[{"value": 1, "distribution": {}}, {"value": 1, "distribution": {}}]'],
)  # fmt: skip
def test_an_answer_that_is_no_outcomes_is_an_error(content: bytes) -> None:
    with pytest.raises(EvaluatorError, match="sent no outcomes"):
        answered(content)


def test_a_pickle_from_a_process_does_nothing(tmp_path: Path) -> None:
    harm = pickle.dumps([Harm(tmp_path / "done")])
    evil = [
        harm,
        b"cgeval.files.apart.messages\npickle.loads\n.",
        b"cgeval.files.apart.messages\npacked_message\n.",
        b"cbuiltins\neval\n.",
        b"cgeval.files.apart.reading\nsubprocess\n.",
    ]

    for content in evil:
        with pytest.raises(EOFError, match="is no data"):
            unpacked_message(content)
    with pytest.raises(EvaluatorError, match="sent no outcomes"):
        answered(harm)
    assert not list(tmp_path.iterdir())
    assert unpacked_message(packed_message(Ended("why"))) == Ended("why")


@pytest.mark.processes
def test_a_process_gets_items_and_corpus_whole() -> None:
    asked = [("B c", "d"), ("A", "d")]
    corpus = Corpus(
        scores={pair: {number: float(number) for number in range(40)} for pair in asked},
        ratings={"d": {number: float(number) for number in range(40)}},
        document_of={number: number for number in range(40)},
    )
    judges = make_local("ensemble", {"judges": "B c, A"})
    assert isinstance(judges, Ensemble)
    item = Item(ITEM.texts, criterion="d", output_id=7)
    judges.look(corpus)
    here = judges.score_readable([item])

    async def there() -> Any:
        process = await ScoringProcess.start(judges, corpus)
        try:
            return await process.score([item])
        finally:
            await process.stop()

    assert asyncio.run(there()) == here
    assert isinstance(here[0], Scored)
    assert json.loads(_packed(item)[LENGTH.size :])["texts"]["turns"][0]["role"] == "user"
