"""Documents of a group, such as a topic, are alike: intervals and tests take groups as units."""

from dataclasses import replace

import numpy as np
import pytest

import geval
from benchmarks.verdict_errors import grouped_world as world
from geval.reports.data import DocumentName, in_order, with_groups
from geval.reports.verdicts.verdict import Verdict
from geval.statistics.agreement import judge_minus_a_rater
from geval.statistics.arrays import Outputs
from geval.statistics.jackknife import LeftOut, correlation_interval, difference_interval
from geval.statistics.panel import folds
from tests.thresholds.three_points import pins


def alone(outputs: Outputs) -> Outputs:
    return Outputs(outputs.document, outputs.system, outputs.documents, outputs.systems)


def test_groups_are_left_out_whole() -> None:
    found = LeftOut.of(6, np.array([0, 0, 1, 1, 1, 4]))

    assert (found.groups, found.group.tolist(), found.is_given) == (3, [0, 0, 1, 1, 1, 2], True)
    assert LeftOut.of(6, None).groups == 6


@pins("INTERVAL_GROUPS", {7: False, 8: True, 9: True})
def test_groups_for_an_interval(value: int, expected: bool) -> None:
    outputs, ratings, (judge, other) = world(value)
    human = ratings.means()

    about = (outputs, human, judge, "spearman")
    assert (correlation_interval(*about, "summary", "documents").low is not None) is expected
    assert (correlation_interval(*about, "dataset", "documents").low is not None) is expected
    pair = difference_interval(outputs, (human, judge), (human, other), "spearman", "summary")
    assert (pair.low is not None) is expected
    assert (judge_minus_a_rater(outputs, ratings, judge).error is not None) is expected


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        ([f"topic{group}-{number}" for group in range(8) for number in range(3)], 8),
        ([f"a {chr(65 + group)}/{number}" for group in range(9) for number in range(4)], 9),
        ([f"topic{group}-{number}" for group in range(7) for number in range(9)], 0),  # too few
        ([f"topic{group}-{number}" for group in range(8) for number in range(2)], 0),  # too small
        ([f"doc{number}" for number in range(40)], 0),
        ([f"doc-{number}" for number in range(40)], 0),
        ([f"t{group}-{n}" for group in range(8) for n in range(3)] + ["other"], 0),
        ([f"{group}-{number}" for group in range(10) for number in range(5)], 10),
        ([f"2024-{month:02}-{day}" for month in range(1, 10) for day in range(1, 6)], 0),
        ([f"log 2024/{month:02}/{day:02}" for month in range(1, 10) for day in range(1, 6)], 0),
    ],
)
def test_names_may_state_groups(names: list[str], groups: int) -> None:
    documents = [DocumentName(pk, name, "", "") for pk, name in enumerate(names)]

    assert len({each.group for each in with_groups(documents)} - {""}) == groups


def test_groups_that_are_given_win_and_are_adjacent() -> None:
    names = [f"t{group}-{number}" for number in range(3) for group in range(8)]
    documents = [DocumentName(pk, name, "", "ab"[pk % 2]) for pk, name in enumerate(names)]

    found = in_order(documents)

    assert [each.group for each in found] == ["a"] * 12 + ["b"] * 12


def table(groups: int) -> list[dict[str, object]]:
    """A table with a column that names topics, of a judge that follows people."""
    rng = np.random.default_rng(3)
    rows = []
    for document in range(groups * 6):
        for system in range(4):
            quality = rng.normal(3, 1.2)
            points = np.clip(np.round(quality + rng.normal(0, 0.4, 4)), 1, 5)
            names = ("ann", "bob", "cyd", "gpt")
            rows.append({"doc": f"d{document}x", "topic": f"T{document % groups}", "sys": system,
                         **dict(zip(names, points, strict=True))})  # fmt: skip
    return rows


@pytest.mark.parametrize(("groups", "is_early"), [(7, True), (8, False)])
def test_a_column_names_groups(groups: int, is_early: bool) -> None:
    result = geval.measure(
        table(groups), human=["ann", "bob", "cyd"], judge="gpt", document="doc", system="sys",
        group="topic",
    )  # fmt: skip

    assert result.report.groups == groups
    assert (result.verdict == Verdict.TOO_EARLY) is is_early
    assert any(f"{groups} groups" in note for note in result.notes)
    assert is_early is ("groups of documents" in result.criteria[0].reason)


def test_a_document_in_two_groups_is_an_error() -> None:
    rows = table(8)
    rows[1]["topic"] = "T7"

    with pytest.raises(geval.InputError, match="has only one group"):
        geval.measure(rows, human=["ann", "bob", "cyd"], judge="gpt", document="doc",
                      system="sys", group="topic")  # fmt: skip


def test_documents_of_a_group_are_held_out_together() -> None:
    outputs = replace(Outputs.full(40, 2), group=np.arange(40) % 8)
    documents = np.arange(5, 40)

    held_out = folds(outputs, documents, np.random.default_rng(0))

    assert sorted(np.concatenate(held_out)) == list(range(35))
    groups = [set(outputs.group[documents[places]]) for places in held_out]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 8
    alone = folds(Outputs.full(40, 2), documents, np.random.default_rng(0))
    assert sorted(np.concatenate(alone)) == list(range(35))


@pytest.mark.parametrize(("named", "share"), [({}, 1.0), ({"group": "topic"}, 1 / 6)])
def test_what_is_promised_for_more_documents_rests_on_groups(
    named: dict[str, str], share: float
) -> None:
    result = geval.measure(
        table(10), human=["ann", "bob", "cyd"], judge="gpt", document="doc", system="sys", **named
    ).report.criteria[0]  # fmt: skip

    assert result.freedom == pytest.approx(share)
    assert result.projections[0].promised_documents > result.projections[0].documents
