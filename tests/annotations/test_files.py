"""Ratings and preferences go out and come in again as they were."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotations.answering.submission import submit
from annotations.models import Assignment, Campaign, Preference, Rating, Seat
from annotations.planning.assignment import queue_of
from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from geval.files.rows import LoadError
from tests.conftest import OUTPUTS, RATINGS

pytestmark = pytest.mark.django_db
Load = Callable[..., LoadResult]
CONVERSATIONS = "\n".join(
    f'{{"doc_id": "{doc}", "system_id": "{model}", "source": "Question {doc}?", "output": "{model}'
    f' on {doc}."}}'
    for doc in ("81", "81__2", "82")
    for model in ("gpt-4", "claude-v1")
)


@pytest.fixture
def annotated(
    make_campaign: Callable[..., Campaign], annotators: list[User], seat_of: Callable[..., Seat]
) -> Project:
    """The small project with preferences of three annotators, on a criterion and overall."""
    project = annotators and Project.objects.get()
    assert isinstance(project, Project)
    for number, user in enumerate(annotators):
        campaign = make_campaign(kind="pairwise", strength=True, overlap=1)
        if number:
            campaign.criteria.set(project.criteria.all()[:1])
        seat = seat_of(campaign, user)
        while queue := queue_of(seat):
            key = campaign.criteria.values_list("pk", flat=True).first() or 0
            value = str(Assignment.objects.get(pk=queue[0]).item.position - 1 + (number == 2))
            submit(seat, queue[0], {f"choice-{key}": value}, user=user, version=0, seconds=1.0)
    return project


def said(project: Project) -> set[tuple[object, ...]]:
    """All preferences with names instead of ids, the winner by name."""
    rows = Preference.objects.filter(annotator__project=project).select_related(
        "output_a__system", "output_b__system", "output_a__document", "criterion", "annotator"
    )
    found: set[tuple[object, ...]] = set()
    for row in rows:
        a, b = row.output_a.system.name, row.output_b.system.name
        winner = a if row.value > 0 else b if row.value < 0 else "tie"
        left = None if row.a_was_left is None else a if row.a_was_left else b
        criterion = row.criterion.name if row.criterion else ""
        document = row.output_a.document.doc_id
        found.add(
            (
                document,
                frozenset((a, b)),
                criterion,
                row.annotator.name,
                winner,
                abs(row.value),
                left,
            )
        )
    return found


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_ratings_and_preferences_survive_the_round_trip(
    annotated: Project, as_role: Callable[[str], Client], load: Load, ending: str
) -> None:
    client = as_role("owner")
    files: dict[str, str | bytes] = {"outputs.jsonl": OUTPUTS}
    for kind in ("ratings", "preferences"):
        answer = client.get(f"/p/small/annotate/export/{kind}.{ending}")
        files[f"{kind}.{ending}"] = answer.getvalue()
    copy = Project.objects.create(name="Copy", slug="copy")

    result = load(copy, files)
    again = load(copy, files)

    assert said(copy) == said(annotated)
    assert (
        result.preferences.created
        == Preference.objects.filter(annotator__project=annotated).count()
        == 9
    )
    assert result.ratings.created == Rating.objects.filter(annotator__project=annotated).count()
    assert (again.preferences.created, again.preferences.unchanged) == (0, 9)


@pytest.mark.parametrize(
    "files",
    [
        {"p.csv": "question_id,model_a,model_b,turn,winner,judge\n"
                  "81,gpt-4,claude-v1,1,model_a,expert_1\n81,gpt-4,claude-v1,2,tie,expert_1\n82,claude-v1,gpt-4,1,model_b,expert_1\n"},
        {"p.csv": "key,winner,annotator\n81__gpt-4__claude-v1__1,model_a,expert_1\n"
                  "81__gpt-4__claude-v1__2,tie,expert_1\n82__claude-v1__gpt-4__1,model_b,expert_1\n"},
        {"p.jsonl": '{"question": 81, "model_a": "gpt-4", "model_b": "claude-v1", "turn": 1, '
                    '"winner": "gpt-4", "judge": "expert_1"}\n{"question": 81, "model_a": "gpt-4", '
                    '"model_b": "claude-v1", "turn": 2, "winner": "tie (inconsistent)", '
                    '"judge": "expert_1"}\n{"key": "82__claude-v1__gpt-4__1", '
                    '"winner": "model_b", "annotator": "expert_1"}\n'},
        {"p.json": '{"expert_1": {"81__gpt-4__claude-v1__1": "model_a", '
                   '"81__gpt-4__claude-v1__2": "tie", "82__claude-v1__gpt-4__1": "model_b"}}'},
        {"p.json": '{\n"expert_1": {"81__gpt-4__claude-v1__1": "model_a", '
                   '"81__gpt-4__claude-v1__2": "tie",\n "82__claude-v1__gpt-4__1": "model_b"}\n}'},
    ],
    ids=["columns", "key column", "JSONL", "JSON map", "JSON map over lines"],
)  # fmt: skip
def test_mt_bench_preferences_are_read_in_every_shape(
    project: Project, load: Load, files: dict[str, str]
) -> None:
    load(project, {"outputs.jsonl": CONVERSATIONS, **files})

    pair = frozenset(("gpt-4", "claude-v1"))
    assert said(project) == {
        ("81", pair, "", "expert_1", "gpt-4", 1, None),
        ("81__2", pair, "", "expert_1", "tie", 0, None),
        ("82", pair, "", "expert_1", "gpt-4", 1, None),
    }


HEADER = "doc_id,system_a,system_b,winner,annotator\n"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "82,gpt-4,claude-v1,nobody,ann",
            "expected a, b, tie or the winner's name, found 'nobody'",
        ),
        ("82,gpt-4,claude-v1,,ann", "expected a, b, tie"),
        ("82,gpt-4,llama,a,ann", "no output of system llama for document 82"),
        ("99,gpt-4,claude-v1,a,ann", "no output of system gpt-4 for document 99"),
        ("82,gpt-4,gpt-4,a,ann", "gpt-4 is compared with itself"),
        ("82,gpt-4,claude-v1,a,", "expected a name, found nothing"),
        (
            "82,gpt-4,claude-v1,a,ann\n82,claude-v1,gpt-4,a,ann",
            "contradicts this annotator's existing preference",
        ),
    ],
)
def test_a_preference_that_cannot_be_is_an_error_at_its_line(
    project: Project, load: Load, row: str, message: str
) -> None:
    with pytest.raises(LoadError) as refused:
        load(project, {"outputs.jsonl": CONVERSATIONS, "p.csv": HEADER + row + "\n"})

    assert message in str(refused.value.errors[0])
    assert str(refused.value.errors[0]).startswith("p.csv:")
    assert not Preference.objects.exists()


def test_formulas_in_names_do_no_harm_in_a_spreadsheet(
    small_project: Project, as_role: Callable[[str], Client], load: Load
) -> None:
    load(small_project, {"r.csv": RATINGS.splitlines()[0] + "\nd1,good,coherence,=cmd|x,3\n"})

    content = as_role("owner").get("/p/small/annotate/export/ratings.csv").getvalue().decode()

    assert ",'=cmd|x," in content
    assert ",=cmd" not in content
