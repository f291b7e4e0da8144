"""A judge that ties what people rank is no judge; more ratings would not change that."""

from collections.abc import Callable

import pytest

import geval
from geval.reports.verdicts.verdict import Verdict
from geval.statistics.thresholds import INTERVAL_DOCUMENTS


def verdict(
    judge: Callable[[int, int], int], *, documents: int = INTERVAL_DOCUMENTS, level: str = "summary"
) -> Verdict:
    table = [
        {"doc": f"d{d}", "sys": s, "gpt": judge(d, s)}
        | dict.fromkeys(("ann", "bob"), 1 + (s + d) % 4)
        for d in range(documents)
        for s in range(3)
    ]
    measured = geval.measure(
        table, human=["ann", "bob"], judge="gpt", document="doc", system="sys", level=level
    )
    (result,) = measured.report.criteria
    assert result.verdict == result.verdict_on(result.judges[0])
    return result.verdict


@pytest.mark.parametrize(
    ("judge", "documents", "level", "expected"),
    [
        (lambda _d, _s: 3, INTERVAL_DOCUMENTS, "summary", Verdict.KEEP_EXPERT),
        (lambda _d, _s: 3, INTERVAL_DOCUMENTS - 1, "summary", Verdict.TOO_EARLY),
        (lambda _d, _s: 3, INTERVAL_DOCUMENTS, "dataset", Verdict.KEEP_EXPERT),
        (lambda d, _s: 1 + d % 4, INTERVAL_DOCUMENTS, "summary", Verdict.KEEP_EXPERT),
        (lambda d, _s: 1 + d % 4, INTERVAL_DOCUMENTS - 1, "summary", Verdict.TOO_EARLY),
        (lambda d, _s: 1 + d % 4, INTERVAL_DOCUMENTS + 1, "summary", Verdict.KEEP_EXPERT),
        (lambda d, _s: 1 + d % 4, INTERVAL_DOCUMENTS, "dataset", Verdict.TOO_EARLY),
        (lambda d, s: 1 + (s + d) % 4, INTERVAL_DOCUMENTS, "summary", Verdict.TOO_EARLY),
    ],
)
def test_what_ranks_nothing_of_enough_documents_keeps_people(
    judge: Callable[[int, int], int], documents: int, level: str, expected: Verdict
) -> None:
    assert verdict(judge, documents=documents, level=level) == expected
