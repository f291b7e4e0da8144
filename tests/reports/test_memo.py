"""Results are computed once for the same arguments, even when many ask at once."""

import threading
import time

import numpy as np
import pytest

from geval.statistics.cache import forget, remembered, remembered_as


@pytest.fixture(autouse=True)
def _fresh() -> None:
    forget()


def test_threads_that_ask_at_once_wait_for_one_result() -> None:
    computed = []

    def compute() -> int:
        computed.append(threading.get_ident())
        time.sleep(0.05)
        return 7

    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(remembered_as("x", [1], compute)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [7] * 8
    assert len(computed) == 1


def test_who_fails_leaves_the_next_to_try() -> None:
    def fail() -> int:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        remembered_as("x", [1], fail)

    assert remembered_as("x", [1], lambda: 3) == 3


def test_arrays_count_by_their_contents() -> None:
    calls = []

    def total(array: np.ndarray) -> float:
        calls.append(array)
        return float(array.sum())

    assert remembered(total, np.array([1.0, 2.0])) == remembered(total, np.array([1.0, 2.0])) == 3.0
    assert remembered(total, np.array([1.0, 3.0])) == 4.0
    assert len(calls) == 2
