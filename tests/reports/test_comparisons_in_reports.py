"""Preferences of a judge belong to the judge; a project with comparisons alone has a report, with
the leaderboard and the agreement, in every format."""

import itertools
import json
import random
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.test import Client

from annotations.models import Preference
from evaluations.models import PairScore, Project
from evaluations.reports.report import build_report
from geval.files.load_results import LoadResult
from geval.files.rows import LoadError

pytestmark = pytest.mark.django_db(transaction=True)
Load = Callable[..., LoadResult]
QUESTIONS = 15
MODELS = ("gpt", "claude", "llama")
PAIRS = list(itertools.combinations(MODELS, 2))
WINNERS = ("model_a", "model_b", "tie")


def outputs() -> str:
    return "\n".join(
        json.dumps({"doc_id": doc, "system_id": model, "source": doc, "output": f"{model} {doc}"})
        for question in range(QUESTIONS)
        for doc in (str(question), f"{question}__2")
        for model in MODELS
    )


def annotations(*raters: str, seed: int) -> dict[str, dict[str, str]]:
    """As {rater: {question__model_a__model_b__turn: winner}}."""
    rng = random.Random(seed)
    return {
        rater: {
            f"{question}__{a}__{b}__{turn}": rng.choices(WINNERS, (3, 2, 1))[0]
            for question in range(QUESTIONS)
            for turn in (1, 2)
            for a, b in PAIRS
        }
        for rater in raters
    }


HUMAN = annotations("expert_0", "expert_1", "author_0", seed=1)
LLM = annotations("gpt-4o", seed=2)


@pytest.fixture
def compared(project: Project, load: Load) -> Project:
    load(project, {"outputs.jsonl": outputs(), "human.json": json.dumps(HUMAN)})
    load(project, {"llm.json": json.dumps(LLM)}, verdicts_by="gpt-4o")
    return project


def report(project: Project, **options: str) -> str:
    from io import StringIO

    out = StringIO()
    call_command("report", project.slug, stdout=out, **options)
    return out.getvalue()


def by_hand(*, ties: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """(equal, of how many) among people, and of the judge with people."""
    among, between = [0, 0], [0, 0]
    for key, verdict in LLM["gpt-4o"].items():
        votes = [choices[key] for choices in HUMAN.values()]
        for one, other in itertools.combinations(votes, 2):
            if ties or "tie" not in (one, other):
                among[0] += one == other
                among[1] += 1
        for vote in votes:
            if ties or "tie" not in (vote, verdict):
                between[0] += vote == verdict
                between[1] += 1
    return (among[0], among[1]), (between[0], between[1])


def test_preferences_loaded_with_a_judge_are_the_judges_and_never_peoples(
    compared: Project, load: Load
) -> None:
    again = load(compared, {"llm.json": json.dumps(LLM)}, verdicts_by="gpt-4o")

    assert (again.verdicts.created, again.verdicts.unchanged) == (0, 90)
    assert set(compared.annotators.values_list("name", flat=True)) == set(HUMAN)
    assert Preference.objects.count() == 3 * 90
    assert set(PairScore.objects.values_list("run__judge__name", "criterion")) == {("gpt-4o", None)}
    assert PairScore.objects.count() == 90


def test_the_agreement_is_what_counting_gives(compared: Project) -> None:
    ((name, board),) = build_report(compared).boards

    people, judge = board.agreement
    assert (name, people.words, judge.words) == (
        "overall",
        "people with each other",
        "gpt-4o with people",
    )
    for setup, ties in ((0, True), (1, False)):
        for side, (equal, pairs) in zip((people, judge), by_hand(ties=ties), strict=True):
            found = side.setups[setup]
            assert found.estimate.value == pytest.approx(equal / pairs)
            assert found.pairs == pairs
            assert found.documents == QUESTIONS  # both turns of a question are one
            assert found.interval.low is not None


def test_a_project_with_comparisons_alone_has_a_report_in_every_format(
    compared: Project, as_role: Callable[[str], Client]
) -> None:
    (equal, pairs), (judged, judged_pairs) = by_hand(ties=True)
    share, of_judge = equal / pairs, judged / judged_pairs

    text = report(compared)
    content = json.loads(report(compared, format="json"))
    page = as_role("owner").get("/p/small/report/").content.decode()

    assert "Leaderboard by 270 comparisons: overall" in text
    assert f"{of_judge:.2f} [" in text
    assert "no judge has scores" not in text
    ours = content["comparisons"]["overall"]
    assert {one["system"] for one in ours["leaderboard"]} == set(MODELS)
    assert ours["agreement"][0]["between"] == ["people", "people"]
    assert ours["agreement"][0]["with_ties"]["value"] == pytest.approx(share)
    assert ours["agreement"][1]["between"] == ["gpt-4o", "people"]
    assert ours["agreement"][1]["with_ties"]["pairs"] == judged_pairs
    assert len(ours["agreement"][1]["without_ties"]["ci"]) == 2
    assert "nothing to report" not in page
    assert "gpt-4o with people" in page
    assert f"{100 * of_judge:.0f}\u202f%" in page
    latex = report(compared, format="latex")
    assert "gpt-4o with people" in latex
    assert "Human ceiling" not in latex
    assert "| gpt-4o with people |" in report(compared, format="markdown")
    assert f"overall,gpt-4o,comparisons,agreement with ties,{of_judge}" in report(
        compared, format="csv"
    )


def test_both_orders_of_a_judge_are_one_verdict_and_a_disagreement_is_a_tie(
    project: Project, load: Load
) -> None:
    rows = [
        "1,gpt,claude,gpt,j",
        "1,claude,gpt,gpt,j",  # consistent
        "2,gpt,claude,a,j",
        "2,claude,gpt,a,j",  # whatever is shown first
    ]
    header = "doc_id,system_a,system_b,winner,judge\n"

    load(project, {"outputs.jsonl": outputs(), "p.csv": header + "\n".join(rows)})

    found = PairScore.objects.order_by("output__document__doc_id")
    first = found[0]
    assert (first.value if first.output.system.name == "gpt" else 1 - first.value) == 1.0
    assert [(one.tie, one.left) for one in found] == [(0.0, 0.5), (0.0, 1.0)]
    assert found[1].value == 0.5
    with pytest.raises(LoadError, match="1 error"):
        load(project, {"p.csv": header + "3,gpt,claude,a,j\n3,gpt,claude,b,j\n"})
    with pytest.raises(LoadError) as refused:
        load(project, {"p.csv": header + "1,gpt,claude,b,j\n"})
    assert "contradicts this judge's existing verdict" in refused.value.errors[0].message


def test_a_judge_with_scores_alone_is_compared_with_peoples_choices(
    small_project: Project, load: Load
) -> None:
    load(
        small_project,
        {
            "p.csv": "doc_id,system_a,system_b,criterion,winner,annotator\n"
            "d1,good,odd,fluency,a,ann\nd2,good,odd,fluency,b,ann\nd3,good,odd,fluency,tie,ann\n",
            "s.csv": "doc_id,system_id,criterion,judge,score\n"
            + "\n".join(
                f"d{d},{s},fluency,m,{score}"
                for d in (1, 2, 3)
                for s, score in (("good", 3), ("odd", 3 if d == 3 else 1))
            ),
        },
    )

    ((_name, board),) = build_report(small_project).boards

    judge = board.agreement[1]
    assert (judge.name, judge.setups[0].estimate.value) == ("m", pytest.approx(2 / 3))
    assert (judge.setups[1].estimate.value, judge.setups[1].pairs) == (0.5, 2)
