"""Which documents are locked, and that they stay so."""

import pytest
from django.core.exceptions import ValidationError
from hypothesis import given
from hypothesis import strategies as st

from assurance.improving.looking import usable_lock
from evaluations.corpus.locks.locking import lock_documents, unlock_documents
from evaluations.models import LockedDocuments
from geval.improving.ground import ImproveError
from geval.statistics.locked_rule import is_locked, locked_flags

pytestmark = pytest.mark.django_db


@given(st.text(max_size=30), st.floats(0.1, 0.8))
def test_a_document_that_is_locked_stays_locked_in_a_larger_share(doc_id, share):
    if is_locked(doc_id, seed="s", share=share):
        assert is_locked(doc_id, seed="s", share=share + 0.1)


def test_about_the_share_is_locked_and_another_seed_draws_others():
    names = [f"document {number}" for number in range(5000)]
    drawn = [{n for n in names if is_locked(n, seed=seed, share=0.4)} for seed in ("a", "b")]
    assert all(abs(len(one) / 5000 - 0.4) < 0.03 for one in drawn)
    assert abs(len(drawn[0] & drawn[1]) / 5000 - 0.16) < 0.03


def test_later_documents_fall_by_the_same_rule_and_earlier_ones_stay(rated_project, locked):
    names = list(rated_project.documents.order_by("pk").values_list("doc_id", flat=True))
    before = locked_flags(names, seed=locked.seed, share=locked.share)
    after = locked_flags([*names, "a later one"], seed=locked.seed, share=locked.share)
    assert after[:-1] == before


def test_a_second_lock_is_refused_because_it_would_let_in_what_was_learned(rated_project, locked):
    with pytest.raises(ValidationError, match="has locked documents already"):
        lock_documents(rated_project)
    assert LockedDocuments.objects.count() == 1


def test_a_share_or_a_number_of_looks_out_of_range_is_refused(rated_project):
    for wrong in ({"share": 0.05}, {"share": 1.0}, {"looks": 0}, {"looks": 41}):
        with pytest.raises(ValidationError):
            lock_documents(rated_project, **wrong)


def test_unlocking_is_recorded_and_ends_every_claim(rated_project, locked, owner):
    unlock_documents(locked, by=owner)
    assert locked.unlocked_by == owner
    assert locked.unlocked_at is not None
    with pytest.raises(ImproveError, match="were unlocked on"):
        usable_lock(rated_project)


def test_without_locked_documents_nothing_can_be_proven(rated_project):
    with pytest.raises(ImproveError, match="No documents are locked"):
        usable_lock(rated_project)
