"""A search learns from training documents alone; a look at the locked ones is counted."""

import numpy as np
import pytest
from django.db.models import F
from scipy import stats

from annotations.models import Rating
from assurance.improving.adopting import adopt
from assurance.improving.certificate import certificate, not_tried
from assurance.improving.looking import look
from assurance.improving.search_data import ground_of
from assurance.improving.work import neglected_searches, request_search, work_on_search
from evaluations.corpus.locks.locking import unlock_documents
from evaluations.models import Change, ErrandState, Look, Score, Search
from evaluations.models.errands import MOST_ATTEMPTS
from evaluations.models.improving import FREE_CHANGES
from geval.improving.changes import Measure
from geval.improving.ground import ImproveError
from geval.improving.words import outcome_in_words
from geval.statistics.locked_rule import is_locked

pytestmark = pytest.mark.django_db
EVERYTHING = list(FREE_CHANGES)


def searched(judge, criterion, changes=EVERYTHING):
    search = request_search(judge, criterion, changes)
    work_on_search(search.pk)
    search.refresh_from_db()
    return search


def found(search):
    return [(c.title, c.formula, c.training) for c in search.candidates.order_by("pk")]


def test_a_panel_and_a_map_are_found_with_their_gain_on_training_documents(
    judge, criterion, locked
):
    search = searched(judge, criterion)
    assert search.state == ErrandState.DONE
    by_change = {one.change: one for one in search.candidates.all()}
    panel, calibration = by_change[Change.PANEL], by_change[Change.CALIBRATION]
    assert panel.training["gain"] > 0.05
    assert {"today", "second", "third"} <= {m["judge"] for m in panel.formula["members"]}
    assert calibration.measure == Measure.DISTANCE
    # The judge is a point too strict.
    assert calibration.training["candidate"] < calibration.training["today"] - 0.3


def test_ratings_and_scores_of_locked_documents_change_nothing_that_is_found(
    judge, criterion, locked, rated_project
):
    before = found(searched(judge, criterion))
    names = rated_project.documents.values_list("pk", "doc_id")
    hidden = [pk for pk, name in names if is_locked(name, seed=locked.seed, share=locked.share)]
    assert hidden
    assert Rating.objects.filter(output__document__in=hidden).update(score=6 - F("score"))
    assert Score.objects.filter(output__document__in=hidden).update(value=-F("value"))
    after = found(searched(judge, criterion))
    assert after == before


def test_a_look_compares_both_judges_on_locked_documents_alone(
    judge, criterion, locked, rated_project
):
    candidate = searched(judge, criterion, ["panel"]).candidates.get()
    taken = look(candidate)
    ground = ground_of(rated_project, judge, criterion, locked)
    weights = {m["judge"]: m["weight"] for m in candidate.formula["members"]}
    panel = sum(
        arm.scores * weights[arm.judge.name] for arm in ground.arms if arm.judge.name in weights
    )
    rho = np.array(
        [
            [
                stats.spearmanr(ground.human[at], side[at]).statistic
                for side in (np.round(panel, 10), ground.today)
            ]
            for at in (ground.outputs.document == d for d in ground.locked)
        ]
    )
    expected = stats.ttest_rel(*rho.T).confidence_interval(1 - 0.05 / 2)
    assert taken.gain == pytest.approx(np.diff(rho[:, ::-1]).mean())
    assert (taken.low, taken.high) == pytest.approx((expected.low, expected.high))
    assert taken.documents == len(ground.locked)
    assert taken.outcome == "proven"


def test_a_candidate_is_looked_at_once_however_often_it_is_asked_for(judge, criterion, locked):
    candidate = searched(judge, criterion, ["panel"]).candidates.get()
    assert look(candidate).pk == look(candidate).pk
    assert Look.objects.count() == 1


def test_when_all_looks_are_used_no_more_is_given(judge, criterion, locked):
    candidates = [searched(judge, criterion, ["panel"]).candidates.get() for _ in range(3)]
    for candidate in candidates[:2]:
        look(candidate)
    with pytest.raises(ImproveError, match="All 2 looks"):
        look(candidates[2])
    assert Look.objects.count() == 2


def test_after_unlocking_nothing_is_looked_at(judge, criterion, locked):
    candidate = searched(judge, criterion, ["panel"]).candidates.get()
    unlock_documents(locked)
    with pytest.raises(ImproveError, match="unlocked"):
        look(candidate)


def test_the_certificate_names_the_rule_and_every_look(judge, criterion, locked, owner):
    candidate = searched(judge, criterion, ["panel"]).candidates.get()
    taken = look(candidate, by=owner)
    paper = certificate(locked)
    assert paper["looks_used"] == 1
    assert paper["looks_allowed"] == 2
    assert paper["proven"] == 1
    assert paper["rule"]["seed"] == "fixed"
    (one,) = paper["looks"]
    assert (one["judge"], one["criterion"], one["by"]) == ("today", "quality", "olga")
    assert one["interval"] == [taken.low, taken.high]
    assert outcome_in_words(taken).startswith("proven: gain +")


def test_a_judge_fitted_to_ratings_is_no_member_as_it_may_know_locked_ones(
    judge, criterion, locked
):
    candidate = searched(judge, criterion, ["panel"]).candidates.get()
    adopt(candidate)
    again = searched(judge, criterion, ["panel"])
    ((name, why),) = again.found["left_out"].items()
    assert name == "today improved"
    assert why.startswith("fitted to ratings")


def test_a_judge_without_scores_of_every_output_is_left_out_and_named(judge, criterion, locked):
    one = Score.objects.filter(run__judge__name="second").first()
    one.delete()
    search = searched(judge, criterion, ["panel"])
    ((name, why),) = search.found["left_out"].items()
    assert name == "second"
    assert why.startswith("scores are missing")
    assert "second" not in {m["judge"] for m in search.candidates.get().formula["members"]}
    said = dict(not_tried(search))
    assert said["Wording"].startswith("it was not asked for, as")
    assert said["Calibration map"] == "it was not asked for"
    assert said["second"] == why
    assert "Panel" not in said


def test_too_few_rated_documents_are_refused_with_how_many_are_missing(
    judge, criterion, locked, rated_project
):
    kept = list(rated_project.documents.values_list("pk", flat=True)[:25])
    Rating.objects.exclude(output__document__in=kept).delete()
    search = searched(judge, criterion)
    assert search.has_failed
    assert "of 20 training documents" in search.message
    assert "Rate more documents" in search.message
    assert not search.candidates.exists()


def test_what_the_locked_documents_can_prove_is_said_before_a_look(judge, criterion, locked):
    basis = searched(judge, criterion).found
    assert 0 < basis["smallest_gain"] < 1
    assert basis["locked_for_wanted"] > basis["locked"]


def test_two_who_ask_at_once_share_a_search(judge, criterion, locked):
    first = request_search(judge, criterion, EVERYTHING)
    assert request_search(judge, criterion, EVERYTHING) == first
    work_on_search(first.pk)
    assert request_search(judge, criterion, EVERYTHING) != first


def test_a_search_that_a_worker_left_is_found_and_done_by_another(judge, criterion, locked):
    search = request_search(judge, criterion, ["panel"])
    Search.objects.filter(pk=search.pk).update(
        state=ErrandState.ASKING, attempts=1, taken_until="2020-01-01T00:00Z"
    )
    assert neglected_searches() == [search.pk]
    work_on_search(search.pk)
    search.refresh_from_db()
    assert search.state == ErrandState.DONE


def test_a_search_that_no_worker_finishes_is_given_up(judge, criterion, locked):
    search = request_search(judge, criterion, ["panel"])
    Search.objects.filter(pk=search.pk).update(
        state=ErrandState.ASKING, attempts=MOST_ATTEMPTS, taken_until="2020-01-01T00:00Z"
    )
    assert neglected_searches() == []
    search.refresh_from_db()
    assert search.has_failed


def test_a_search_has_the_same_result_each_time(judge, criterion, locked):
    assert found(searched(judge, criterion)) == found(searched(judge, criterion))
