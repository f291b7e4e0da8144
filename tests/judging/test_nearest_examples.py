"""Of a pool of rated examples each prompt shows those nearest to its text."""

import math
from collections import Counter

from geval.llm.item_texts import Texts
from geval.llm.prompt_examples import by_likeness, example_block, read_examples
from geval.llm.prompts import PromptParts, compose_template, render
from geval.statistics.scales import Scale

POOL = {
    "A ferry left the harbour.": "The ferry left.",
    "The farmer bought a tractor.": "A tractor was bought by the farmer.",
    "Snow fell on the mountain.": "It snowed.",
    "The harbour froze in winter.": "Ice in the harbour.",
}
BLOCKS = [example_block(source, text, "3") for source, text in POOL.items()]


def template(nearest: int, blocks: list[str] = BLOCKS) -> str:
    parts = PromptParts("quality", Scale(1, 5), examples="\n\n".join(blocks), nearest=nearest)
    return compose_template(parts, steps=None)


def shown(source: str, output: str, nearest: int = 2) -> list[str]:
    prompt = render(template(nearest), Texts(source=source, output=output))
    return [example.block for example in read_examples(prompt)]


def test_the_nearest_are_shown_the_nearest_last() -> None:
    prompt = render(template(2), Texts(source="The harbour is old.", output="Ferry or harbour?"))
    assert [example.block for example in read_examples(prompt)] == [BLOCKS[3], BLOCKS[0]]
    assert "<nearest" not in prompt
    assert "</nearest" not in prompt


def test_a_documents_own_example_is_never_among_them() -> None:
    assert BLOCKS[0] not in shown("A ferry left the harbour.", "A ferry, a harbour.")
    assert len(shown("A ferry left the harbour.", "A ferry, a harbour.")) == 2


def test_the_order_is_that_of_bm25() -> None:
    pool = ("the cat sat on the mat", "the dog", "the cat and the dog and the cat", "a mat a mat")
    words = {"cat", "mat", "dog"}
    found = bm25(pool, words)
    expected = sorted(range(len(pool)), key=lambda at: -found[at])
    assert by_likeness(pool, "Cat? A dog on its MAT; cat.") != list(range(len(pool)))
    assert by_likeness(pool, "Cat dog mat cat") == expected


def bm25(pool: tuple[str, ...], words: set[str], *, k: float = 1.5, b: float = 0.75) -> list[float]:
    """Robertson and Zaragoza (2009), with the weights that never fall below 0."""
    texts = [one.split() for one in pool]
    mean = sum(map(len, texts)) / len(texts)
    found = []
    for text in texts:
        counts, total = Counter(text), 0.0
        for word in words:
            having = sum(word in other for other in texts)
            weight = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            total += weight * counts[word] / (counts[word] + k * (1 - b + b * len(text) / mean))
        found.append(total)
    return found
