"""A report can be of one campaign's answers alone, also where newer answers of the same people
count otherwise; it says so."""

import json
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from annotations.answering.submission import submit
from annotations.models import Campaign, Preference, Seat, Selection
from annotations.planning.assignment import queue_of
from annotations.results.reviewing import reject
from evaluations.models import Project
from evaluations.reports.annotators import annotators_found, marked_texts
from evaluations.reports.data import LiveData, load_data, only_round
from evaluations.reports.report import compared_by_people
from geval.reports.options import ReportOptions

pytestmark = pytest.mark.django_db
Rate = Callable[[Campaign, User, str], None]
Rounds = tuple[Campaign, Campaign]
MARKS = json.dumps([{"start": 0, "end": 2, "category": "Style"}])


@pytest.fixture
def rate(seat_of: Callable[..., Seat]) -> Rate:
    """Give the same point to everything in a campaign."""

    def rate(campaign: Campaign, user: User, point: str) -> None:
        criteria = campaign.criteria.values_list("pk", flat=True)
        answer_all(seat_of(campaign, user), {f"score-{pk}": point for pk in criteria})

    return rate


def answer_all(seat: Seat, fields: dict[str, str]) -> None:
    answered: set[int] = set()
    while waiting := [pk for pk in queue_of(seat) if pk not in answered]:
        for pk in waiting:
            submit(seat, pk, fields, user=seat.annotator.user, version=0, seconds=1)
        answered |= {*waiting}


@pytest.fixture
def rounds(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    rate: Rate,
) -> Rounds:
    """Two campaigns over the same outputs: the first annotator gives 2, and then 5."""
    first, second = (make_campaign(name=name, overlap=1) for name in ("Pilot", "Main"))
    rate(first, annotators[0], "2")
    rate(second, annotators[0], "5")
    return first, second


def means(project: Project, round_id: int) -> np.ndarray:
    """Of all outputs and criteria; shape (criteria, outputs)."""
    data = load_data(project, [], list(project.criteria.all()))
    humans = only_round(data, project, round_id).humans
    return np.array([humans[pk].mean for pk in sorted(humans)])


def test_only_answers_of_the_round_count(rounds: Rounds, small_project: Project) -> None:
    first, second = rounds

    assert set(means(small_project, first.pk).ravel()) == {2.0}
    assert set(means(small_project, second.pk).ravel()) == {5.0}


def test_without_a_round_the_newest_answer_counts(rounds: Rounds, small_project: Project) -> None:
    data = load_data(small_project, [], list(small_project.criteria.all()))
    name = rounds[0].seats.order_by("pk")[0].annotator.name

    for human in only_round(data, small_project, 0).humans.values():
        of_person = human.annotators.index(name)
        newest = human.ratings.value[human.ratings.rater == of_person]
        assert set(newest) == {5.0}


def test_a_rejected_answer_counts_in_no_round(
    rounds: Rounds, small_project: Project, annotators: list[User], seat_of: Callable[..., Seat]
) -> None:
    first, _second = rounds
    answer = first.assignments.order_by("pk").first()
    assert answer is not None
    reject(answer.pk, user=annotators[0], reason="Not read.")

    data = load_data(small_project, [], list(small_project.criteria.all()))
    at = data.output_ids.tolist().index(answer.shown[0])
    rated = ~np.isnan(means(small_project, first.pk))

    assert not rated[:, at].any()
    assert np.delete(rated, at, axis=1).all()


def test_a_drawn_round_counts_by_its_own_weights(
    make_campaign: Callable[..., Campaign], annotators: list[User], small_project: Project,
    rate: Rate,
) -> None:  # fmt: skip
    """Half of the outputs were drawn, the other round is a census: both are looked at alone."""
    drawn = make_campaign(
        name="Drawn", overlap=1, selection=Selection.SAMPLE, sample_size=3, is_open=True
    )
    rate(drawn, annotators[0], "4")
    census = make_campaign(name="Census", overlap=1)
    rate(census, annotators[0], "3")
    data = load_data(small_project, [], list(small_project.criteria.all()))

    for campaign, rated in ((drawn, 3), (census, 6)):
        for human in only_round(data, small_project, campaign.pk).humans.values():
            assert np.count_nonzero(~np.isnan(human.mean)) == rated
            assert not human.is_weighted  # all rated ones stand for as many
            assert not human.counts_picked


def test_comparisons_are_of_the_round_too(
    make_campaign: Callable[..., Campaign], annotators: list[User], small_project: Project,
    seat_of: Callable[..., Seat],
) -> None:  # fmt: skip
    campaigns = [make_campaign(name=name, kind="pairwise", overlap=1) for name in ("One", "Two")]
    for campaign, choice in zip(campaigns, ("1", "0"), strict=True):
        seat = seat_of(campaign, annotators[0])
        answer_all(seat, {"choice-0": choice})
    assert set(Preference.objects.values_list("value", flat=True)) == {0}

    def comparisons(round_id: int) -> set[int]:
        """1 where people prefer an output, 0 for ties: which is on the left is drawn."""
        data = load_data(small_project, [], list(small_project.criteria.all()))
        rows = compared_by_people(small_project, data, None, (), round_id)
        assert len(rows) == Preference.objects.count()
        return {abs(row.value) for row in rows}

    assert [comparisons(pk) for pk in (0, campaigns[0].pk, campaigns[1].pk)] == [{0}, {1}, {0}]


def test_pages_files_and_the_api_say_which_round_they_are_of(
    rounds: Rounds, small_project: Project, as_role: Callable[[str], Client]
) -> None:
    client, first = as_role("owner"), rounds[0]
    for address in ("report/", "report/numbers/"):
        page = client.get(f"/p/small/{address}?round={first.pk}").content.decode()
        assert "in the round “Pilot”" in " ".join(page.split()), address
    file = client.get(f"/p/small/report/export/json/?round={first.pk}")
    assert json.loads(file.content)["round"] == "Pilot"
    assert "report-pilot.json" in file["Content-Disposition"]
    reply = client.get(f"/api/v1/projects/small/report?round={first.pk}")
    assert reply.json() == json.loads(file.content)
    assert "round" not in json.loads(client.get("/p/small/report/export/json/").content)


def test_the_command_takes_a_round_by_its_name(rounds: Rounds) -> None:
    written = StringIO()
    call_command("report", "small", "--format", "json", "--round", "pilot", stdout=written)
    assert json.loads(written.getvalue())["round"] == "Pilot"
    with pytest.raises(CommandError, match=r"no round 'Third' \(rounds: Pilot, Main\)"):
        call_command("report", "small", "--round", "Third")


def test_a_round_of_another_project_is_refused_in_words(
    rounds: Rounds, as_role: Callable[[str], Client]
) -> None:
    page = as_role("owner").get("/p/small/report/?round=987654321").content.decode()
    assert "There is no round" in page


def test_numbers_that_are_at_hand_stay_those_of_all_rounds(
    rounds: Rounds, small_project: Project
) -> None:
    live = LiveData(small_project)
    before = live.current().humans
    only_round(live.current(), small_project, rounds[0].pk)

    after = live.current().humans
    for pk, human in before.items():
        np.testing.assert_array_equal(human.mean, after[pk].mean)


def middle_scores(project: Project) -> dict[str, str]:
    """Fields with a 3 on each criterion."""
    return {f"score-{pk}": "3" for pk in project.criteria.values_list("pk", flat=True)}


def test_marks_are_of_the_round_too(
    make_campaign: Callable[..., Campaign], annotators: list[User], small_project: Project,
    seat_of: Callable[..., Seat],
) -> None:  # fmt: skip
    """In the pilot both mark the same words; later the second person marks nothing."""
    scores = middle_scores(small_project)
    pilot, main = (
        make_campaign(name=name, overlap=2, span_categories=["Style"]) for name in ("Pilot", "Main")
    )
    for campaign, marking in ((pilot, annotators[:2]), (main, annotators[:1])):
        for user in annotators[:2]:
            spans = {"spans": MARKS} if user in marking else {}
            answer_all(seat_of(campaign, user), scores | spans)
    data = load_data(small_project, [], list(small_project.criteria.all()))

    def people_who_marked(round_id: int) -> set[tuple[int, int]]:
        """How many were asked about an output, and how many of them marked something."""
        texts = marked_texts(
            small_project.pk, data.units, output_ids=data.output_ids,
            annotators=frozenset(), round_id=round_id,
        )  # fmt: skip
        assert len(texts) == len(data.output_ids)
        return {(len(text.marks), sum(map(bool, text.marks.values()))) for text in texts}

    assert people_who_marked(pilot.pk) == {(2, 2)}
    assert people_who_marked(main.pk) == people_who_marked(0) == {(2, 1)}


def test_agreement_on_marks_is_computed_within_the_round(
    make_campaign: Callable[..., Campaign], annotators: list[User], small_project: Project,
    seat_of: Callable[..., Seat],
) -> None:  # fmt: skip
    scores = middle_scores(small_project)
    marked = make_campaign(name="Marked", overlap=1, span_categories=["Style"])
    plain = make_campaign(name="Plain", overlap=1)
    answer_all(seat_of(marked, annotators[0]), scores | {"spans": MARKS})
    answer_all(seat_of(plain, annotators[0]), scores)
    data = load_data(small_project, [], list(small_project.criteria.all()))

    def has_spans(campaign: Campaign) -> bool:
        view = ReportOptions(round=campaign.pk, round_name=campaign.name)
        return annotators_found(small_project, data, view).spans is not None

    assert has_spans(marked)
    assert not has_spans(plain)
