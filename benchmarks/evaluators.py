"""`make bench-evaluators`: ROUGE and BLEU on many outputs with one core and with all, measured in
one run.

SummEval's outputs a hundred times over (160,000; ten times without LARGE=1), each with its eleven
references. With one core everything is held to it: the worker, the process that scores, and
PostgreSQL.
"""

import argparse
import os
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.judge import Measured, _load, _multiplied
from benchmarks.site import temporary_site

JUDGES = {"rouge": {"variant": "rouge2", "references": "mean"}, "bleu": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="160,000 outputs (many minutes)")
    options = parser.parse_args()
    with temporary_site() as folder:
        _measure(folder, copies=100 if options.large else 10)


def _measure(folder: Path, *, copies: int) -> None:
    from evaluations.models import Project

    small = Project.objects.create(slug="summeval", name="SummEval")
    _load(small)
    project = _multiplied(small, copies, references=True)
    cores = sorted(os.sched_getaffinity(0))
    postmaster = int((next(folder.rglob("postmaster.pid"))).read_text().splitlines()[0])
    for kind, settings in JUDGES.items():
        _scored(small, kind, settings, "warm-up", processes=1)
        _hold({os.getpid(), postmaster}, cores[:1])
        one = _scored(project, kind, settings, "one core", processes=1)
        _hold({os.getpid(), postmaster}, cores)
        all_ = _scored(project, kind, settings, "all cores", processes=len(cores))
        print(one.line(f"{kind}, {one.items:,} outputs, one core"))
        print(all_.line(f"{kind}, {all_.items:,} outputs, {len(cores)} cores"))
        print(
            f"{kind}: {len(cores)} cores against one {all_.rate / one.rate:21.2f} x  (at least 1.70"
            " on two)"
        )


def _scored(
    project: object, kind: str, given: dict[str, str], name: str, *, processes: int
) -> Measured:
    """A run of a new judge on all outputs of a project."""
    from django.conf import settings

    from evaluations.judging.judges.judges import JudgeDraft, create_judge
    from evaluations.judging.runs.starting import start_run
    from evaluations.judging.runs.worker import work_on_run
    from evaluations.models import EvaluationRun, RunState

    settings.EVALUATOR_PROCESSES = processes
    judge, _ = create_judge(project, JudgeDraft(name=f"{kind}, {name}", kind=kind, settings=given))
    run = start_run(judge, [])
    began, cpu = time.monotonic(), sum(os.times()[:4])
    work_on_run(run.pk, "bench")
    found = EvaluationRun.objects.get(pk=run.pk)
    assert found.state == RunState.DONE, found.message
    return Measured(found.scores.count(), time.monotonic() - began, sum(os.times()[:4]) - cpu)


def _hold(pids: set[int], cores: Iterable[int]) -> None:
    """Hold processes and all that come from them to some cores."""
    found = list(pids)
    for pid in found:
        for path in Path(f"/proc/{pid}/task").glob("*"):
            os.sched_setaffinity(int(path.name), cores)
            found.extend(int(child) for child in (path / "children").read_text().split())


if __name__ == "__main__":
    main()
