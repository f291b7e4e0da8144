"""Change the code a little, one place at a time, and see whether the nearest tests notice.

`make mutate` runs every change, `make mutate SAMPLE=200` some of them, drawn with a fixed seed;
`ONLY="*alt_test*"` those of files and functions that fit a pattern. `.ci/mutants.toml` says which
tests are nearest to a module, and which changes change nothing, with the reason. CONTRIBUTING.md
says why this is a script of our own.

A change within a function is only shown to those of the nearest tests that call the function (or
code within it) by a trace of all of them beforehand; other tests cannot notice it.
"""

import argparse
import ast
import copy
import fnmatch
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
GOAL = 0.9
# What tells the line of a change that changes nothing from others.
KEYS = ("path", "function", "text")
# A mutant may take this many times as long as its tests do without it, and not less than this.
TIMES, LEAST_SECONDS = 4, 20
NOT_NOTICED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
PACKAGES = ("geval", "evaluations", "annotations", "assurance", "geval_site")
MODELS = ("evaluations.models", "annotations.models")
# Smaller numbers guard against rounding; nobody sees them move by a tenth.
GUARD = 1e-5
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div,
    ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
# Types are no code; what a decorator or a message says is not what is tested here.
SKIPPED = {"annotation", "returns", "decorator_list", "type_params"}


@dataclass(frozen=True)
class Mutant:
    """A change: its module, its function, its line with what stands there, and what becomes of
    it (ending with #2, #3 where the same is done to another place of such a line); `number` counts
    the changes of a module, `body` is from which line to which the innermost function goes, None
    for code that runs on import."""

    path: str
    number: int
    function: str
    line: int
    text: str
    change: str
    body: tuple[int, int] | None

    @property
    def key(self) -> tuple[str, ...]:
        return (*(getattr(self, key) for key in KEYS), self.change)

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.function})  {self.change}  in  {self.text}"


Change = tuple[ast.AST, str, str, Callable[[], None]]


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every change of a module: its node, its function, what it is, and what makes it."""
    yield from _of_children(tree, [])


def _of_children(node: ast.AST, scope: list[str]) -> Iterator[Change]:
    for name, value in ast.iter_fields(node):
        if name in SKIPPED or isinstance(node, ast.Raise | ast.JoinedStr | ast.Import):
            continue
        if isinstance(node, ast.keyword) and node.arg == "strict":
            continue  # of zip: what it guards against does not happen
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST):
                continue
            put = _putter(node, name, at if isinstance(value, list) else None)
            inner = [*scope, child.name] if hasattr(child, "name") and child.name else scope
            for what, new in _variants(child):
                yield child, ".".join(inner) or "module", what, lambda put=put, new=new: put(new)
            yield from _of_children(child, inner)


def _putter(node: ast.AST, name: str, at: int | None) -> Callable[[ast.AST], None]:
    def put(new: ast.AST) -> None:
        if at is None:
            setattr(node, name, new)
        else:
            getattr(node, name)[at] = new

    return put


def _variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What a node may become, each with its description."""
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                if type(op) in SWAPS:
                    new = copy.copy(node)
                    new.ops = [*ops[:at], SWAPS[type(op)](), *ops[at + 1 :]]
                    yield _arrow(node, new), new
        case ast.BoolOp(op=op) | ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in SWAPS:
            if isinstance(node, ast.BinOp) and _is_text(node.left):
                return
            new = copy.copy(node)
            new.op = SWAPS[type(op)]()
            yield _arrow(node, new), new
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub(), operand=operand):
            yield _arrow(node, operand), operand
        case ast.Constant(value=bool(value)):
            yield _arrow(node, ast.Constant(not value)), ast.Constant(not value)
        case ast.Constant(value=int(value)):
            for new in (ast.Constant(value + 1), ast.Constant(value - 1)):
                yield _arrow(node, new), new
        case ast.Constant(value=float(value)) if abs(value) > GUARD:
            for new in (ast.Constant(value * 1.1), ast.Constant(value * 0.9)):
                yield _arrow(node, new), new
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return None", ast.Return(ast.Constant(None))
        case ast.Name(id=name, ctx=ast.Load()) if name in NAMES:
            yield f"{name} -> {NAMES[name]}", ast.Name(NAMES[name], ast.Load())


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr | ast.Constant) and isinstance(
        getattr(node, "value", ""), str
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _arrow(old: ast.AST, new: ast.AST) -> str:
    before, after = (ast.unparse(ast.fix_missing_locations(copy.copy(one))) for one in (old, new))
    return f"{before} -> {after}" if len(before) < 60 else f"{before[:40]}... -> {after[:40]}..."


def mutants_of(path: str) -> list[Mutant]:
    """All changes of a module, in the order of the text."""
    source = (CHECKOUT / path).read_text()
    lines = source.splitlines()
    tree = ast.parse(source)
    bodies = [_lines_of(node) for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    mutants: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for number, (node, function, what, _make) in enumerate(changes(tree)):
        line = getattr(node, "lineno", 0)
        around = [body for body in bodies if body[0] <= line <= body[1]]
        body = max(around, default=None)  # the innermost begins last
        text = lines[line - 1].strip()
        seen[function, text, what] += 1
        times = seen[function, text, what]
        change = f"{what} #{times}" if times > 1 else what
        mutants.append(Mutant(path, number, function, line, text, change, body))
    return mutants


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
    begin = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
    return begin, function.end_lineno or begin


class MutantFinder(importlib.abc.MetaPathFinder):
    """Imports one module with a change, and everything else as it is."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._module = mutant.path.removesuffix(".py").replace("/", ".")

    def find_spec(self, fullname, path=None, _target=None):
        if fullname != self._module:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert spec and spec.loader  # noqa: PT018
        spec.loader = MutantLoader(fullname, str(spec.origin), self._mutant.number)
        return spec


class MutantLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname: str, path: str, number: int) -> None:
        super().__init__(fullname, path)
        self._number = number

    def get_code(self, _fullname):
        tree = ast.parse(Path(self.path).read_text())
        for number, (_node, _function, _what, make) in enumerate(changes(tree)):
            if number == self._number:
                make()
                break
        return compile(ast.fix_missing_locations(tree), self.path, "exec")


Calls = dict[str, list[int]]


class Tracer:
    """A plugin of pytest that tells which tests call which functions of a module, by the lines at
    which these begin, which modules they import, and how many seconds each takes; those under ""
    every test needs first, if it comes alone."""

    def __init__(self, path: str, file: Path) -> None:
        self._source, self._file = str(CHECKOUT / path), file
        self._calls: dict[str, set[int]] = defaultdict(set)
        self._test = ""  # while modules are imported, and in fixtures of several tests
        self._seconds: Counter[str] = Counter()
        self._begin = time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_load_initial_conftests(self) -> None:
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._test = nodeid

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef
    ) -> Generator[None, object, object]:
        test, begin = self._test, time.monotonic()
        self._test = test if fixturedef.scope == "function" else ""
        try:
            return (yield)
        finally:
            if not self._test:
                self._seconds[""] += time.monotonic() - begin
            self._test = test

    def pytest_collection_finish(self) -> None:
        self._seconds[""] += time.monotonic() - self._begin

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        sys.settrace(None)
        calls = {test: sorted(of) for test, of in self._calls.items()}
        modules = [name for name in sys.modules if name.startswith(PACKAGES)]
        trace = {"calls": calls, "modules": modules, "seconds": self._seconds}
        self._file.write_text(json.dumps(trace))

    def _trace(self, frame: FrameType, _event: str, _arg: object) -> None:
        if frame.f_code.co_filename == self._source:
            self._calls[self._test].add(frame.f_code.co_firstlineno)


class OnlyTests:
    """A plugin of pytest that leaves out all tests but some."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def pytest_collection_modifyitems(self, items: list) -> None:
        items[:] = [item for item in items if item.nodeid in self._names]


def calling(mutant: Mutant, calls: Calls) -> set[str] | None:
    """The tests that call the function of a mutant; None for all of them."""
    if not mutant.body:
        return None
    begin, end = mutant.body
    tests = {test for test, lines in calls.items() if any(begin <= at <= end for at in lines)}
    return None if "" in tests else tests


def in_a_process(
    mutant: Mutant | None, tests: list[str], slot: int, plugins: Collection[object] = ()
) -> int:
    """Start the tests in a process of their own; its id. None changes nothing."""
    pid = os.fork()
    if pid:
        return pid
    status = 70
    try:
        os.setsid()
        quiet = os.open(os.devnull if mutant else LOG, os.O_WRONLY | os.O_CREAT)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if mutant:
            sys.meta_path.insert(0, MutantFinder(mutant))
        # pytest's own import of what it rewrites would come before the finder of the mutant.
        options = ["-x", "-q", "--assert=plain", "-m", "not slow"]
        options += ["-p", "no:cacheprovider", "-p", "no:xdist"]
        status = int(pytest.main([*options, *tests], plugins=[_OwnDatabase(slot), *plugins]))
    finally:
        os._exit(status)


class _OwnDatabase:
    """Tests of one slot have a database of their own on the server that all share."""

    def __init__(self, slot: int) -> None:
        self._slot = slot

    def pytest_sessionstart(self) -> None:
        from django.db import connection

        connection.settings_dict["TEST"]["NAME"] = f"test_mutants_{self._slot}"


@dataclass
class Job:
    mutant: Mutant
    pid: int
    slot: int
    until: float


def run(
    mutants: list[Mutant], tests: list[str], calls: Calls, seconds: dict[str, float], *, jobs: int
) -> Iterator[tuple[Mutant, bool]]:
    """Run mutants of a module, some at a time; yields each with whether it was killed.

    Args:
        seconds: how long each test takes, and under "" what comes before any.
    """
    waiting, running = list(reversed(mutants)), []
    free = list(range(jobs))
    while waiting or running:
        while waiting and free:
            mutant = waiting.pop()
            names = calling(mutant, calls)
            files, plugins = tests, []
            if names is not None:
                if not names:
                    yield mutant, False
                    continue
                plugins = [OnlyTests(names)]
                files = [file for file in tests if any(name.startswith(file) for name in names)]
            slot = free.pop()
            pid = in_a_process(mutant, files, slot, plugins)
            usual = sum(of for name, of in seconds.items() if names is None or name in {"", *names})
            limit = max(LEAST_SECONDS, TIMES * jobs * usual)
            running.append(Job(mutant, pid, slot, time.monotonic() + limit))
        time.sleep(0.02)
        for job in list(running):
            done, status = os.waitpid(job.pid, os.WNOHANG)
            if not done and time.monotonic() > job.until:
                os.killpg(job.pid, signal.SIGKILL)
                done, status = os.waitpid(job.pid, 0)
            if done:
                running.remove(job)
                free.append(job.slot)
                yield job.mutant, os.waitstatus_to_exitcode(status) not in NOT_NOTICED


def survivors_among(mutants: list[Mutant], tests: list[str], jobs: int) -> list[Mutant]:
    """Those of a module's mutants that its tests do not notice; exits where tests fail as they are.

    All of it happens in a copy of this process, which imports what the module does not change.
    """
    path, file = mutants[0].path, Path(LOG + ".json")
    _pid, status = os.waitpid(in_a_process(None, tests, 0, [Tracer(path, file)]), 0)
    if status:
        sys.exit(f"The tests of {path} fail as they are, see {LOG}: {' '.join(tests)}")
    trace = json.loads(file.read_text())
    if pid := os.fork():
        _pid, status = os.waitpid(pid, 0)
        if status:
            sys.exit(f"The mutants of {path} could not be run.")
        numbers = json.loads(file.read_text())
        file.unlink()
        return [mutant for mutant in mutants if mutant.number in numbers]
    status = 1
    try:
        import_independent_of(path, trace["modules"])
        survived = []
        calls, seconds = trace["calls"], trace["seconds"]
        for mutant, is_killed in run(mutants, tests, calls, seconds, jobs=jobs):
            if not is_killed:
                survived.append(mutant.number)
                print(f"survived: {mutant}", flush=True)
        file.write_text(json.dumps(survived))
        status = 0
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(status)


def import_independent_of(path: str, modules: list[str]) -> None:
    """Import those of our modules, named as they were imported, that a module does not change, so
    that not each of its mutants has to."""
    import django
    import grimp

    changed = path.removesuffix(".py").replace("/", ".")
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    dependent, new = set(), {changed}
    while new:
        dependent |= new
        # Whoever imports a module imports the packages that it is in.
        new = {
            name
            for one in new
            for name in graph.find_downstream_modules(one) | graph.find_descendants(one)
        } - dependent
    # The site's URLs name those of each app by a text.
    others = graph.modules - dependent - {"geval_site.urls"}
    if not others.issuperset(MODELS):
        return
    django.setup()
    for name in modules:
        if name in others:
            importlib.import_module(name)
    assert changed not in sys.modules
    gc.freeze()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="so many mutants (0: all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=["*"], help="patterns for PATH:FUNCTION")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with (CHECKOUT / ".ci/mutants.toml").open("rb") as file:
        table = tomllib.load(file)
    tests: dict[str, list[str]] = table["tests"]
    same = {
        (*(entry[key] for key in KEYS), change)
        for entry in table["equivalent"]
        for change in entry["changes"]
    }
    mutants = [
        one
        for path in tests
        for one in mutants_of(path)
        if any(fnmatch.fnmatch(f"{one.path}:{one.function}", wanted) for wanted in options.only)
    ]
    equivalent = [mutant for mutant in mutants if mutant.key in same]
    mutants = [one for one in mutants if one not in equivalent]
    if options.sample and options.sample < len(mutants):
        some = random.Random(options.seed).sample(range(len(mutants)), options.sample)  # noqa: S311
        mutants = [mutants[at] for at in sorted(some)]
    counts, survivors = {}, []
    for path in dict.fromkeys(one.path for one in mutants):
        own = [mutant for mutant in mutants if mutant.path == path]
        survived = survivors_among(own, tests[path], options.jobs)
        counts[path] = [len(own) - len(survived), len(survived)]
        survivors += survived
    sys.exit(report(counts, survivors, len(equivalent)))


def report(counts: dict[str, list[int]], survivors: list[Mutant], equivalent: int) -> int:
    """Print the table; the status of the command."""
    print(f"\n{'module':48}{'killed':>8}{'survived':>10}{'share':>8}")
    for path, (killed, survived) in counts.items():
        print(f"{path:48}{killed:8}{survived:10}{killed / (killed + survived):8.0%}")
    killed, total = sum(one for one, _ in counts.values()), sum(map(sum, counts.values()))
    share = killed / total if total else 1.0
    print(f"{'all':48}{killed:8}{total - killed:10}{share:8.0%}   goal {GOAL:.0%}")
    print(f"{equivalent} changes that change nothing are not counted (.ci/mutants.toml).")
    for mutant in sorted(survivors, key=lambda one: (one.path, one.line)):
        print(f"  {mutant}")
    return 0 if share >= GOAL else 1


LOG = str(Path(tempfile.gettempdir()) / f"mutate-{os.getpid()}.log")
# Makes the template of the test databases, and keeps their server until its input ends.
_SERVER = (
    "import tests.environment, django, sys; django.setup();"
    "from tests.database import use_template; use_template(); sys.stdin.read()"
)

if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT))
    sys.dont_write_bytecode = True
    os.chdir(CHECKOUT)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.site_settings"
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.nice(15)
    # Other people's packages once for all, as each mutant runs in a copy of this process.
    from tests.forking import IMPORTED

    for name in (
        *IMPORTED,
        "hypothesis.extra.numpy",
        "schemathesis.pytest.plugin",
        "tests.environment",
    ):
        importlib.import_module(name)
    server = subprocess.Popen([sys.executable, "-c", _SERVER], stdin=subprocess.PIPE)
    try:
        main()
    finally:
        assert server.stdin
        server.stdin.close()
        server.wait()
