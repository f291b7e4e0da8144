"""A plugin for pytest: a test that fails when a judge does not meet its requirements.

    def test_the_judge_may_rate(geval_judge):
        geval_judge("ratings_and_scores.csv").require("spearman.summary.low>=0.45", "raters>=3")

or, without a body:

    @pytest.mark.geval("ratings_and_scores.csv", require=["verdict.spot_checks"])
    def test_the_judge_may_rate(geval_judge): ...

The report of a test that fails has what was measured, and so have the summary and JUnit's
properties. A test that measures and requires nothing fails. Nothing else is imported until a test
asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pytest

if TYPE_CHECKING:
    from geval.measuring.certifying import Certification
    from geval.measuring.measurement import CriterionMeasure, Measurement

MARKER = "geval"
Value = TypeVar("Value")


class GevalJudge:
    """Measures judges for one test, and notes what came of it."""

    def __init__(self, node: pytest.Item) -> None:
        self._node = node
        self._measured: Measurement | None = None
        self._is_used = False

    def __call__(self, *sources: Any, **options: Any) -> GevalJudge:
        """Measure ratings and scores, from one source or several files; as `geval.measure`."""
        import geval  # noqa: PLC0415 (numpy takes a while)

        source = sources[0] if len(sources) == 1 else list(sources)
        result = _or_fail(lambda: geval.measure(source, **options))
        self._measured = result
        self._node.add_report_section("call", "geval", "\n".join(map(_figures, result.criteria)))
        for each in result.criteria:
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
            _fail(
                "Nothing was measured: call geval_judge(FILE), or mark the test with"
                " @pytest.mark.geval(FILE, require=[…])."
            )
        self._is_used = True
        return self._measured

    def require(self, *requirements: str, criterion: str = "", judge: str = "") -> None:
        """Fail the test unless all requirements are met, by the judges and criteria that
        `geval.certify` names."""
        import geval  # noqa: PLC0415

        certified = _or_fail(
            lambda: geval.certify(self.measured, requirements, criterion=criterion, judge=judge)
        )
        self._node.stash.setdefault(_SAID, []).extend(map(_line, certified))
        for each in certified:
            self._record(f"geval.{each.criterion}.outcome", str(each.outcome))
        if unmet := [each for each in certified if each.exit_code]:
            _fail("\n".join(map(str, unmet)))

    def refuse_no_requirement(self) -> None:
        """Fail the test if nothing depends on what was measured."""
        if self._is_used:
            return
        if self.measured:
            _fail("Nothing is required of what was measured: call .require(…), or use .measured.")

    def _record(self, name: str, value: object) -> None:
        self._node.user_properties.append((name, value))


_SAID = pytest.StashKey[list[str]]()
_JUDGE = pytest.StashKey[GevalJudge]()


def _fail(message: str) -> NoReturn:
    pytest.fail(message, pytrace=False)


def _or_fail(work: Callable[[], Value]) -> Value:
    """Return what work gives; an error of its input fails the test without a traceback."""
    from geval.measuring.inputs import InputError  # noqa: PLC0415

    try:
        return work()
    except InputError as error:
        message = str(error)
    _fail(message)


def _figures(each: CriterionMeasure) -> str:
    """Return a criterion's verdict and figures in a line."""
    figures = {"rho": each.rho, "one rater": each.one_rater, "kappa": each.kappa}
    numbers = [f"{name} {value:.2f}" for name, value in figures.items() if value is not None]
    head = f"{each.criterion}: {each.verdict.label} ({each.judge or 'no judge'})"
    return "; ".join([head, *numbers, f"{each.outputs} outputs, {each.raters} raters"])


def _line(certified: Certification) -> str:
    return f"{certified.judge} on {certified.criterion}: {certified.outcome}"


@pytest.fixture
def geval_judge(request: pytest.FixtureRequest) -> GevalJudge:
    """Measures a judge; a marker says of which files, and what it has to meet."""
    judge = request.node.stash[_JUDGE] = GevalJudge(request.node)
    return judge


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Measure what a marker names before the test, and see afterwards that something depends on
    what was measured."""
    judge = pyfuncitem.stash.get(_JUDGE, None)
    # A module's marker is for its tests that use the fixture.
    markers = pyfuncitem.iter_markers() if judge else pyfuncitem.own_markers
    for marker in [each for each in markers if each.name == MARKER]:
        judge = judge or GevalJudge(pyfuncitem)
        _measure_marked(judge, marker)
    result = yield
    if judge:
        judge.refuse_no_requirement()
    return result


def _measure_marked(judge: GevalJudge, marker: pytest.Mark) -> None:
    from geval.measuring.certifying import fields_named  # noqa: PLC0415

    options = dict(marker.kwargs)
    required, by = (_as_list(options.pop(name, ())) for name in ("require", "by"))
    if not marker.args:
        _fail("Name the files that are measured: @pytest.mark.geval(FILE, require=[…]).")
    options["by"] = _or_fail(lambda: fields_named(by, required))
    judge(*marker.args, **options)
    if required:
        judge.require(*required)


def _as_list(names: str | Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


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
