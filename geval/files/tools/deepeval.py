"""Test runs of DeepEval: test cases with the scores of its metrics."""

from collections.abc import Iterator, Mapping
from typing import Any

from geval.files.tools.parts import Part
from geval.files.tools.ratings import OutputRatings

TITLE = "a test run of DeepEval"
MARKS = ("actualOutput",)
HOLDER = "testCases"
WITHIN = "testRunData"
JUDGE = "DeepEval"
_KNOWN = ("success", "runDuration", "evaluationCost", "order", "trace", "tokenCost",
          "completionTime", "metricsMetadata", "flaky")  # fmt: skip


def knows(record: Mapping[str, Any]) -> bool:
    return "actualOutput" in record and "input" in record


def read(record: Part) -> Iterator[dict[str, Any]]:
    """Yield a test case; metrics that failed have no score."""
    for name in _KNOWN:
        record[name].skip()
    output_ratings = OutputRatings()
    for metric in record["metricsData"].objects():
        judge = metric["evaluationModel"].name() or JUDGE
        for name in ("success", "threshold", "strictMode", "reason", "evaluationCost", "flaky"):
            metric[name].skip()
        if metric["error"].holds:
            metric.note_unused("metrics that failed")
            continue
        output_ratings.score(metric["name"].name(), judge, metric["score"])
    context = record.first("retrievalContext", "context").value
    yield {
        "doc_id": record["name"].name(),
        "source": record["input"].text(),
        "output": record["actualOutput"].text(),
        "references": record["expectedOutput"].value,
        "context": "\n\n".join(map(str, context)) if isinstance(context, list) else context,
        **output_ratings.columns,
    }
