"""`make mutate`: change the code a little, one place at a time, and see whether tests notice.

Draws SAMPLE changes over all modules of the product with a SEED, and fails where the nearest tests
notice fewer than 85 %. Changes that change nothing are among the other 15 %.
"""

import ast
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import tokenize
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Queue
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]
PRODUCT = re.compile(r"(geval|evaluations|annotations|assurance|geval_site)/(?!migrations/)")
# Folders whose tests need more than a checkout has, or hours.
APART = {"browser", "fuzz", "hostile", "image", "neural", "package", "servers", "slow", "soak"}
GOAL, FILES, SECONDS, CHOSEN = 0.85, 6, "600", "not slow and not browser"
# Makes the template of the test databases, before anything is changed.
FIRST = "tests/api/test_tokens_of_requests.py"
SWAPS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
    "*": "/", "/": "*", "//": "*", "%": "*", "+=": "-=", "-=": "+=", "is": "is not",
    "in": "not in", "not": "", "and": "or", "or": "and", "True": "False", "False": "True",
    "min": "max", "max": "min", "any": "all", "all": "any",
}  # fmt: skip
ENDS = (tokenize.NEWLINE, tokenize.COMMENT)
# What decorators and messages say is not what is tested here.
SKIPPED = re.compile(r"\s*(@|raise|import|from|assert|\"\"\")|.*strict=")


class Mutant(NamedTuple):
    path: str
    function: str
    change: str
    text: str  # of the whole module


def changes(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each change of a module begins and ends, and what comes there."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for at, token in enumerate(tokens):
        begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        is_apart = (
            token.type == tokenize.NAME or text[begin - 1 : begin] == text[end : end + 1] == " "
        )
        if SKIPPED.match(token.line):
            continue
        if token.type == tokenize.NUMBER:
            number = ast.literal_eval(token.string)
            # Nobody sees a limit of 500 move by one.
            steps = (number + 1, number - 1) if number < 10 else (number * 2, number // 2)
            yield from ((begin, end, repr(step)) for step in steps)
        elif token.string == "return" and tokens[at + 1].type not in ENDS:
            stop = next(token for token in tokens[at:] if token.type == tokenize.NEWLINE).start
            yield end, starts[stop[0] - 1] + stop[1], " None"
        elif token.string == "-" and not is_apart:
            yield begin, end, ""
        elif token.string in SWAPS and is_apart and tokens[at + 1].string != "not":
            yield begin, end, SWAPS[token.string]


def drawn(texts: Mapping[str, str], count: int, seed: int) -> Iterator[Mutant]:
    """So many changes of the product that are Python, at most one of a line."""
    product = filter(PRODUCT.match, sorted(texts))
    every = [(path, *change) for path in product for change in changes(texts[path])]
    random.Random(seed).shuffle(every)  # noqa: S311
    lines: set[tuple[str, int]] = set()
    for path, begin, end, new in every:
        before, old, after = texts[path][:begin], texts[path][begin:end], texts[path][end:]
        line = before.count("\n") + 1
        if old == new or (path, line) in lines:
            continue
        lines.add((path, line))
        try:
            compile(before + new + after, path, "exec")
        except SyntaxError:
            continue
        (function,) = re.findall(r"^ *(?:async )?def (\w+)", before, re.M)[-1:] or [""]
        change = f"{path}:{line} ({function})  {old[:50]} -> {new}"
        yield Mutant(path, function, change, before + new + after)
        if not (count := count - 1):
            return


def importers_of(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """The files that import each module, or a name of it."""
    importers = defaultdict(set)
    for path, text in texts.items():
        for module, names in re.findall(r"^\s*from ([\w.]+) import (\([^)]*\)|.*)", text, re.M):
            for name in ("", *(f".{one}" for one in re.findall(r"\w+", names))):
                importers[module + name].add(path)
    return importers


def nearest(
    mutant: Mutant, texts: Mapping[str, str], importers: Mapping[str, set[str]]
) -> list[str]:
    """The test files that get at a module by the fewest imports, first those that name the
    function, then those whose names share words with it."""
    far, waiting = {mutant.path: 0}, [mutant.path]
    for path in waiting:
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        new = importers.get(module, set()) - far.keys()
        far |= dict.fromkeys(new, far[path] + 1)
        waiting += new
    words = set(re.findall(r"[a-z]{3,}", f"{mutant.path} {mutant.function}"))

    def order(path: str) -> tuple[int, int, str]:
        is_named = re.search(rf"\b{mutant.function or '-'}\b", texts[path])
        shared = words & set(re.findall(r"[a-z]{3,}", path))
        return far.get(path, 9) - 3 * bool(is_named), -len(shared), path

    tests = (path for path in texts if re.search(r"^tests/.*/test_\w+\.py$", path))
    return sorted((path for path in tests if not APART & {*path.split("/")}), key=order)[:FILES]


def failure(folder: Path, tests: Sequence[str]) -> list[str]:
    """The first file that fails in a copy of the checkout, or all if it cannot be known which."""
    command = ["timeout", SECONDS, sys.executable, "-m", "pytest", "-xq", "-m", CHOSEN, *tests]
    own = {"PYTHONPATH": str(folder), "GEVAL_TEST_DATA_DIR": str(folder.parent / "data")}
    done = subprocess.run(  # noqa: PLW1510
        command, cwd=folder, env=os.environ | own, capture_output=True, text=True
    )
    if done.returncode in (0, 5):  # passed, or nothing to run
        return []
    return re.findall(r"^(?:FAILED|ERROR) ([^:\s]+)", done.stdout, re.M)[:1] or list(tests)


def is_killed(mutant: Mutant, tests: Sequence[str], folders: Queue[Path]) -> bool:
    """Whether tests fail that pass without the change."""
    folder = folders.get()
    module = folder / mutant.path
    before = module.read_text()
    module.write_text(mutant.text)
    failed = failure(folder, tests)
    module.write_text(before)
    killed = bool(failed) and not failure(folder, failed)
    folders.put(folder)
    print("killed  " if killed else "survived", mutant.change, *failed[:1], flush=True)
    return killed


def copied(place: Path) -> Path:
    """A copy of the last commit, beside a data folder of its own and what tests read beside it."""
    folder, data = place / "checkout", place / "data"
    data.mkdir(parents=True)
    place.parent.chmod(0o755)  # the database's own user has to get in
    (place / "shared").symlink_to(CHECKOUT.parent / "shared")
    subprocess.run(["git", "clone", "--quiet", "--depth=1", CHECKOUT.as_uri(), folder], check=True)
    failure(folder, [FIRST])
    return folder


def main() -> int:
    count, seed = map(int, sys.argv[1:])
    jobs = os.cpu_count() or 1
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        ThreadPoolExecutor(jobs) as pool,
    ):
        folders: Queue[Path] = Queue()
        for number in range(jobs):
            folders.put(folder := copied(Path(place, str(number))))
        texts = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.py")}
        mutants, importers = list(drawn(texts, count, seed)), importers_of(texts)
        tests = [nearest(mutant, texts, importers) for mutant in mutants]
        killed = sum(pool.map(partial(is_killed, folders=folders), mutants, tests))
    print(f"{killed} of {count} changes noticed: {killed / count:.0%} (goal {GOAL:.0%})")
    return int(killed / count < GOAL)


if __name__ == "__main__":
    sys.exit(main())
