"""Outputs count in the report by the probability with which campaigns chose them."""

import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from django.contrib.auth.models import User

from annotations.answering.submission import submit
from annotations.models import Campaign, Inclusion, Rating, Seat
from annotations.planning.assignment import queue_of
from evaluations.models import CandidateOutput, Project
from evaluations.projects.archive.read import read_archive
from evaluations.projects.archive.write import write_archive
from evaluations.reports.data import load_data
from evaluations.reports.ratings.exports import as_jsonl
from evaluations.reports.report import build_report
from geval.files.rows import LoadError
from geval.reports.downloads.report_json import as_json
from geval.reports.downloads.tables import as_markdown, as_text
from geval.reports.options import ReportOptions
from geval.reports.report import Report
from geval.reports.words import chosen_note, weights_note

pytestmark = pytest.mark.django_db
Rate = Callable[..., Campaign]


@pytest.fixture
def rate(
    make_campaign: Callable[..., Campaign],
    annotators: list[User],
    seat_of: Callable[..., Seat],
    ratings_for: Callable[..., dict[str, str]],
) -> Rate:
    """The first annotator rates items of a campaign with some selection, as many as are said."""

    def rated(*, answers: int = 1, **fields: object) -> Campaign:
        campaign = make_campaign(**({"sample_size": 2, "overlap": 1} | fields))
        seat = seat_of(campaign, annotators[0])
        for number in range(answers):
            assignment = next(iter(queue_of(seat)))
            answer = ratings_for(campaign, str(1 + number % 5))
            submit(seat, assignment, answer, user=annotators[0], version=0, seconds=None)
        return campaign

    return rated


def weights_on(project: Project) -> dict[str, float] | None:
    """The weights of rated outputs on the first criterion, by document and system."""
    criterion = project.criteria.get(name="coherence")
    data = load_data(project, [], [criterion])
    weight = data.humans[criterion.pk].weight
    if weight is None:
        return None
    return {"/".join(data.name_of(at)): float(weight[at]) for at in np.flatnonzero(weight).tolist()}


def notes(report: Report) -> str:
    return as_markdown(report) + as_text(report)


def test_the_report_counts_what_a_campaign_took_from_the_top_in_every_format(
    small_project: Project, rate: Rate
) -> None:
    Rating.objects.all().delete()
    rate(selection="top")

    report = build_report(small_project)

    assert report.chosen == 1
    assert "describe the outputs that were rated" in chosen_note(report)
    assert chosen_note(report) in as_markdown(report)
    assert json.loads(as_json(report))["outputs_not_drawn_at_random"] == 1
    assert report.criteria[0].rated_outputs == 1


def test_what_was_taken_from_the_top_counts_in_no_mean_beside_other_ratings(
    small_project: Project, rate: Rate
) -> None:
    Rating.objects.exclude(output__document__doc_id="d1").delete()
    # All six outputs, so those of d1 as well.
    rate(selection="top", sample_size=6, answers=6)

    report = build_report(small_project)

    assert report.chosen == 4
    assert report.is_chosen_left_out
    assert "left out of means" in chosen_note(report)
    assert {one.rated_outputs for one in report.criteria} == {2}


def test_samples_and_uploaded_ratings_are_not_among_these(
    small_project: Project, rate: Rate
) -> None:
    rate(selection="top")
    of_what_others_rated_as_well = build_report(small_project)
    Rating.objects.all().delete()
    rate(selection="sample")
    rate(selection="disagreement")
    of_samples = build_report(small_project)

    for report in (of_what_others_rated_as_well, of_samples):
        assert report.chosen == 0
        assert "picked by campaigns" not in notes(report)
        assert "outputs_not_drawn_at_random" not in json.loads(as_json(report))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"selection": "sample"}, {2 / 6}),
        ({"selection": "stratified"}, {1 / 3}),
        ({"selection": "sample", "whole_documents": True}, {1 / 3}),
        ({"selection": "disagreement"}, {1 / 3}),  # no judges: nothing is predicted
        ({"selection": "all", "sample_size": None}, set()),
        ({"selection": "top"}, set()),
        ({"kind": "pairwise", "selection": "sample"}, set()),
    ],
)
def test_a_campaign_keeps_the_probability_of_every_output_it_could_have_chosen(
    make_campaign: Callable[..., Campaign], fields: dict[str, object], expected: set[float]
) -> None:
    campaign = make_campaign(**({"sample_size": 2} | fields))
    found = list(Inclusion.objects.filter(campaign=campaign).values_list("probability", flat=True))
    assert {round(one, 9) for one in found} == {round(one, 9) for one in expected}
    assert len(found) == (6 if expected else 0)


def test_whole_documents_are_drawn_with_all_their_outputs(
    make_campaign: Callable[..., Campaign],
) -> None:
    campaign = make_campaign(selection="sample", sample_size=4, whole_documents=True)
    by_document: dict[int, int] = {}
    for document in campaign.items.values_list("document", flat=True):
        by_document[document] = by_document.get(document, 0) + 1
    assert list(by_document.values()) == [2, 2]


def scores(values: dict[str, tuple[int, int]]) -> str:
    lines = (
        f"{doc},{system},coherence,{judge},{value}"
        for place, pair in values.items()
        for doc, system in [place.split("/")]
        for judge, value in zip(("j1", "j2"), pair, strict=True)
    )
    return "doc_id,system_id,criterion,judge,score\n" + "\n".join(lines) + "\n"


@pytest.fixture
def disputed(small_project: Project, load: Callable[..., object]) -> Project:
    """Two judges who disagree on one output of six."""
    values = {f"d{d}/{system}": (3, 3) for d in (1, 2, 3) for system in ("good", "odd")}
    load(small_project, {"scores.csv": scores(values | {"d2/odd": (1, 5)})})
    Rating.objects.all().delete()
    return small_project


def test_outputs_drawn_more_often_count_less(disputed: Project, rate: Rate) -> None:
    campaign = rate(selection="disagreement", sample_size=3, answers=3)

    assert weights_on(disputed) == {
        "/".join((one.output.document.doc_id, one.output.system.name)): pytest.approx(
            1 / one.probability
        )
        for one in campaign.inclusions.select_related("output__document", "output__system")
        if one.output.ratings.exists()
    }
    by_place = {one.probability for one in campaign.inclusions.all()}
    assert sum(one.probability for one in campaign.inclusions.all()) == pytest.approx(3)
    assert len(by_place) == 2

    report = build_report(disputed)
    note = weights_note(report)
    assert "counts by its weight" in note
    assert note in as_markdown(report)
    shown = json.loads(as_json(report))["criteria"]["coherence"]["weights"]
    assert shown["outputs"] == 3
    assert shown["effective"] < 3
    nothing = build_report(disputed, options=ReportOptions(documents="no such document"))
    assert nothing.weights == {}


def test_a_uniform_sample_and_a_census_have_no_weights(small_project: Project, rate: Rate) -> None:
    assert weights_on(small_project) is None
    Rating.objects.all().delete()
    rate(selection="sample", answers=2)
    assert weights_on(small_project) is None
    report = build_report(small_project)
    assert weights_note(report) == ""
    assert "weights" not in json.loads(as_json(report))["criteria"]["coherence"]


def test_campaigns_combine_by_the_probability_of_being_in_one_of_them(
    small_project: Project, rate: Rate
) -> None:
    Rating.objects.all().delete()
    first = rate(selection="sample", sample_size=3, answers=3)
    second = rate(selection="sample", sample_size=2, answers=1)  # half of its items have an answer
    # One that the second could not have chosen, as if it was added later.
    answered = {one.item.outputs[0] for one in second.assignments.exclude(submitted_at=None)}
    of_first = {pk for outputs in first.items.values_list("outputs", flat=True) for pk in outputs}
    late = CandidateOutput.objects.get(pk=min(of_first - answered))
    Inclusion.objects.filter(campaign=second, output=late).delete()

    found = weights_on(small_project)

    assert found is not None
    place = "/".join((late.document.doc_id, late.system.name))
    assert found.pop(place) == pytest.approx(2)
    both = 1 - (1 - 3 / 6) * (1 - 2 / 6 * 1 / 2)
    assert list(found.values()) == pytest.approx([1 / both] * len(found))


def test_ratings_from_files_are_a_census_of_what_they_cover(
    small_project: Project, rate: Rate
) -> None:
    Rating.objects.exclude(output__document__doc_id="d1").delete()
    rate(selection="sample", sample_size=3, answers=3)

    found = weights_on(small_project)

    assert found is not None
    assert {weight for place, weight in found.items() if place.startswith("d1/")} == {1.0}
    assert {weight for place, weight in found.items() if not place.startswith("d1/")} <= {2.0}


def test_where_the_estimate_needs_it_rated_outputs_have_a_probability_but_are_not_chosen(
    make_campaign: Callable[..., Campaign], small_project: Project
) -> None:
    rated = CandidateOutput.objects.filter(document__doc_id="d1")
    Rating.objects.exclude(output__in=rated).delete()

    campaign = make_campaign(selection="needed", sample_size=2)

    chosen = {pk for outputs in campaign.items.values_list("outputs", flat=True) for pk in outputs}
    assert not chosen & {output.pk for output in rated}
    probabilities = dict(campaign.inclusions.values_list("output", "probability"))
    assert len(probabilities) == 6
    assert sum(p for pk, p in probabilities.items() if pk not in {o.pk for o in rated}) == (
        pytest.approx(2)
    )


def test_a_file_states_probabilities_in_a_column(
    small_project: Project, load: Callable[..., object]
) -> None:
    Rating.objects.all().delete()
    lines = "d1,good,coherence,ann,3,0.25\nd2,odd,coherence,ann,4,\nd3,odd,coherence,ann,4,0.5\n"
    load(
        small_project, {"r.csv": f"doc_id,system_id,criterion,annotator,score,probability\n{lines}"}
    )

    assert weights_on(small_project) == {"d1/good": 4.0, "d2/odd": 1.0, "d3/odd": 2.0}


def test_a_stated_probability_of_0_is_for_outputs_that_were_picked(
    small_project: Project, load: Callable[..., object]
) -> None:
    Rating.objects.all().delete()
    record = {"system_id": "good", "criterion": "coherence", "annotator": "ann", "score": 3}
    rows = [record | {"doc_id": "d1", "probability": 0}, record | {"doc_id": "d2"}]
    load(small_project, {"r.jsonl": "\n".join(map(json.dumps, rows))})

    report = build_report(small_project)

    assert report.chosen == 1
    assert report.is_chosen_left_out


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("d1,good,coherence,ann,3,1.5\n", "expected a probability from 0 to 1, found '1.5'"),
        ("d1,good,coherence,ann,3,1e-300\n", "above 0 the smallest is 1e-09"),
        ("d1,good,coherence,ann,3,half\n", "expected a probability from 0 to 1, found 'half'"),
        (
            "d1,good,coherence,a,3,0.5\nd1,good,coherence,b,3,0.25\n",
            "0.25 contradicts 0.5 of another rating",
        ),
    ],
)
def test_a_wrong_probability_says_where_and_why(
    small_project: Project, load: Callable[..., object], lines: str, message: str
) -> None:
    content = f"doc_id,system_id,criterion,annotator,score,probability\n{lines}"
    with pytest.raises(LoadError) as error:
        load(small_project, {"r.csv": content})
    (found,) = error.value.errors
    assert found.column == "probability"
    assert message in found.message


def test_ratings_are_exported_and_archived_with_their_probabilities(
    disputed: Project, rate: Rate, load: Callable[..., object]
) -> None:
    rate(selection="disagreement", sample_size=3, answers=3)
    before = json.loads(as_json(build_report(disputed)))["criteria"]
    exported = [json.loads(line) for line in as_jsonl(disputed, "ratings")]
    file = io.BytesIO()
    write_archive(disputed, file)

    file.seek(0)
    copy = read_archive(file, slug="copy")

    assert {one["probability"] for one in exported} <= set(
        Inclusion.objects.values_list("probability", flat=True)
    )
    after = json.loads(as_json(build_report(copy)))["criteria"]
    assert after == before
    assert weights_on(copy) == weights_on(disputed)
