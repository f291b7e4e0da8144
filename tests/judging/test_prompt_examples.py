"""Examples of a prompt are read from mark to mark, as a pattern with gaps of any length would read
them, in a time that grows with the text only."""

import re

from hypothesis import given
from hypothesis import strategies as st

from geval.llm.prompt_examples import Example, example_block, longest_filled, read_examples

PATTERN = re.compile(
    r"<example>\n<source>\n(?P<source>.*?)\n</source>\n<text>\n(?P<output>.*?)\n</text>\n"
    r"Rating: [^\n]*\n</example>\n*",
    re.S,
)
PARTS = st.sampled_from(
    [
        "<example>\n", "<source>\n", "\n</source>\n", "<text>\n", "\n</text>\n", "Rating: 3\n",
        "</example>", "\n", "a", "Rating: ", example_block("b", "c", "4"), "\n\n",
    ]
)  # fmt: skip


@given(st.lists(PARTS, max_size=14).map("".join))
def test_blocks_are_read_as_the_shortest_that_fit(text: str) -> None:
    expected = [
        Example(match["source"], match["output"], match[0].rstrip("\n"), *match.span())
        for match in PATTERN.finditer(text)
    ]

    assert list(read_examples(text)) == expected


def test_blocks_that_are_not_closed_are_none() -> None:
    assert list(read_examples("<example>\n<source>\n" * 5_000)) == []
    assert list(read_examples("<example>\n<source>\n\n</source>\n<text>\n" * 5_000)) == []


def test_a_pool_without_its_end_is_text() -> None:
    template = '<nearest count="2">\n' * 5_000

    assert longest_filled(template) == len(template)
