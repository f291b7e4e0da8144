"""Inputs made for a regular expression, on which it would take long if it could: each loop of it
is fed what it repeats and then something that does not fit, once and from many starts."""

import re
import re._constants as ops  # type: ignore[import-untyped]
import re._parser as parser  # type: ignore[import-untyped]
from collections.abc import Iterable, Iterator
from typing import Any

# Characters of each class that our patterns name; the first that fits stands for a set.
ALPHABET = "a0 \n-_.:/{}<'\"|#\x00"
# What ends an input: it fits nothing, or ends at once.
ENDS = ("\x00", "\n")
MOST_ENDLESS = 20


def inputs_for(pattern: re.Pattern[str], length: int) -> Iterator[str]:
    """Texts of about so many characters, different ones."""
    shown: set[str] = set()
    for start, unit in dict.fromkeys(_loops(parser.parse(pattern.pattern, pattern.flags), "")):
        for text in _of_loop(start, unit, length):
            if text not in shown:
                shown.add(text)
                yield text


def _of_loop(start: str, unit: str, length: int) -> Iterator[str]:
    times = max(1, length // len(unit))
    for end in ENDS:
        yield start + unit * times + end
    both = start + unit
    yield both * max(1, length // len(both)) + "\x00"
    if start:
        half = length // 2
        yield start * max(1, half // len(start)) + unit * max(1, half // len(unit)) + "\x00"
        yield start * max(1, length // len(start))


def _loops(nodes: Iterable[Any], start: str) -> Iterator[tuple[str, str]]:
    """What stands before each endless loop, and what it repeats."""
    for op, argument in nodes:
        if op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            _low, high, body = argument
            if high > MOST_ENDLESS:
                yield from ((start, unit) for unit in _units(body))
            yield from _loops(body, start)
        elif op is ops.BRANCH:
            for branch in argument[1]:
                yield from _loops(branch, start)
        elif op is ops.SUBPATTERN:
            yield from _loops(argument[-1], start)
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            yield from _loops(argument[1], start)
        elif op is ops.ATOMIC_GROUP:
            yield from _loops(argument, start)
        start += _example([(op, argument)])


def _units(body: Any) -> list[str]:
    """What a loop may repeat: of a set each character that is in it."""
    if len(body) == 1 and body[0][0] in (ops.IN, ops.ANY, ops.NOT_LITERAL, ops.LITERAL):
        return _characters(*body[0])
    if len(body) == 1 and body[0][0] is ops.SUBPATTERN:
        return _units(body[0][1][-1])
    if len(body) == 1 and body[0][0] is ops.BRANCH:
        return [unit for branch in body[0][1][1] for unit in _units(branch)]
    example = _example(body, least=1)
    return [example] if example else []


def _characters(op: Any, argument: Any) -> list[str]:
    if op is ops.LITERAL:
        return [chr(argument)]
    if op is ops.ANY:
        return list("a \n")
    if op is ops.NOT_LITERAL:
        return [character for character in ALPHABET if ord(character) != argument]
    characters = [character for character in ALPHABET if _is_in(argument, character)]
    return characters or [
        chr(value if kind is ops.LITERAL else value[0])
        for kind, value in argument
        if kind in (ops.LITERAL, ops.RANGE)
    ]


def _is_in(members: Any, character: str) -> bool:
    is_negated = bool(members) and members[0][0] is ops.NEGATE
    return is_negated != any(_fits(kind, value, character) for kind, value in members)


def _fits(kind: Any, value: Any, character: str) -> bool:
    if kind is ops.LITERAL:
        return bool(ord(character) == value)
    if kind is ops.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if kind is ops.CATEGORY:
        name = str(value)
        test = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}[name.rpartition("_")[2]]
        return bool(re.match(test, character)) != ("NOT" in name)
    return False


def _example(nodes: Iterable[Any], least: int = 0) -> str:
    """A short text that these nodes match; each loop has at least so many turns."""
    text = ""
    for op, argument in nodes:
        if op in (ops.LITERAL, ops.NOT_LITERAL, ops.IN, ops.ANY):
            text += _characters(op, argument)[0]
        elif op in (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT):
            low, _high, body = argument
            text += _example(body) * max(low, least)
        elif op is ops.BRANCH:
            text += _example(argument[1][0])
        elif op is ops.SUBPATTERN:
            text += _example(argument[-1], least)
        elif op is ops.ATOMIC_GROUP:
            text += _example(argument)
    return text
