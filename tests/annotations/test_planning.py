"""Plans are seeded, balanced, and connected early."""

from collections import Counter
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from geval.statistics import item_plan
from geval.statistics.item_plan import PlannedOutputs


def outputs(documents: int, systems: int, *, missing: float = 0.0, seed: int = 0) -> PlannedOutputs:
    """Outputs of all systems for all documents, less a share of them."""
    rng = np.random.default_rng(seed)
    grid = np.array(
        [(d, s) for d in range(documents) for s in range(systems)], dtype=np.int64
    ).reshape(-1, 2)
    kept = grid[rng.random(len(grid)) >= missing]
    return PlannedOutputs(np.arange(100, 100 + len(kept)), kept[:, 0], kept[:, 1])


sizes = st.tuples(st.integers(1, 8), st.integers(1, 6), st.floats(0, 0.5), st.integers(0, 50))


@given(sizes)
def test_orders_hold_every_output_once_and_are_the_same_for_a_seed(
    size: tuple[int, int, float, int],
) -> None:
    some = outputs(size[0], size[1], missing=size[2], seed=size[3])

    for order in (item_plan.by_document, item_plan.systems_in_turn):
        first, again = (order(some, np.random.default_rng(size[3])) for _ in range(2))
        assert sorted(first.ids) == sorted(some.ids)
        assert first.ids.tolist() == again.ids.tolist()


@given(sizes)
def test_documents_stay_together(size: tuple[int, int, float, int]) -> None:
    ordered = item_plan.by_document(
        outputs(size[0], size[1], missing=size[2]), np.random.default_rng(size[3])
    )

    changes = (
        1 + int((ordered.documents[1:] != ordered.documents[:-1]).sum()) if len(ordered) else 0
    )
    assert changes == len(set(ordered.documents.tolist()))


@given(st.integers(1, 8), st.integers(2, 6), st.integers(0, 50))
def test_every_round_holds_each_system_once(documents: int, systems: int, seed: int) -> None:
    ordered = item_plan.systems_in_turn(outputs(documents, systems), np.random.default_rng(seed))

    rounds = ordered.systems.reshape(documents, systems)
    assert all(sorted(one) == list(range(systems)) for one in rounds)


@given(sizes, st.integers(1, 60))
def test_a_stratified_sample_takes_systems_evenly(
    size: tuple[int, int, float, int], wanted: int
) -> None:
    some = outputs(size[0], size[1], missing=size[2], seed=size[3])

    taken = item_plan.stratified_sample(some, wanted, np.random.default_rng(size[3]))

    counts = Counter(taken.systems.tolist())
    available = Counter(some.systems.tolist())
    assert len(taken) == min(wanted, len(some))
    assert len(set(taken.ids.tolist())) == len(taken)
    unfinished = [counts[system] for system in available if counts[system] < available[system]]
    assert all(max(counts.values()) - count <= 1 for count in unfinished)


@given(sizes)
def test_pairs_come_once_each_and_within_a_document(size: tuple[int, int, float, int]) -> None:
    some = outputs(size[0], size[1], missing=size[2], seed=size[3])
    document_of = dict(zip(some.ids.tolist(), some.documents.tolist(), strict=True))
    expected = sum(n * (n - 1) // 2 for n in Counter(some.documents.tolist()).values())

    for plan in (item_plan.pairs_connected_early, item_plan.pairs_by_document):
        pairs = list(plan(some, np.random.default_rng(size[3])))
        assert len({frozenset(pair.outputs) for pair in pairs}) == len(pairs) == expected
        assert all({document_of[pk] for pk in pair.outputs} == {pair.document} for pair in pairs)


@pytest.mark.parametrize("systems", [2, 3, 4, 7, 16])
def test_the_graph_of_comparisons_is_connected_after_one_less_than_the_systems(
    systems: int,
) -> None:
    some = outputs(20, systems)
    system_of = dict(zip(some.ids.tolist(), some.systems.tolist(), strict=True))

    first = islice(item_plan.pairs_connected_early(some, np.random.default_rng(3)), systems - 1)

    joined = [{system} for system in range(systems)]
    for pair in first:
        a, b = (next(group for group in joined if system_of[pk] in group) for pk in pair.outputs)
        if a is not b:
            a |= b
            joined.remove(b)
    assert len(joined) == 1


def test_pairs_are_balanced_over_systems() -> None:
    some = outputs(20, 6)
    system_of = dict(zip(some.ids.tolist(), some.systems.tolist(), strict=True))

    first = list(islice(item_plan.pairs_connected_early(some, np.random.default_rng(1)), 60))

    counts = Counter(system_of[pk] for pair in first for pk in pair.outputs)
    assert max(counts.values()) - min(counts.values()) <= 1


def test_groups_have_the_size_asked_for_and_cover_every_output() -> None:
    some = outputs(5, 7)

    groups = list(item_plan.groups(some, 3, np.random.default_rng(0)))

    assert {len(group.outputs) for group in groups} == {3}
    assert {pk for group in groups for pk in group.outputs} == set(some.ids.tolist())
    assert all(len(set(group.outputs)) == 3 for group in groups)


def test_highest_takes_the_highest_and_leaves_the_unknown() -> None:
    some = outputs(4, 1)

    taken = item_plan.highest(some, np.array([0.5, np.nan, 2.0, 1.0]), 2)

    assert taken.ids.tolist() == [102, 103]


def test_sides_are_drawn_anew_for_each_annotator_and_item() -> None:
    sides = [item_plan.shown_order((1, 2), seed=0, item=item, annotator=9) for item in range(400)]

    assert item_plan.shown_order((1, 2), seed=0, item=7, annotator=9) == sides[7]
    assert 150 < sum(side == [1, 2] for side in sides) < 250


@given(st.integers(0, 50), st.lists(st.integers(1, 20), max_size=20))
def test_checks_are_their_share_of_all_that_is_handed_out(percent: int, packs: list[int]) -> None:
    handed = checks = 0
    for pack in packs:
        checks += item_plan.checks_due(handed, pack, percent)
        handed += pack

    # checks / (checks + ordinary) = percent / 100, to the whole check below
    assert checks <= handed * percent / (100 - percent) + 1e-6 < checks + 1
