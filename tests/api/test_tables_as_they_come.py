"""The API reads tables in the shapes that the upload page understands: recognised, asked about
where unclear, with a dry run that says what would exist."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User

from evaluations.models import Project, SavedColumns, Score
from tests.api.test_corpus_api import Send, sender

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(owner: User) -> Send:
    return sender(owner)


def table(*columns: str, last: str = "") -> str:
    """Ten outputs of two systems, with a number in each of the columns."""
    lines = [f"Nr;Vorlage;Ergebnis;Modell;{';'.join(columns)}"]
    for n in range(10):
        texts = (
            f"{n // 2};Die Fähre {n // 2} fährt seit dem Morgen wieder nach Sandvik.;"
            f"Satz {n} über die Fähre von Modell {n % 2}, ein ganzer.;m{n % 2}"
        )
        numbers = [str(1 + (n + 2 * place) % 5) for place in range(len(columns))]
        lines.append(";".join([texts, *numbers]))
    return "\n".join([*lines, *([last] if last else [])]) + "\n"


def load(send: Send, body: str, **query: Any) -> Any:
    return send("POST", f"/small/outputs?{urlencode(query, doseq=True)}", body, "text/csv")


@pytest.mark.parametrize(
    ("columns", "criteria", "raters", "judges"),
    [
        (["coherence_Anna", "coherence_Bert"], ["coherence"], ["Anna", "Bert"], []),
        (["Kohaerenz_Anna", "Kohaerenz_gpt-4o"], ["Kohaerenz"], ["Anna"], ["gpt-4o"]),
        (["coherence", "fluency"], ["coherence", "fluency"], ["annotator"], []),
        (
            ["coherence_Anna", "fluency_Anna", "coherence_gpt-4o", "fluency_gpt-4o"],
            ["coherence", "fluency"], ["Anna"], ["gpt-4o"],
        ),
    ],
)  # fmt: skip
def test_a_dry_run_says_what_would_exist(
    send: Send,
    project: Project,
    columns: Sequence[str],
    criteria: Sequence[str],
    raters: Sequence[str],
    judges: Sequence[str],
) -> None:
    contents = load(send, table(*columns), check="true").json()["contents"]

    assert [one["name"] for one in contents["criteria"]] == criteria
    assert all(
        (one["scale"], one["from_data"], one["is_new"]) == ("1-5", True, True)
        for one in contents["criteria"]
    )
    assert list(contents["raters"]) == raters
    assert list(contents["judges"]) == judges
    assert contents["systems"] == {"m0": 5, "m1": 5}
    assert len(contents["examples"]) == 3
    assert contents["examples"][0]["scores"]
    assert not project.documents.exists()


def test_the_same_body_is_loaded_without_the_check(send: Send, project: Project) -> None:
    done = load(send, table("Kohaerenz_Anna", "Kohaerenz_gpt-4o"), scale="Kohaerenz=1-7").json()

    assert done["outputs"]["created"] == done["ratings"]["created"] == 10
    assert done["columns"]["Kohaerenz_gpt-4o"] == 'scores["Kohaerenz","gpt-4o"]'
    assert project.criteria.get().scale_max == 7
    assert Score.objects.count() == 10


def test_what_is_unclear_is_asked_and_the_answer_can_be_sent(send: Send, project: Project) -> None:
    asked = load(send, table("Anna", "Bert"))

    problem = asked.json()
    assert asked.status_code == 422
    assert problem["title"] == "Unclear columns"
    assert problem["detail"].startswith("Which criterion did “Anna” and “Bert” rate?")
    (question,) = problem["questions"]
    choice = next(one for one in question["choices"] if "overall" in one["label"])
    assert choice["columns"] == ['Anna=ratings["overall","Anna"]', 'Bert=ratings["overall","Bert"]']
    assert not project.documents.exists()

    assert load(send, table("Anna", "Bert"), columns=choice["columns"], check="true").json()[
        "contents"
    ]["raters"] == {"Anna": 10, "Bert": 10}
    assert not SavedColumns.objects.exists()
    assert load(send, table("Anna", "Bert"), columns=choice["columns"]).status_code == 200
    assert load(send, table("Anna", "Bert")).json()["ratings"]["unchanged"] == 20


def test_values_off_the_scale_are_listed_with_the_scale_that_holds_them(
    send: Send, project: Project
) -> None:
    rows = [table("Kohaerenz_Anna"), *(table("x").splitlines()[1:] * 2)]
    stray = "99;Eine ganz andere Fähre fährt nach Hause zurück.;Sie fährt nun doch zurück.;m0;9"
    numbered = [f"{100 + n}{row[row.index(';') :]}" for n, row in enumerate(rows[1:])]
    body = rows[0] + "\n".join([*numbered, stray]) + "\n"

    problem = load(send, body).json()

    assert problem["errors"][0]["at"] == "Kohaerenz_Anna"
    assert problem["wider_scales"] == ["Kohaerenz=1-10"]
    assert load(send, body, scale=problem["wider_scales"]).status_code == 200


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"columns": "Anna"}, "Anna: write THEIRS=OURS"),
        ({"columns": "Anna=rubbish"}, "Anna=rubbish: write THEIRS=OURS"),
        ({"columns": "Nobody=output"}, "No file has a column Nobody."),
        ({"columns": ["Anna=output", "Modell=output"]}, "Two columns are the output"),
        ({"scale": "quality"}, "quality: write the lowest and the highest value, such as 1-5."),
        ({"scale": "quality=5-1"}, "quality=5-1: "),
        ({"scale": "=1-5"}, "=1-5: write CRITERION=LOWEST-HIGHEST."),
    ],
)
def test_what_cannot_be_is_answered_with_what_to_send(
    send: Send, project: Project, query: Mapping[str, Any], said: str
) -> None:
    answer = load(send, table("Anna"), **query)

    assert answer.status_code == 422, answer.content
    assert said in answer.json()["detail"]
