"""Numbers of a query as an array: all of them, exact, from any number of packs."""

from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluations.models import query_arrays
from evaluations.models.query_arrays import fetch_numbers

pytestmark = pytest.mark.django_db


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    values=st.lists(
        st.tuples(st.floats(allow_nan=False), st.integers(-(2**53), 2**53)), min_size=0, max_size=30
    ),
    pack=st.integers(1, 12),
)
def test_every_row_comes_back_as_it_is(values: list[tuple[float, int]], pack: int) -> None:
    rows = ", ".join(f"('{number!r}'::float8, {pk}::bigint)" for number, pk in [(0.5, 0), *values])
    # `offset` leaves the first row out, which is there because VALUES must not be empty.
    with mock.patch.object(query_arrays, "PACKED_ROWS", pack):
        found = fetch_numbers(
            ["n", "pk"], f"FROM (SELECT * FROM (VALUES {rows}) v (n, pk) OFFSET 1) w"
        )

    assert sorted(map(tuple, found.tolist())) == sorted(
        (number, float(pk)) for number, pk in values
    )


def test_nothing_is_an_array_without_rows() -> None:
    assert fetch_numbers(["1", "2", "3"], "WHERE false").shape == (0, 3)


def test_a_null_is_refused_instead_of_read_as_a_number() -> None:
    with pytest.raises(ValueError, match="NULL"):
        fetch_numbers(["n"], "FROM (VALUES (1), (NULL)) v (n)")
