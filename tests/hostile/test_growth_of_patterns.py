"""What a regular expression takes grows with the text, not with its square: every pattern of the
code is held against texts made for it.

Times are compared with each other, within one process: eight times the text may take twenty times
as long, not sixty-four.
"""

import math
import time
import tracemalloc
from collections import Counter
from collections.abc import Iterator

from tests.hostile.growth import inputs_for
from tests.hostile.patterns import Used, all_patterns
from tests.hostile.table import record

LENGTHS = (1_000, 8_000, 64_000)
GROWTH = 20
# Below this many seconds of the processor a clock says nothing about growth.
MEASURABLE = 0.02
MOST_BYTES_PER_CHARACTER, MOST_BYTES = 200, 2**16


def seconds_for(used: Used, text: str) -> float:
    """Of the processor; the least of three where it is long enough to tell."""
    least = math.inf
    for _turn in range(3):
        start = time.process_time()
        used.match_all(text)
        least = min(least, time.process_time() - start)
        if not MEASURABLE < least < 1:
            break
    return least


def grows_too_fast(used: Used, texts: tuple[str, ...]) -> bool:
    """Whether a pattern takes much longer than in proportion for the longer of some texts, twice:
    whatever else the machine does may take time once."""
    return _grew(used, texts) and _grew(used, texts)


def _grew(used: Used, texts: tuple[str, ...]) -> bool:
    before = 0.0
    for text in texts:
        seconds = seconds_for(used, text)
        if seconds > MEASURABLE and before:
            return seconds > GROWTH * before
        before = seconds
    return False


def bytes_for(used: Used, text: str) -> int:
    tracemalloc.start()
    used.match_all(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _slow(used: Used, texts: list[tuple[str, ...]]) -> Iterator[str]:
    return (f"{used} on {text[0][:60]!r}" for text in texts if grows_too_fast(used, text))


def _large(used: Used, texts: list[tuple[str, ...]]) -> Iterator[str]:
    for short, *_between, longest in texts:
        if bytes_for(used, longest) > MOST_BYTES_PER_CHARACTER * len(longest) + MOST_BYTES:
            yield f"{used} on {short[:60]!r}"


def test_no_pattern_takes_a_time_that_grows_with_the_square_of_a_text() -> None:
    slow, large, ends = [], [], Counter[str]()
    for used in all_patterns():
        texts = list(zip(*(inputs_for(used.pattern, length) for length in LENGTHS), strict=False))
        slow_text = next(_slow(used, texts), None)
        # Memory is not asked of a pattern that would take minutes.
        large_text = None if slow_text else next(_large(used, texts[::10]), None)
        slow += [slow_text] if slow_text else []
        large += [large_text] if large_text else []
        ends["in proportion to the text"] += len(texts)
    ends["lost"] = len(slow) + len(large)
    record("patterns, texts made for them", ends)
    assert slow == []
    assert large == []
