"""Tables in other languages: decimal commas, and short questions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotations.models import Rating
from evaluations.corpus.store import load_files
from evaluations.models import CandidateOutput, Project
from geval.files.contents import ColumnContent
from geval.files.fields import written_number
from geval.files.readers import InputFile

GERMAN = """Frage;Antwort;Modell;Verständlichkeit_Anna;Verständlichkeit_Bert
Wie spät ist es?;Acht Uhr abends ist es.;bot-a;4,5;3,5
Wie spät ist es?;Das weiß ich leider nicht.;bot-b;1,5;2,0
Wann fährt sie?;Um acht Uhr zehn Minuten.;bot-a;5,0;5,0
Wann fährt sie?;Oft und gerne, wie immer.;bot-b;2;1,25
"""


@pytest.mark.django_db
def test_decimal_commas_are_ratings(project: Project, tmp_path: Path) -> None:
    columns = {
        "Verständlichkeit_Anna": 'ratings["clarity","Anna"]',
        "Verständlichkeit_Bert": 'ratings["clarity","Bert"]',
        "Frage": "source",
        "Antwort": "output",
        "Modell": "system_id",
    }

    path = tmp_path / "umfrage.csv"
    path.write_text(GERMAN, encoding="utf-8")

    load_files(project, [InputFile(path, path.name, columns=columns)])

    scores = Rating.objects.order_by("score").values_list("score", flat=True)
    assert list(scores) == [1.25, 1.5, 2, 2, 3.5, 4.5, 5, 5]
    assert CandidateOutput.objects.count() == 4


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("4,5", 4.5),
        ("-0,125", -0.125),
        ("2,6667", 2.6667),
        ("4.5", 4.5),
        ("1,234", None),
        ("1,2,3", None),
        ("1.234,5", None),
        (",", None),
        ("4,", None),
    ],
)
def test_a_comma_that_may_mean_thousands_is_no_number(written: str, number: float | None) -> None:
    assert written_number(written) == number


@given(st.decimals(min_value=-100, max_value=100, places=2))
def test_point_and_comma_are_the_same_number(value: object) -> None:
    assert written_number(str(value).replace(".", ",")) == written_number(str(value))


def test_short_questions_are_texts_and_names_are_not() -> None:
    questions = ("Wie spät ist es?", "Wann fährt sie?", "Wo ist das denn?")

    assert ColumnContent("Frage", (*questions, "Warum ist das eigentlich so?")).is_text
    assert not ColumnContent("Modell", ("gpt 4o mini", "llama 3", "human writer")).is_text
    assert not ColumnContent("leer", ("", "")).is_text
