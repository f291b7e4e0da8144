"""A site reads ratings in words: yes and no as 1 and 0, names of points as a scale has them, and
every way in says so. What a word stands for is never guessed."""

import csv
import io
from collections.abc import Callable

import pytest

from annotations.models import Rating
from evaluations.corpus.store import LoadError, LoadResult
from evaluations.models import Criterion, Project, Score
from evaluations.reports.ratings.exports import as_csv
from geval.files.contents import ColumnContent
from geval.files.load_text import result_in_lines
from geval.files.recognition import recognise
from tests.conftest import OUTPUTS

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
HEADER = "doc_id,system_id,criterion,annotator,score\n"
NOTE = "Words on correct are read as numbers from 0 to 1: “pass” is 1, “fail” is 0"


def ratings(*words: str, criterion: str = "correct") -> dict[str, str]:
    """Outputs, and a rating of each of the first of them."""
    places = [(document, system) for document in (1, 2, 3) for system in ("good", "odd")]
    lines = [
        f"d{document},{system},{criterion},ann,{word}"
        for (document, system), word in zip(places, words, strict=False)
    ]
    return {"outputs.jsonl": OUTPUTS, "ratings.csv": HEADER + "\n".join(lines)}


def errors_of(load: Load, project: Project, files: dict[str, str], **about: object) -> list[str]:
    with pytest.raises(LoadError) as caught:
        load(project, files, **about)
    assert Rating.objects.count() == 0
    return [str(error) for error in caught.value.errors]


def scores() -> list[float]:
    return list(Rating.objects.order_by("output_id").values_list("score", flat=True))


def test_pass_and_fail_are_loaded_as_1_and_0_and_the_load_says_so(
    project: Project, load: Load
) -> None:
    result = load(project, ratings("pass", "Fail", " PASS ", "", "fail", "pass"))

    assert scores() == [1, 0, 1, 0, 1]
    criterion = Criterion.objects.get()
    assert (criterion.scale_min, criterion.scale_max, criterion.scale_labels) == (0, 1, {})
    (note,) = result.notes
    assert note.startswith(NOTE)
    assert note in list(result_in_lines(result))


def test_exports_of_words_are_numbers_that_load_again_unchanged(
    project: Project, load: Load
) -> None:
    load(project, ratings("pass", "fail"))
    export = "".join(as_csv(project, "ratings"))

    assert [row["score"] for row in csv.DictReader(io.StringIO(export))] == ["1", "0"]
    assert load(project, {"again.csv": export}).ratings.unchanged == 2
    assert load(project, ratings("yes", "no")).ratings.unchanged == 2


def test_a_word_among_ratings_from_1_to_5_is_no_1(project: Project, load: Load) -> None:
    (error,) = errors_of(load, project, ratings("4", "2", "yes", "5", "1"))

    assert error.startswith("ratings.csv:4: score: 'yes' among")
    assert "numbers (such as 4 at ratings.csv:2)" in error


def test_numbers_and_words_may_not_meet_across_files(project: Project, load: Load) -> None:
    words = ratings("yes", "no", "yes", "no")
    others = HEADER + "d1,good,Correct,bob,4\n"

    (error,) = errors_of(load, project, words | {"others.csv": others})

    assert error.startswith("others.csv:2: score: 4 among")
    assert "that are yes or no" in error


def test_the_rare_of_two_pairs_are_errors(project: Project, load: Load) -> None:
    listed = errors_of(load, project, ratings("pass", "yes", "fail", "fail", "no"))

    assert [error.partition(" among")[0] for error in listed] == [
        "ratings.csv:3: score: 'yes'",
        "ratings.csv:6: score: 'no'",
    ]
    assert all("(such as 'pass' at ratings.csv:2)" in error for error in listed)


def test_words_of_no_pair_are_an_error_that_says_which_are_read(
    project: Project, load: Load
) -> None:
    (error,) = errors_of(load, project, ratings("very helpful", "1", "0"))

    assert "found 'very helpful'" in error
    assert "yes/no, true/false, pass/fail, correct/incorrect" in error


def test_names_of_a_scales_points_are_its_points(project: Project, load: Load) -> None:
    labels = {"1": "poor", "3": "fair", "5": "Excellent"}
    project.criteria.create(name="tone", scale_min=1, scale_max=5, scale_labels=labels)

    result = load(project, ratings("excellent", "Poor", "4", "fair", criterion="tone"))

    assert scores() == [5, 1, 4, 3]
    assert "“excellent” is 5, “fair” is 3, “poor” is 1 (3 ratings)" in result.notes[0]


def test_a_judges_words_are_scores(project: Project, load: Load) -> None:
    scored = "doc_id,system_id,criterion,judge,score\nd1,good,,gpt,true\nd1,odd,,gpt,FALSE\n"

    result = load(project, ratings("4", "2", "5") | {"scores.csv": scored})

    assert sorted(Score.objects.values_list("value", flat=True)) == [0, 1]
    (note,) = result.notes
    assert "every criterion" in note
    assert "“true” is 1, “false” is 0 (2 scores)" in note


def test_words_in_another_tools_file_are_never_a_1_among_other_ratings(
    project: Project, load: Load
) -> None:
    lines = [
        f'{{"id": "t{n}", "sessionId": "s{n}", "userId": "u", "input": "When?",'
        f' "output": "At {n}.", "scores": [{{"name": "quality", "value": {value},'
        ' "source": "ANNOTATION", "authorUserId": "anna"}]}'
        for n, value in enumerate(("4", "5", "true"))
    ]

    (error,) = errors_of(load, project, {"traces.jsonl": "\n".join(lines)})

    assert "'true' among ratings on quality" in error


# In columns, and on the page


def rows_with(**columns: str) -> list[dict[str, str]]:
    """Four documents by two systems, with further columns that alternate between two words."""
    rows = []
    for number in range(8):
        document, system = divmod(number, 2)
        texts = {
            "doc_id": f"d{document}",
            "system_id": f"s{system}",
            "source": f"The ferry number {document} sails again after the storm today.",
            "output": f"Ferry {document} sails again, as system {system} has written it.",
        }
        rows.append(texts | {name: pair.split()[number % 3 % 2] for name, pair in columns.items()})
    return rows


def test_a_column_of_words_beside_texts_is_asked_about_only_if_its_name_speaks_of_ratings() -> None:
    rows = rows_with(label_anna="pass fail", has_table="yes no")

    recognition = recognise(list(rows[0]), rows, None)

    (question,) = recognition.questions
    assert question.text == "Which criterion did “anna” rate?"
    assert not {"label_anna", "has_table"} & {
        name for name, target in recognition.columns.items() if target.startswith("ratings")
    }


def test_a_word_beside_a_rater_is_asked_about_and_never_taken() -> None:
    rows = [
        row | {"annotator": "ann"} for row in rows_with(finished="yes no", fluency="true false")
    ]
    for row in rows:
        del row["source"], row["output"]

    recognition = recognise(list(rows[0]), rows, None)

    assert recognition.columns["fluency"] == 'ratings["fluency",""]'
    assert [q.text for q in recognition.questions] == ["What does “finished” contain?"]


def test_words_that_tell_systems_apart_name_them() -> None:
    rows = rows_with(quality_anna="1 5", quality_ben="2 4")
    for number, row in enumerate(rows):
        row["with_rag"] = "yes" if number % 2 else "no"
        del row["system_id"]

    recognition = recognise(list(rows[0]), rows, None)

    assert recognition.columns["with_rag"] == "system_id"


@pytest.mark.parametrize(("words", "is_pair"), [("yes no yes x", False), ("yes no no yes x", True)])
def test_a_column_is_of_a_pair_if_four_in_five_words_are(words: str, *, is_pair: bool) -> None:
    assert ColumnContent("label", tuple(words.split())).is_of_pair is is_pair
