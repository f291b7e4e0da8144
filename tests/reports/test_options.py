"""The view of a report lives in its address, and an address with nonsense in it is answered with
words."""

from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st

from geval.reports.options import LISTS, WORDS, ReportOptions, read_options

KNOWN = {"annotators": [1, 2], "systems": [3, 4, 5], "judges": [6], "criteria": [7, 8]}
some = {name: st.lists(st.sampled_from(KNOWN[name]), unique=True).map(tuple) for name in LISTS}


@given(
    st.builds(
        ReportOptions,
        level=st.sampled_from(WORDS["level"]),
        coefficient=st.sampled_from(WORDS["coefficient"]),
        over=st.sampled_from(WORDS["over"]),
        documents=st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs"]), max_size=20).map(
            str.strip
        ),
        **some,
    )
)
def test_an_address_gives_the_view_it_was_made_from(options: ReportOptions) -> None:
    assert read_options(QueryDict(options.query), known=KNOWN) == (options, [])


@given(st.text(max_size=80))
def test_nonsense_falls_back_to_the_default(text: str) -> None:
    options, errors = read_options(
        QueryDict("").copy() | {"level": [text], "judges": [text]}, known=KNOWN
    )  # type: ignore[operator]

    assert options.level in WORDS["level"]
    assert set(options.judges) <= {6}
    assert all(isinstance(error, str) for error in errors)


def test_what_cannot_be_is_said_in_words() -> None:
    options, errors = read_options(
        QueryDict("level=word&judges=99&annotators=x&criteria=7"), known=KNOWN
    )

    assert options == ReportOptions(criteria=(7,))
    assert errors == [
        "level is summary, session, system or dataset, not 'word'.",
        "There is no annotator 'x' here.",
        "There is no judge '99' here.",
    ]


def test_an_id_of_thousands_of_digits_is_one_that_is_not_there() -> None:
    options, errors = read_options(QueryDict("judges=" + "9" * 5000), known=KNOWN)

    assert options == ReportOptions()
    assert errors == [f"There is no judge {'9' * 40!r} here."]
