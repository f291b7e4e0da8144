"""A draw of few documents leaves enough to learn from, and enough to prove a gain on."""

import pytest

from geval.statistics.locked_rule import locked_flags, new_seed


@pytest.mark.parametrize(
    ("documents", "share", "is_enough"),
    [(30, 0.4, True), (31, 0.4, True), (60, 0.2, True), (29, 0.4, False), (30, 0.9, False)],
)
def test_a_new_seed_leaves_enough_on_both_sides(
    documents: int, share: float, is_enough: bool
) -> None:
    names = [f"d{number}" for number in range(documents)]

    for _ in range(5):
        locked = sum(locked_flags(names, seed=new_seed(names, share=share), share=share))
        assert (locked >= 10 and documents - locked >= 20) is is_enough
