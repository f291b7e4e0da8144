"""Results of any type that reports have come back from their stored form as they were."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from geval.reports.stored import restored, shape_of, stored


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Inner:
    value: float | None
    word: Literal["a", "b"]


@dataclass(frozen=True)
class Outer:
    name: str
    number: float
    whole: int
    yes: bool
    colour: Colour
    at: datetime | None
    inner: Inner
    many: tuple[Inner, ...]
    pair: tuple[int, str]
    by_pair: dict[tuple[str, str], Inner]
    by_number: dict[int, float | None]
    by_name: Mapping[str, float]
    texts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Arrays:
    floats: np.ndarray
    ids: np.ndarray


inner = st.builds(Inner, st.none() | st.floats(allow_nan=False), st.sampled_from("ab"))
outer = st.builds(
    Outer,
    st.text(),
    st.floats(allow_nan=False),
    st.integers(-(2**63), 2**63),
    st.booleans(),
    st.sampled_from(Colour),
    st.none() | st.datetimes(timezones=st.just(UTC)).map(lambda at: at.replace(fold=0)),
    inner,
    st.lists(inner).map(tuple),
    st.tuples(st.integers(-(2**63), 2**63), st.text()),
    st.dictionaries(st.tuples(st.text(), st.text()), inner),
    st.dictionaries(st.integers(-(2**63), 2**63), st.none() | st.floats(allow_nan=False)),
    st.dictionaries(st.text(), st.floats(allow_nan=False)),
    st.lists(st.text()),
)


@given(outer)
def test_what_is_read_equals_what_was_written(value: Outer) -> None:
    found = restored(stored(value), Outer)

    assert found == value
    assert repr(found) == repr(value)


@given(
    arrays.arrays(np.float64, arrays.array_shapes(min_side=0)),
    arrays.arrays(np.int64, arrays.array_shapes(min_side=0)),
)
def test_arrays_keep_every_bit_shape_and_type(floats: np.ndarray, ids: np.ndarray) -> None:
    found = restored(stored(Arrays(floats, ids)), Arrays)

    for before, after in ((floats, found.floats), (ids, found.ids)):
        assert (after.shape, after.dtype) == (before.shape, before.dtype)
        assert after.tobytes() == before.tobytes()


def test_numbers_of_numpy_become_plain_ones() -> None:
    value = Inner(np.float64(0.25), "a")

    found = restored(stored(value), Inner)

    assert (found, type(found.value)) == (value, float)


def test_other_types_have_another_shape() -> None:
    @dataclass(frozen=True)
    class Renamed:
        worth: float | None
        word: Literal["a", "b"]

    @dataclass(frozen=True)
    class Wider:
        value: float | None
        word: Literal["a", "b", "c"]

    Renamed.__qualname__ = Wider.__qualname__ = Inner.__qualname__
    shapes = {shape_of(kind) for kind in (Inner, Renamed, Wider, tuple[Inner, ...])}

    assert len(shapes) == 4
