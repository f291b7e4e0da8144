"""The words of an output, on which length bias rests: as Python splits, and letters where a script
has no blanks."""

import pytest
from django.db import connection
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluations.models import CandidateOutput, Project
from evaluations.reports.data import load_data
from geval.texts.lengths import count_words

pytestmark = pytest.mark.django_db


def words(text: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT evaluations_word_count(%s)", [text])
        return int(cursor.fetchone()[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three", 3),
        ("one  two   three", 3),
        ("one\ntwo\r\nthree", 3),
        ("  one\ttwo\u00a0three\u2003", 3),
        ("", 0),
        (" \n ", 0),
        ("naïve café", 2),
        ("한국어 단어", 2),
        ("我喜歡書", 4),
        ("我喜歡書。", 4),
        ("私は本が好きです。", 8),
        ("GPT-4 は強い", 4),
        ("ฉันรักแมว", 7),
        ("The 猫 sat", 3),
        ("𠮷野家", 3),
    ],
)
def test_words_by_hand(text: str, expected: int) -> None:
    assert words(text) == count_words(text) == expected


# Every script that Python's split is right about, and all its white space.
_SPACED = st.text(
    st.one_of(
        st.characters(min_codepoint=1, max_codepoint=0x0DFF, exclude_categories=("Cs",)),
        st.sampled_from("\u1680\u2000\u2009\u2028\u202f\u205f\u3000\u1c7f가나"),
    )
)


@settings(max_examples=200, deadline=None)
@given(_SPACED)
@example("a\x1cb\x1fc\x85d")
def test_scripts_with_blanks_are_split_as_python_does(text: str) -> None:
    assert words(text) == count_words(text) == len(text.split())


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(min_codepoint=1, exclude_categories=("Cs",))))
@example("กับ 猫。a　b")
def test_files_and_the_site_count_alike(text: str) -> None:
    assert words(text) == count_words(text)


def test_reports_count_the_words_of_each_output_so(small_project: Project) -> None:
    output = CandidateOutput.objects.of_project(small_project).order_by("document", "system")[0]
    output.text = "one  two\nthree 四"
    output.save(update_fields=["text"])

    assert load_data(small_project, judges=[], criteria=[]).words[0] == 4
