"""How long reports take, for `/metrics`."""

from prometheus_client import Histogram

report_seconds = Histogram(
    "geval_report_seconds",
    "Time to compute a report, or to find that nothing has changed.",
    buckets=(0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
)
