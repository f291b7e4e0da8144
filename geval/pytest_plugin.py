"""A plugin for pytest: a test that fails when a judge does not meet its requirements.

    def test_the_judge_may_rate(geval_judge):
        geval_judge("ratings_and_scores.csv").require("spearman.summary.low>=0.45", "raters>=3")

or, without a body:

    @pytest.mark.geval("ratings_and_scores.csv", require=["verdict.spot_checks"])
    def test_the_judge_may_rate(geval_judge): ...

What was measured stands in the report of a test that fails, in the summary, and in JUnit's
properties. Nothing else is imported until a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from geval.measuring.certifying import Certification
    from geval.measuring.measurement import Measurement

MARKER = "geval"
_SAID = pytest.StashKey[list[str]]()


class GevalJudge:
    """Measures judges for one test, and notes what came of it."""

    def __init__(self, node: pytest.Item, record_property: Callable[[str, object], None]) -> None:
        self._node = node
        self._record = record_property
        self._measured: Measurement | None = None

    def __call__(self, source: Any, **options: Any) -> GevalJudge:
        """Measure ratings and scores; as `geval.measure`."""
        import geval  # noqa: PLC0415 (numpy takes a while)

        self._measured = geval.measure(source, **options)
        self._node.add_report_section("call", "geval", str(self._measured))
        for each in self._measured.criteria:
            self._record(f"geval.{each.criterion}.verdict", each.verdict.label)
            self._record(f"geval.{each.criterion}.judge", each.judge or "")
            self._record(f"geval.{each.criterion}.rho", each.rho)
        return self

    @property
    def measured(self) -> Measurement:
        """What was measured.

        Raises:
            pytest.fail.Exception: nothing was.
        """
        if self._measured is None:
            pytest.fail(
                "Nothing was measured: call geval_judge(FILE), or mark the test with"
                " @pytest.mark.geval(FILE, require=[…]).",
                pytrace=False,
            )
        return self._measured

    def require(self, *requirements: str, criterion: str = "", judge: str = "") -> None:
        """Fail the test unless all requirements are met, by the judges and criteria that
        `geval.certify` names."""
        import geval  # noqa: PLC0415

        certified = geval.certify(self.measured, requirements, criterion=criterion, judge=judge)
        self._node.stash.setdefault(_SAID, []).extend(map(_line, certified))
        for each in certified:
            self._record(f"geval.{each.criterion}.outcome", str(each.outcome))
        unmet = [each for each in certified if each.exit_code]
        if unmet:
            pytest.fail("\n".join(map(str, unmet)), pytrace=False)


def _line(certified: Certification) -> str:
    return f"{certified.judge} on {certified.criterion}: {certified.outcome}"


@pytest.fixture
def geval_judge(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> GevalJudge:
    """Measures a judge; a marker says of which files, and what it has to meet."""
    # Imported once a test asks for it.
    from geval.measuring.certifying import fields_named  # noqa: PLC0415

    judge = GevalJudge(request.node, record_property)
    for marker in request.node.iter_markers(MARKER):
        options = dict(marker.kwargs)
        required = options.pop("require", ())
        by = options.pop("by", ())
        options["by"] = fields_named([by] if isinstance(by, str) else by, required)
        judge(list(marker.args), **options)
        if required:
            judge.require(*required)
    return judge


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "geval(*files, require=[…], **options): measure a judge's scores beside people's ratings;"
        " the test fails unless the requirements are met (fixture geval_judge)",
    )


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    if call.when == "teardown":
        # Tests of other processes come back as reports; properties travel with them.
        item.user_properties += [("geval", line) for line in item.stash.get(_SAID, [])]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = [
        f"{report.nodeid}: {value}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "teardown"
        for name, value in report.user_properties
        if name == "geval"
    ]
    if lines:
        terminalreporter.section("geval")
        for line in lines:
            terminalreporter.write_line(line)
