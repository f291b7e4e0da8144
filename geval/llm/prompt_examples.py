"""Examples within a prompt, as people rated them: written, read, and left out where they are the
judged document's. Pure.

Blocks are looked for from mark to mark, so reading takes a time that grows with the text only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from geval.llm.delimiting import has_tag
from geval.llm.item_texts import Texts
from geval.llm.nearest import by_likeness

EXAMPLES_HEADING = "Examples, rated by people:"
# Of an example's texts; the rest is cut.
LONGEST_EXAMPLE = 3_000
_OPENING, _BETWEEN = "<example>\n<source>\n", "\n</source>\n<text>\n"
_RATING = re.compile(r"\n</text>\nRating: [^\n]*\n</example>")
_POOL_OPENING = re.compile(r'<nearest count="(?P<count>\d{1,6})">\n')
_POOL_END = "\n</nearest>"
# What would end an example, or open another, inside its texts.
EXAMPLE_TAGS = frozenset({"example", "source", "text", "nearest"})


@dataclass(frozen=True)
class Example:
    """A block that stands in a text from `start` to `end`, blank lines behind it included."""

    source: str
    output: str
    block: str
    start: int
    end: int

    def is_of(self, texts: Texts) -> bool:
        """Whether it is from the document of some texts."""
        if self.source:
            return self.source == _cut(texts.source)
        return self.output == _cut(texts.output)


@dataclass(frozen=True)
class _Pool:
    """Examples of which `count` are shown, from `start` to `end` of a template."""

    count: int
    examples: list[Example]
    start: int
    end: int


def has_delimiter(text: str) -> bool:
    """Whether a text could pass for the end of an example, and so forge a rating."""
    return has_tag(text, EXAMPLE_TAGS)


def example_block(source: str, output: str, rating: str) -> str:
    """An example for a prompt, as people rated it."""
    return (
        f"{_OPENING}{_cut(source)}{_BETWEEN}{_cut(output)}\n</text>\nRating: {rating}\n</example>"
    )


def pool_block(examples: str, nearest: int) -> str:
    """Examples as a template holds them: those to choose from are marked."""
    shown = examples.strip()
    return f'<nearest count="{nearest}">\n{shown}{_POOL_END}' if nearest else shown


def read_examples(text: str) -> Iterator[Example]:
    """The examples of a prompt, or of a part of one, in order."""
    start = text.find(_OPENING)
    while start >= 0:
        source = start + len(_OPENING)
        between = text.find(_BETWEEN, source)
        rating = _RATING.search(text, between + len(_BETWEEN)) if between >= 0 else None
        if rating is None:
            return
        end = rating.end()
        while text.startswith("\n", end):
            end += 1
        output = text[between + len(_BETWEEN) : rating.start()]
        yield Example(text[source:between], output, text[start : rating.end()], start, end)
        start = text.find(_OPENING, end)


def longest_filled(template: str) -> int:
    """How many characters a template has at most before texts are put in: of a pool it counts the
    longest examples, as many as are shown."""
    pool = _pool_in(template)
    if pool is None:
        return len(template)
    longest = sorted((len(example.block) for example in pool.examples), reverse=True)
    return len(template) - (pool.end - pool.start) + sum(longest[: pool.count])


def with_its_examples(template: str, texts: Texts) -> str:
    """A template without the examples that are from the judged document: nobody shows a judge what
    people gave to it. Of a pool the nearest are left, the nearest one last."""
    if EXAMPLES_HEADING not in template:
        return template
    if pool := _pool_in(template):
        chosen = _nearest(pool, texts)
        return f"{template[: pool.start]}{chosen}{template[pool.end :]}"
    parts, end = [], 0
    for example in read_examples(template):
        if example.is_of(texts):
            parts.append(template[end : example.start])
            end = example.end
    return "".join([*parts, template[end:]])


def _nearest(pool: _Pool, texts: Texts) -> str:
    contents = tuple(f"{example.source}\n{example.output}" for example in pool.examples)
    order = by_likeness(contents, f"{_cut(texts.source)}\n{_cut(texts.output)}")
    others = [
        pool.examples[place].block for place in order if not pool.examples[place].is_of(texts)
    ]
    return "\n\n".join(reversed(others[: pool.count]))


def _pool_in(template: str) -> _Pool | None:
    opening = _POOL_OPENING.search(template)
    # To the last mark, as an example may hold anything.
    end = template.rfind(_POOL_END, opening.end()) if opening else -1
    if opening is None or end < 0:
        return None
    examples = list(read_examples(template[opening.end() : end]))
    return _Pool(int(opening["count"]), examples, opening.start(), end + len(_POOL_END))


def _cut(text: str) -> str:
    return text.strip()[:LONGEST_EXAMPLE].strip()
