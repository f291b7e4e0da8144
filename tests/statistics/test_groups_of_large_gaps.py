"""What large gaps share is found, by exact tests, and hardly ever where there is nothing."""

import numpy as np
import pytest
from scipy import stats

from geval.statistics.arrays import Outputs
from geval.statistics.large_gaps import (
    Cluster,
    Group,
    find_clusters,
    group_test,
    largest,
    length_test,
    stratified_test,
)
from geval.statistics.thresholds import GAP_OUTPUTS


def test_one_stratum_is_fishers_exact_test() -> None:
    rng = np.random.default_rng(1)
    member, hit = rng.random(60) < 0.3, rng.random(60) < 0.4
    table = [
        [(member & hit).sum(), (member & ~hit).sum()],
        [(~member & hit).sum(), (~member & ~hit).sum()],
    ]

    p = stratified_test(np.zeros(60, dtype=int), member, hit)

    assert p == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)


def test_strata_add_up_to_the_sum_of_hypergeometric_numbers() -> None:
    """Of 4 outputs 1 is hit in the first document, 2 in the second; the system has one in each:
    both hit by chance in 1/4 times 2/4."""
    stratum = np.repeat([0, 1], 4)
    member = np.array([1, 0, 0, 0, 1, 0, 0, 0], dtype=bool)
    hit = np.array([1, 0, 0, 0, 1, 1, 0, 0], dtype=bool)

    assert stratified_test(stratum, member, hit) == pytest.approx(1 / 8)


def test_two_strata_match_scipys_convolution() -> None:
    stratum = np.repeat([0, 1], [20, 30])
    rng = np.random.default_rng(2)
    member, hit = rng.random(50) < 0.5, rng.random(50) < 0.3
    parts = [
        stats.hypergeom(size, (member & (stratum == at)).sum(), (hit & (stratum == at)).sum())
        for at, size in ((0, 20), (1, 30))
    ]
    chances = np.convolve(*(part.pmf(np.arange(31)) for part in parts))

    p = stratified_test(stratum, member, hit)

    assert p == pytest.approx(chances[(member & hit).sum() :].sum())


@pytest.mark.parametrize(("members", "hits"), [(10, 3), (0, 3), (3, 0), (3, 10)])
def test_where_everybody_or_nobody_is_a_member_or_hit_nothing_can_be_asked(
    members: int, hits: int
) -> None:
    member, hit = np.arange(10) < members, np.arange(10) < hits

    assert stratified_test(np.zeros(10, dtype=int), member, hit) is None
    assert stratified_test(np.empty(0, dtype=int), member[:0], hit[:0]) is None
    # Beside a stratum that leaves room, one that leaves none changes nothing.
    stratum = np.repeat([0, 1], [10, 4])
    more = np.append(member, [True, False, True, False]), np.append(hit, [True, True, False, False])
    alone = stratified_test(np.zeros(4, dtype=int), more[0][10:], more[1][10:])
    assert stratified_test(stratum, *more) == pytest.approx(alone)


def test_no_chance_is_more_than_one() -> None:
    rng = np.random.default_rng(6)
    certain = 0
    for _ in range(200):
        stratum, member, hit = rng.integers(0, 3, 40), rng.random(40) < 0.4, rng.random(40) < 0.3
        p = stratified_test(stratum, member, hit & ~member)
        if p is not None:
            assert p == pytest.approx(1)
            assert p <= 1
            certain += 1
    assert certain > 100


def test_the_length_is_mann_whitneys_test() -> None:
    outputs = Outputs.full(50, 1)
    rng = np.random.default_rng(3)
    words, large = rng.integers(5, 60, 50).astype(float), np.arange(50) < 12

    found = length_test(outputs, words, large)

    assert found is not None
    expected = stats.mannwhitneyu(words[large], words[~large], method="asymptotic").pvalue
    assert found.p == pytest.approx(expected)
    assert (found.inside, found.members) == (np.median(words[:12]), np.median(words[12:]))


def test_large_is_about_the_largest_thirty_with_ties_together() -> None:
    values = np.array([3.0] * 12 + [2.0] * 20 + [1.0] * 20 + [0.5] * 948)

    assert largest(values).sum() == 32


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.arange(GAP_OUTPUTS - 1.0), "too few outputs"),
        (np.zeros(100), "no gaps"),
        (np.array([1.0] * 60 + [0.0] * 40), "more than a quarter tied at the top"),
        (np.array([5.0] * 3 + [1.0] * 97), "three, then all the rest at once"),
    ],
)
def test_nothing_is_large_in(values: np.ndarray, why: str) -> None:
    assert not largest(values).any(), why


def planted(seed: int = 0) -> tuple[Outputs, np.ndarray, list[Group], np.ndarray]:
    """Fifty documents by eight systems; the gaps of system 3 are large in half of them."""
    rng = np.random.default_rng(seed)
    outputs = Outputs.full(50, 8)
    gaps = np.abs(rng.normal(0, 1, 400))
    gaps[(outputs.system == 3) & (outputs.document % 2 == 0)] += 4
    groups = [Group("system", f"s{at}", outputs.system == at) for at in range(8)]
    return outputs, gaps, groups, rng.integers(10, 90, 400).astype(float)


def test_a_system_with_most_of_the_large_gaps_is_found() -> None:
    outputs, gaps, groups, words = planted()

    found = find_clusters(outputs, largest(gaps), groups, words)

    assert [(one.kind, one.name) for one in found] == [("system", "s3")]
    assert found[0].inside == (largest(gaps) & (outputs.system == 3)).sum() >= 20
    assert (found[0].large, found[0].members, found[0].total) == (30, 50, 400)
    assert found[0].adjusted < 1e-6


def test_short_outputs_are_found() -> None:
    outputs, gaps, groups, words = planted()
    words[largest(gaps)] = 4.0

    kinds = {one.kind for one in find_clusters(outputs, largest(gaps), groups, words)}

    assert kinds == {"system", "length"}


def test_the_word_of_difficult_documents_is_found_over_documents() -> None:
    outputs = Outputs.full(60, 4)
    rng = np.random.default_rng(5)
    gaps = np.abs(rng.normal(0, 1, 240))
    gaps[(outputs.document < 12) & (outputs.system == outputs.document % 4)] += 5
    groups = [
        Group("word", "cricket", outputs.document < 13),
        Group("word", "weather", outputs.document % 5 == 0),
    ]

    found = find_clusters(outputs, largest(gaps), groups, np.full(240, 20.0))

    assert [(one.name, one.inside, one.members, one.over) for one in found] == [
        ("cricket", 12, 13, "documents")
    ]


@pytest.mark.parametrize(
    ("beside_another", "over"), [(19, "documents"), (20, "outputs"), (21, "outputs")]
)
def test_a_group_that_varies_within_half_of_the_outputs_documents_is_compared_within_them(
    beside_another: int, over: str
) -> None:
    outputs = Outputs.full(40, 2)
    members = (outputs.system == 1) & (outputs.document < beside_another)
    large = outputs.document % 3 == outputs.system

    found = group_test(outputs, Group("rater", "ann", members), large)

    assert found is not None
    assert (found.over, found.adjusted) == (over, 1.0)
    assert found.total == (80 if over == "outputs" else 40)


def test_documents_with_one_output_count_as_others_do() -> None:
    outputs = Outputs.full(40, 1)

    found = group_test(outputs, Group("word", "sea", outputs.document < 12), outputs.document < 9)

    assert found is not None
    assert (found.over, found.inside, found.members, found.total) == ("documents", 9, 12, 40)


def test_a_word_of_most_documents_is_compared_over_documents() -> None:
    outputs = Outputs.full(40, 2)

    found = group_test(outputs, Group("word", "sea", outputs.document < 30), outputs.document < 9)

    assert found is not None
    assert (found.over, found.inside, found.members) == ("documents", 9, 30)


@pytest.mark.parametrize(("of_three", "belong"), [(1, 8), (2, 14)])
def test_a_document_belongs_to_a_group_that_has_half_of_its_outputs(
    of_three: int, belong: int
) -> None:
    # Sixteen documents of two outputs and forty of three; the group has one output of eight of the
    # first, and so many of six of the others.
    document = np.concatenate([np.repeat(np.arange(16), 2), np.repeat(np.arange(16, 56), 3)])
    place = np.arange(len(document)) - np.searchsorted(document, document)
    members = ((document < 8) & (place < 1)) | (
        (document >= 16) & (document < 22) & (place < of_three)
    )
    outputs = Outputs(document, place, 60, 3)  # four documents have no outputs
    large = (document % 5 == 0) & (place == 0)

    found = group_test(outputs, Group("rater", "ann", members), large)

    assert found is not None
    assert (found.over, found.members, found.total) == ("documents", belong, 56)
    assert found.large == 12


def test_what_is_not_known_of_a_group_does_not_count() -> None:
    outputs = Outputs.full(40, 3)
    known = outputs.system < 2
    group = Group("rater", "ann", outputs.system == 1, known)
    large = outputs.document % 2 == outputs.system % 2

    found = group_test(outputs, group, large)

    part = Outputs.full(40, 2)
    alone = Group("rater", "ann", part.system == 1)
    assert found == group_test(part, alone, part.document % 2 == part.system % 2)


@pytest.mark.parametrize(("alone", "is_relative"), [(18, True), (20, True), (22, False)])
def test_lengths_are_relative_to_the_document_where_half_of_the_outputs_have_a_neighbour(
    alone: int, is_relative: bool
) -> None:
    rng = np.random.default_rng(9)
    document = np.append(np.repeat(np.arange(10), 2), np.arange(10, 10 + alone))
    outputs = Outputs(document, np.arange(len(document)), 10 + alone, len(document))
    words = rng.integers(5, 60, len(document)).astype(float)
    large = rng.random(len(document)) < 0.4

    found = length_test(outputs, words, large)

    mean = np.array([words[document == one].mean() for one in document])
    sides = words - mean if is_relative else words
    expected = stats.mannwhitneyu(sides[large], sides[~large], method="asymptotic").pvalue
    assert found is not None
    assert found.p == pytest.approx(expected)


def test_lengths_are_not_compared_where_nothing_or_everything_is_large_or_all_are_the_same() -> (
    None
):
    outputs, words = Outputs.full(25, 2), np.arange(50.0)
    some = np.arange(50) % 3 == 0

    assert length_test(outputs, words, some & False) is None
    assert length_test(outputs, words, some | True) is None
    assert length_test(outputs, np.full(50, 7.0), some) is None
    assert find_clusters(outputs, some, [], np.full(50, 7.0)) == ()


@pytest.mark.parametrize(("count", "is_asked"), [(39, False), (40, True), (41, True)])
def test_forty_outputs_are_asked_what_they_share(count: int, is_asked: bool) -> None:
    outputs, large = Outputs.full(count, 1), np.arange(count) < 12
    words = np.where(large, 90.0, 10.0) + np.arange(count) % 7

    assert bool(find_clusters(outputs, large, [], words)) is is_asked


def test_one_difficult_document_is_no_evidence_about_the_words_in_it() -> None:
    """Sixteen large gaps in one document are one document."""
    outputs = Outputs.full(40, 16)
    large = outputs.document == 7
    group = Group("word", "rare", outputs.document % 8 == 7)

    found = group_test(outputs, group, large)

    assert found is not None
    assert found.p == pytest.approx(5 / 40)


def test_few_outputs_say_nothing() -> None:
    outputs = Outputs.full(13, 3)
    large = outputs.system == 0

    assert find_clusters(outputs, large, [Group("system", "s0", large)], np.ones(39)) == ()


def without_a_cluster(rng: np.random.Generator) -> tuple[Cluster, ...]:
    """A project in which systems, raters, words and lengths have nothing to do with the gaps, but
    documents differ in how difficult they are, in their length, and in who rated them."""
    documents, systems = int(rng.integers(25, 70)), int(rng.integers(4, 12))
    kept = rng.random(documents * systems) < rng.uniform(0.6, 1.0)
    outputs = Outputs.full(documents, systems).part(kept)
    difficulty, bulk = rng.normal(0, 1, documents), rng.uniform(20, 80, documents)
    gaps = np.round(np.abs(rng.normal(0, 1, len(outputs)) + difficulty[outputs.document]), 1)
    words = np.round(rng.normal(bulk[outputs.document], 10))
    rater_of_document = rng.integers(0, 4, documents)
    rater_of_output = rng.integers(0, 4, len(outputs))
    topics = rng.random((25, documents)) < rng.uniform(0.1, 0.5, (25, 1))
    groups = [
        *(Group("system", f"s{at}", outputs.system == at) for at in range(systems)),
        *(Group("rater", f"d{at}", (rater_of_document == at)[outputs.document]) for at in range(4)),
        *(Group("rater", f"o{at}", rater_of_output == at) for at in range(4)),
        *(Group("word", f"w{at}", topic[outputs.document]) for at, topic in enumerate(topics)),
    ]
    return find_clusters(outputs, largest(gaps), groups, words)


@pytest.mark.slow
def test_where_there_is_no_cluster_hardly_any_project_shows_one() -> None:
    rng = np.random.default_rng(0)
    projects = 400

    shown = sum(bool(without_a_cluster(rng)) for _ in range(projects))

    assert shown / projects <= 0.06
