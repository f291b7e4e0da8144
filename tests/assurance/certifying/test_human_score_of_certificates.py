"""A certificate compares a judge with adjudicators' decisions where it is asked to, says so, and is
bound to them."""

import json
from pathlib import Path

import pytest
from django.db.models import Avg

from annotations.models import Campaign, CampaignItem, Decision
from evaluations.models import CandidateOutput, Criterion, Project
from tests.assurance.certifying.test_gate import certify, run

pytestmark = pytest.mark.django_db
COMPARED = "Judges are compared with adjudicators' decisions"


@pytest.fixture
def decided(rated_project: Project, criterion: Criterion) -> CampaignItem:
    """An item whose output adjudicators gave another score than raters."""
    outputs = CandidateOutput.objects.filter(document__project=rated_project)
    output = outputs.annotate(mean=Avg("ratings__score")).order_by("-mean", "pk")[0]
    campaign = Campaign.objects.create(project=rated_project, name="Disputed")
    campaign.criteria.add(criterion)
    item = CampaignItem.objects.create(
        campaign=campaign, document=output.document, position=0, outputs=[output.pk]
    )
    decide(item, criterion, 1)
    return item


def decide(item: CampaignItem, criterion: Criterion, score: float) -> None:
    Decision.objects.create(item=item, answer={"scores": {str(criterion.pk): score}})


def test_it_says_so_and_no_longer_fits_after_another_decision(
    decided: CampaignItem, criterion: Criterion, tmp_path: Path
) -> None:
    of_decisions, of_means = tmp_path / "decisions.json", tmp_path / "means.json"
    options = ("--human-score", "adjudicated", "--out", str(of_decisions))
    code, printed = certify("spearman.summary.low>=0.3", more=options)
    certify("spearman.summary.low>=0.3", more=("--out", str(of_means)))
    content, usual = (json.loads(path.read_text()) for path in (of_decisions, of_means))

    assert code == 0
    assert COMPARED in printed
    assert content["human_score"] == "adjudicated"
    assert any(COMPARED in text for text in content["what_numbers_speak_of"])
    assert "human_score" not in usual
    assert content["requirements"][0]["value"] != usual["requirements"][0]["value"]
    assert run("verify", str(of_decisions))[0] == 0

    decide(decided, criterion, 5)

    code, printed = run("verify", str(of_decisions))
    assert code == 1
    assert "The ratings changed" in printed
    assert run("verify", str(of_means))[0] == 0
