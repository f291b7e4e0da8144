"""A criterion with two points has pass and fail on the report's page and in its JSON; others have
not."""

import json
import re
from collections.abc import Callable

import pytest
from django.test import Client

from annotations.models import Rating
from evaluations.corpus.store import LoadResult
from evaluations.models import Project
from evaluations.reports.report import build_report
from geval.reports.downloads.latex import as_latex
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_text

pytestmark = pytest.mark.django_db
# A quarter of the documents.
FAILED = [f"d{number}" for number in range(5)]
PLACES = [(d, s) for d in range(20) for s in range(2)]


@pytest.fixture
def judged(project: Project, load: Callable[..., LoadResult]) -> Project:
    """People pass six outputs of ten; the judge passes one more, and fails every eighth."""
    truth = {place: number % 10 < 6 for number, place in enumerate(PLACES)}
    verdict = {place: truth[place] != (number % 8 == 3) for number, place in enumerate(PLACES)}
    outputs = "".join(f"d{d},s{s},Text {d}.,Output {d} {s}.\n" for d, s in PLACES)
    ratings = "".join(f"d{d},s{s},factual,ann,{truth[d, s]:d}\n" for d, s in PLACES)
    ratings += "".join(f"d{d},s{s},fluency,ann,{1 + d % 5}\n" for d, s in PLACES)
    scores = "".join(f"d{d},s{s},factual,J,{0.2 + 0.6 * verdict[d, s]}\n" for d, s in PLACES)
    load(
        project,
        {
            "outputs.csv": "doc_id,system_id,source,output\n" + outputs,
            "ratings.csv": "doc_id,system_id,criterion,annotator,score\n" + ratings,
            "scores.csv": "doc_id,system_id,criterion,judge,score\n" + scores,
        },
    )
    return project


def test_the_report_has_counts_shares_and_rates(judged: Project) -> None:
    content = json.loads(as_json(build_report(judged)))

    found = content["criteria"]["factual"]["judges"]["J"]["pass_fail"]
    assert found["threshold"] == 0.5
    assert sum(found[name] for name in found if name.endswith(("pass", "passes", "fail"))) == 40
    kept = found["both_pass"] / (found["both_pass"] + found["only_people_pass"])
    assert found["specificity"]["value"] == pytest.approx(kept)
    assert found["accuracy"]["ci"][0] < found["accuracy"]["value"]
    caught = found["both_fail"] / (found["both_fail"] + found["only_judge_passes"])
    assert found["sensitivity"]["value"] == pytest.approx(caught)
    assert found["sensitivity"]["ci"] is None
    assert [rate["outputs"] for rate in found["systems"]] == [20, 20]


def test_the_majority_is_a_judge_that_reads_nothing(judged: Project) -> None:
    report = build_report(judged)
    factual, fluency = (
        json.loads(as_json(report))["criteria"][name] for name in ("factual", "fluency")
    )

    # People pass 24 of 40 outputs; AC1 of always passing is (0.6 - 0.32) / 0.68.
    found = factual["judges"]["J"]["pass_fail"]["majority"]
    assert (found["passes"], found["share"], found["kappa"]) == (True, 0.6, 0.0)
    assert found["ac1"] == pytest.approx(0.28 / 0.68)
    titles = {null["name"]: null["title"] for null in factual["null_judges"]}
    assert titles["majority"] == "the majority, always 1"
    assert "majority" not in {null["name"] for null in fluency["null_judges"]}
    assert r"factual & the majority & 0.00 & 0.00 & 1.00 & 0.60 & 40 \\" in as_latex(report)
    assert "the majority, always 1" in as_text(report)


def test_agreement_that_is_not_above_the_majoritys_is_no_claim(
    judged: Project, as_role: Callable[[str], Client]
) -> None:
    """Where nearly all outputs pass, a judge that passes all has a high AC1."""
    Rating.objects.filter(criterion__name="factual").update(score=1)
    few = Rating.objects.filter(criterion__name="factual", output__document__doc_id__in=FAILED)
    few.update(score=0)

    page = as_role("viewer").get(f"/p/{judged.slug}/report/numbers/").content.decode()

    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "the majority, always pass" in text
    assert "people’s verdict on 75 % of outputs 0.00 1.00 0.00" in text.replace("\u202f", " ")
    assert text.count("not shown to beat the majority") == 2


def test_by_one_expert_the_report_shows_what_is_found_and_kept(
    judged: Project, as_role: Callable[[str], Client]
) -> None:
    client = as_role("owner")
    page = client.get(f"/p/{judged.slug}/report/numbers/").content.decode()

    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    # Every eighth output is failed by the judge, or passed though people fail it.
    assert "Finds the fails: not yet" in text
    assert "Fewer than 20 documents count" in text
    content = json.loads(as_json(build_report(judged)))["criteria"]["factual"]
    counts = content["judges"]["J"]["pass_fail"]
    assert f"{counts['only_judge_passes']} missed" in text
    assert content["verdict"]["by_labels"]["specificity"] == {
        "required": 0.8,
        "is_shown": False,
    }

    addresses = [a.replace("&amp;", "&") for a in re.findall(r'href="([^"]*side=[^"]*)"', page)]
    for side, count in (
        ("higher", counts["only_judge_passes"]), ("lower", counts["only_people_pass"])
    ):  # fmt: skip
        (address,) = [a for a in addresses if f"side={side}" in a]
        listed = client.get(address.partition("#")[0]).content.decode()
        gaps = re.findall(r'class="gap">([+−][\d.]+)', listed)
        assert len(gaps) == count
        assert all(gap.startswith("+") == (side == "higher") for gap in gaps)


def test_a_criterion_says_what_is_required_and_which_class_to_find(
    judged: Project, as_role: Callable[[str], Client]
) -> None:
    usual = json.loads(as_json(build_report(judged)))["criteria"]["factual"]
    judged.criteria.filter(name="factual").update(finds_highest=True, required_specificity=0.7)

    content = json.loads(as_json(build_report(judged)))["criteria"]["factual"]

    required = content["verdict"]["by_labels"]
    assert {name: of["required"] for name, of in required.items() if "ty" in name} == {
        "sensitivity": 0.8,
        "specificity": 0.7,
    }
    own, before = (each["judges"]["J"]["pass_fail"] for each in (content, usual))
    assert (before["class_to_find"], own["class_to_find"]) == ("fail", "pass")
    assert own["sensitivity"] == before["specificity"]
    page = as_role("viewer").get(f"/p/{judged.slug}/report/numbers/").content.decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert "Finds the passes: not yet" in text
    assert f"{own['only_people_pass']} missed" in text
    assert f"{own['only_judge_passes']} false alarms" in text
