"""`make bench-library`: what the library costs: CPU of `import geval`, of `geval.measure` and of
`geval-site check` on SummEval's coherence (1,600 outputs with their texts, three experts, one
judge), and what it takes on disk; CPU and peak memory of `geval.measure`, with its reading process,
on made-up tables of 100,000 and 1,000,000 rows.

CPU and memory depend on the machine and are only printed beside their goals; size does not, and
fails. It is that of the installed requirements and of our packages, without bytecode;
`make test-package` measures a new environment.
"""

import csv
import gzip
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackagePath, distribution
from pathlib import Path

from packaging.requirements import Requirement

from benchmarks.site import BENCHMARK_DATA, CHECKOUT

IMPORT_SECONDS, MEASURE_SECONDS, MEGABYTES = 0.15, 1.0, 250
# Rows of a table, and the goals of measuring it.
LARGE = {100_000: (1.2, 200), 1_000_000: (12.0, 700)}
REPEATS = 5
EXPERTS, JUDGE, CRITERION = ("expert_1", "expert_2", "expert_3"), "gpt-4o", "coherence"
PACKAGES = ("geval", "geval_site", "evaluations", "annotations", "assurance", "templates", "static")
# The CPU of a new process, the start of Python itself left out where `begun` is set later.
CPU = "import sys, time; begun = time.process_time(); {}; sys.stderr.write(str("
CPU += "time.process_time() - begun))"
MEASURE = (
    "import geval; geval.measure({file!r}, human={experts!r}, judge={judge!r},"
    " criterion={criterion!r}, document='document', system='system')"
)
# Processor seconds, those of the reading process too, and the larger peak of memory in kilobytes.
USED = (
    "; from geval.files.apart import reading; reading._waiting.stop(); import os, resource;"
    " peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF,"
    " resource.RUSAGE_CHILDREN)]; sys.stderr.write(f'{sum(os.times()[:4])} {max(peaks)}')"
)
CHECK = "from geval.command_line import main; main({arguments!r})"


@dataclass(frozen=True)
class Figure:
    """What was measured, beside its goal."""

    name: str
    value: float
    goal: float
    unit: str

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.value:.3g} {self.unit} (goal: at most {self.goal:g}, ratio"
            f" {self.value / self.goal:.2f})"
        )


def summeval(folder: Path) -> Path:
    """A table of SummEval's coherence: a row for each output, a column for each expert."""
    data = BENCHMARK_DATA / "summeval"
    values: dict[tuple[str, str], dict[str, str]] = {}
    for name, who in (("human_ratings", "annotator"), ("llm_scores", "judge")):
        with gzip.open(data / f"{name}.csv.gz", "rt") as lines:
            for row in csv.DictReader(lines):
                if row["criterion"] == CRITERION and row[who] in (*EXPERTS, JUDGE):
                    at = values.setdefault((row["doc_id"], row["system_id"]), {})
                    at[row[who]] = row["score"]
    path = folder / "summeval.csv"
    columns = ("document", "system", "source", "output", *EXPERTS, JUDGE)
    with path.open("w", newline="") as file, gzip.open(data / "outputs.jsonl.gz", "rt") as lines:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        for line in lines:
            row = json.loads(line)
            name = (row["doc_id"], row["system_id"])
            texts = {"source": row["source"], "output": row["output"]}
            table.writerow(dict(zip(columns[:2], name, strict=True)) | texts | values[name])
    return path


def made_up(folder: Path, rows: int) -> Path:
    """A table of outputs, eight of a document, that three experts and a judge scored."""
    rng, path = random.Random(1), folder / f"{rows}.csv"
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("document", "system", *EXPERTS, JUDGE))
        for number in range(rows):
            quality = rng.gauss(3, 1)
            ratings = [min(5, max(1, round(quality + rng.gauss(0, 0.8)))) for _ in EXPERTS]
            score = round(quality + rng.gauss(0, 0.8), 2)
            table.writerow((f"d{number // 8}", f"s{number % 8}", *ratings, score))
    return path


def used(statements: str) -> tuple[float, float]:
    """The CPU in seconds of a new process and its reading process, and the peak memory in MB."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {statements}{USED}"],
        cwd=CHECKOUT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    seconds, kilobytes = map(float, done.stderr.split())
    return seconds, kilobytes / 2**10


def cpu_seconds(statements: str) -> float:
    """The least CPU that they took in a new process: what others do at the same time adds."""
    return min(_cpu_once(statements) for _ in range(REPEATS))


def _cpu_once(statements: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", CPU.format(statements)],
        cwd=CHECKOUT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return float(done.stderr)


def installed_megabytes() -> float:
    """Our packages, and what they require without an extra, as installed here."""
    names, sizes = ["geval-site"], {}
    while names:
        about = distribution(names.pop())
        for text in about.requires or ():
            needed = Requirement(text)
            chosen = [{"extra": extra} for extra in needed.extras] or [{"extra": ""}]
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                names += [] if needed.name.lower() in sizes else [needed.name]
                names += [
                    each.name
                    for each in map(Requirement, distribution(needed.name).requires or ())
                    if each.marker
                    and any(each.marker.evaluate(extra) for extra in chosen)
                    and each.name.lower() not in sizes
                ]
        sizes[about.name.lower()] = sum(map(_size, about.files or ()))
    ours = (path for name in PACKAGES for path in (CHECKOUT / name).rglob("*") if path.is_file())
    own = sum(path.stat().st_size for path in ours if path.suffix != ".pyc")
    return (sum(sizes.values()) + own) / 2**20


def _size(path: PackagePath) -> int:
    located = Path(str(path.locate()))
    return located.stat().st_size if located.is_file() and located.suffix != ".pyc" else 0


def figures() -> Iterator[Figure]:
    """The figures, each as soon as it is measured."""
    yield Figure("import geval", cpu_seconds("import geval"), IMPORT_SECONDS, "s of CPU")
    about = {"experts": list(EXPERTS), "judge": JUDGE, "criterion": CRITERION}
    with tempfile.TemporaryDirectory() as folder:
        for rows, (most, memory) in LARGE.items():
            file = str(made_up(Path(folder), rows))
            seconds, megabytes = used(MEASURE.format(file=file, **about))
            yield Figure(f"geval.measure, {rows:,} rows", seconds, most, "s of CPU")
            yield Figure(f"geval.measure, {rows:,} rows", megabytes, memory, "MB of memory")
    if BENCHMARK_DATA.is_dir():
        with tempfile.TemporaryDirectory() as folder:
            file = str(summeval(Path(folder)))
            measure = MEASURE.format(file=file, **about)
            arguments = ["check", file, "--judge", JUDGE, "--criterion", CRITERION]
            arguments += [part for name in EXPERTS for part in ("--human", name)]
            arguments += ["--document", "document", "--system", "system"]
            check = CHECK.format(arguments=arguments)
            for name, statements in (("geval.measure", measure), ("geval-site check", check)):
                seconds = cpu_seconds(statements)
                yield Figure(f"{name}, 1,600 outputs", seconds, MEASURE_SECONDS, "s of CPU")
    yield Figure("the library, installed", installed_megabytes(), MEGABYTES, "MB")


def print_figures() -> bool:
    """Print them; whether what does not depend on the machine reaches its goal."""
    are_reached = True
    for figure in figures():
        print(figure, flush=True)
        are_reached &= figure.unit != "MB" or figure.value <= figure.goal
    return are_reached


if __name__ == "__main__":
    if not print_figures():
        sys.exit("The library is larger than its goal.")
