"""Tables with a column for each system: an output for each, with the ratings that name it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from annotations.models import Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from tests.corpus.tools.reading import outputs, ratings, read_records, stored_outputs, unused

COLUMNS = (
    "id,source,output_gpt-4o,output_gpt-4o-mini,quality_gpt-4o_Anna,quality_gpt-4o-mini_Anna,"
    "gpt-4o_depth_Bert,notes"
)
TABLE = f"""{COLUMNS}
1,What is the time in Tokyo?,It is eight.,I do not know.,5,2,4,checked
2,When does the ferry leave?,At ten past eight.,,4,,3,
"""


@pytest.mark.django_db
def test_each_system_has_its_outputs_and_ratings(
    project: Project, load: Callable[..., LoadResult]
) -> None:
    result = load(project, {"wide.csv": TABLE})

    assert sorted(stored_outputs(project)) == [
        ("gpt-4o", "What is the time in Tokyo?", "It is eight."),
        ("gpt-4o", "When does the ferry leave?", "At ten past eight."),
        ("gpt-4o-mini", "What is the time in Tokyo?", "I do not know."),
    ]
    found = Rating.objects.values_list(
        "output__system__name", "criterion__name", "annotator__name", "score"
    )
    assert set(found) == {
        ("gpt-4o", "quality", "Anna", 5.0),
        ("gpt-4o", "quality", "Anna", 4.0),
        ("gpt-4o-mini", "quality", "Anna", 2.0),
        ("gpt-4o", "depth", "Bert", 4.0),
        ("gpt-4o", "depth", "Bert", 3.0),
    }
    assert [one.column for one in result.unused] == ["notes"]


def test_a_rating_without_a_number_is_listed(tmp_path: Path) -> None:
    record = {"source": "When?", "output_a": "At 8.", "output_b": "Late.", "clarity_a": "fine"}

    rows, errors = read_records(tmp_path, [record])

    assert (len(outputs(rows)), ratings(rows)) == (2, set())
    assert "ratings without a number: clarity" in unused(errors)


def test_one_column_of_outputs_names_no_system(tmp_path: Path) -> None:
    rows, _errors = read_records(
        tmp_path, [{"source": "When?", "output": "At 8.", "output_a": "x"}]
    )

    assert len(outputs(rows)) == 1
