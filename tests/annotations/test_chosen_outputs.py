"""The report says which outputs campaigns chose, and that they are no random sample."""

import json
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from annotations.answering.submission import submit
from annotations.models import Campaign, Rating, Seat
from annotations.planning.assignment import queue_of
from evaluations.models import Project
from evaluations.reports.report import build_report
from evaluations.reports.report_json import as_json
from evaluations.reports.tables import as_markdown, as_text
from evaluations.reports.words import chosen_note

pytestmark = pytest.mark.django_db
Rate = Callable[..., None]


@pytest.fixture
def rate(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> Rate:
    """The first annotator rates an item of a campaign with some selection."""

    def rated(**fields: object) -> None:
        campaign = make_campaign(sample_size=2, overlap=1, **fields)
        seat = seat_of(campaign, annotators[0])
        (assignment, *_rest) = queue_of(seat)
        fields = ratings_for(campaign)
        submit(seat, assignment, fields, user=annotators[0], version=0, seconds=None)

    return rated


@pytest.mark.parametrize("selection", ["disagreement", "needed"])
def test_the_report_counts_what_a_campaign_chose_in_every_format(
    small_project: Project, rate: Rate, selection: str
) -> None:
    Rating.objects.all().delete()
    rate(selection=selection)

    report = build_report(small_project)

    assert report.chosen == 1
    assert chosen_note(report).startswith("1 rated output was chosen by campaigns")
    assert chosen_note(report) in as_markdown(report)
    assert json.loads(as_json(report))["outputs_not_drawn_at_random"] == 1


def test_a_random_sample_and_uploaded_ratings_are_not_counted(
    small_project: Project, rate: Rate
) -> None:
    rate(selection="disagreement")
    of_what_others_rated_as_well = build_report(small_project)
    Rating.objects.all().delete()
    rate(selection="sample")
    of_a_sample = build_report(small_project)

    for report in (of_what_others_rated_as_well, of_a_sample):
        assert report.chosen == 0
        assert "chosen by campaigns" not in as_markdown(report) + as_text(report)
        assert "outputs_not_drawn_at_random" not in json.loads(as_json(report))
