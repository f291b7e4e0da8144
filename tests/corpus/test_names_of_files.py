"""Files of one upload have different names that can be stored, as errors name files."""

from geval.files.packed import LONGEST_NAME, name_among


def test_a_name_that_another_file_has_gets_a_number() -> None:
    taken: set[str] = set()

    names = [name_among(name, taken) for name in ("a.csv", "a.csv", "b.csv", "a.csv")]

    assert names == ["a.csv", "a.csv (2)", "b.csv", "a.csv (3)"]


def test_a_name_is_shortened_and_storable_before_it_is_compared() -> None:
    taken: set[str] = set()

    names = [name_among("a\0" + "b" * LONGEST_NAME + end, taken) for end in "cd"]

    assert names[0] == "a\N{REPLACEMENT CHARACTER}" + "b" * (LONGEST_NAME - 2)
    assert names[1] == f"{names[0]} (2)"
