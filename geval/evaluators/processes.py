"""A process that scores: it loads an evaluator once, receives chunks of items and returns outcomes.
No Django, no database.

Both ends exchange JSON, preceded by its length, over the process's standard input and output: what
a package that scores answers is data to its worker. The process ends when its input ends, so a
killed worker leaves no process behind.
"""

import asyncio
import json
import os
import struct
import sys
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import IO, Any

from pydantic import TypeAdapter

from geval.evaluators.base import Corpus, EvaluatorError, Item, LocalEvaluator, Outcome
from geval.evaluators.registry import make_local
from geval.llm.child_environment import passed_on
from geval.llm.parsing import Failure, Reason

LENGTH = struct.Struct(">Q")
_OUTCOMES = TypeAdapter[list[Outcome] | str](list[Outcome] | str)
_ITEMS = TypeAdapter(list[Item])
_CORPUS = TypeAdapter(Corpus | None)


class ScoringProcess:
    """The worker's end: start the process, request scores, stop it."""

    def __init__(self, process: asyncio.subprocess.Process, title: str) -> None:
        self.process = process
        self.title = title

    @classmethod
    async def start(cls, evaluator: LocalEvaluator, corpus: Corpus | None) -> "ScoringProcess":
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            env=passed_on(os.environ),
        )  # fmt: skip
        started = cls(process, evaluator.title)
        # Names in JSON are texts, not pairs of them.
        scores = list(corpus.scores.items()) if corpus else []
        plain = replace(corpus, scores={}) if corpus else None
        settings = evaluator.settings.model_dump(mode="json")
        await started._send((evaluator.kind, settings, plain, scores))
        return started

    async def score(self, items: Sequence[Item]) -> list[Outcome]:
        """Return the outcome of each item.

        Raises:
            EvaluatorError: the evaluator cannot be loaded, or its process ended.
        """
        try:
            await self._send(list(items))
            assert self.process.stdout is not None
            (length,) = LENGTH.unpack(await self.process.stdout.readexactly(LENGTH.size))
            values = _OUTCOMES.validate_python(
                json.loads(await self.process.stdout.readexactly(length))
            )
            if not isinstance(values, str) and len(values) != len(items):
                raise ValueError("not an outcome for each item")
        except (ValueError, RecursionError):
            raise EvaluatorError(f"A process of {self.title} sent no outcomes.") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise EvaluatorError(
                f"A process of {self.title} ended before its time; it may have run out of memory."
                " Go on, or set GEVAL_EVALUATOR_PROCESSES to a smaller number first."
            ) from None
        if isinstance(values, str):
            raise EvaluatorError(values)
        return values

    async def stop(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def _send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(_packed(message))
        await self.process.stdin.drain()


def _packed(message: Any) -> bytes:
    content = json.dumps(message, default=_plain).encode()
    return LENGTH.pack(len(content)) + content


def _plain(value: Any) -> Any:
    """Return the fields of a dataclass, and the Python number of one of NumPy's."""
    if is_dataclass(value):
        return {entry.name: getattr(value, entry.name) for entry in fields(value)}
    return value.item()


# Within the process


def main() -> None:
    """Load the evaluator that the first message names, then answer every chunk until the input
    ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(
        sys.stderr.fileno(), sys.stdout.fileno()
    )  # what packages print must not mix with the answers
    kind, given, plain, scores = _received(sys.stdin.buffer)
    corpus = _CORPUS.validate_python(
        plain and plain | {"scores": {tuple(key): of_key for key, of_key in scores}}
    )
    evaluator, problem = _loaded(kind, given, corpus)
    while (items := _received(sys.stdin.buffer)) is not None:
        answers.write(_packed(_answer(evaluator, problem, _ITEMS.validate_python(items))))
        answers.flush()


def _received(stream: IO[bytes]) -> Any:
    """Return the next message; None at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return json.loads(stream.read(LENGTH.unpack(head)[0]))


def _loaded(
    kind: str, given: dict[str, Any], corpus: Corpus | None
) -> tuple[LocalEvaluator | None, str]:
    """Return the evaluator, or why it cannot be loaded."""
    try:
        evaluator = make_local(kind, given)
        evaluator.load()
        if corpus is not None:
            evaluator.look(corpus)
    except EvaluatorError as error:
        return None, str(error)
    except Exception as error:
        return None, f"{kind} cannot be loaded: {type(error).__name__}: {error}"
    return evaluator, ""


def _answer(
    evaluator: LocalEvaluator | None, problem: str, items: Sequence[Item]
) -> list[Outcome] | str:
    if evaluator is None:
        return problem
    try:
        return evaluator.score_readable(items)
    except EvaluatorError as error:
        return str(error)
    except Exception:
        # One item must not cost the others their score.
        return [_score_one(evaluator, item) for item in items]


def _score_one(evaluator: LocalEvaluator, item: Item) -> Outcome:
    try:
        return evaluator.score_readable([item])[0]
    except Exception as error:
        return Failure(Reason.EVALUATOR, f"{type(error).__name__}: {error}"[:1000])


if __name__ == "__main__":
    main()
