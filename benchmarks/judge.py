"""`make bench-judge`: the judge engine against a bare loop over the same SDK set-up, measured in
one run.

SummEval's 1,600 outputs, one criterion, token probabilities, against the stand-in with 0.2 s
latency. The bare loop asks the same prompts with the same client and as many calls in flight,
parses nothing and stores nothing. Everything shares the machine with the stand-in and PostgreSQL,
as on a small server. The same on SummEval's four criteria by the Responses API
(`--only-responses`: alone), and with a decision model, which gets typed questions in place of
prompts (`--only-decisions`: alone). `--large` adds the run of 160,000 items; `--only-limits`
measures rate limits alone (limits.py), whose goals fail the benchmark if they are missed.
"""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.limits import (
    Goal,
    measure_at_random,
    measure_limits,
    measure_overload,
    measure_two_projects,
)
from benchmarks.site import BENCHMARK_DATA, StandIn, Worker, temporary_site, wait_for_workers
from geval.llm.responses import RESPONSES

MODEL = "offline-stand-in"
IN_FLIGHT = 64
LATENCY = "0.2"
# How often a route beside chat completions is measured, and what at least is wanted in the middle.
# Whatever else runs on the machine has a part in it.
ROUNDS = 3
LEAST_SHARE = 0.95
CRITERIA = {
    "coherence": "Whether the sentences make one well-built whole.",
    "consistency": "Whether the summary states only what the article states.",
    "fluency": "Whether each sentence is well written.",
    "relevance": "Whether the summary selects what is important.",
}
FAULTS = (
    "--rate-limit-rate", "0.1", "--retry-after", "1", "--error-rate", "0.02", "--unparseable-rate",
    "0.01",
    "--hang-rate", "0.005",
)  # fmt: skip


@dataclass(frozen=True)
class Measured:
    """How long a pass over the items took, and what it cost; of a run also how long it was until
    its first calls were counted."""

    items: int
    seconds: float
    cpu_seconds: float
    calls: int = 0
    first_after: float = 0.0

    @property
    def rate(self) -> float:
        return self.items / self.seconds

    @property
    def cpu_ms(self) -> float:
        return 1000 * self.cpu_seconds / self.items

    def line(self, name: str) -> str:
        return (
            f"{name:44} {self.rate:7.1f} items/s {self.cpu_ms:7.2f} ms CPU/item"
            f" {self.seconds:8.2f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--large", action="store_true", help="also a run of 160,000 items (many minutes)"
    )
    parser.add_argument("--only-limits", action="store_true", help="only how rate limits are kept")
    parser.add_argument("--only-decisions", action="store_true", help="only a decision model")
    parser.add_argument("--only-responses", action="store_true", help="only the Responses API")
    options = parser.parse_args()
    with temporary_site():
        from evaluations.models import Project

        project = Project.objects.create(slug="summeval", name="SummEval")
        _load(project)
        is_all = not (options.only_limits or options.only_decisions or options.only_responses)
        goals = []
        if not options.only_limits:
            four = Project.objects.create(slug="four", name="Four criteria")
            _load(four, CRITERIA)
        if is_all or options.only_decisions:
            goals += _measure_decisions(four)
        if is_all or options.only_responses:
            goals += _measure_responses(four)
        if options.only_decisions or options.only_responses:
            _fail_where_missed(goals)
            return
        if not options.only_limits:
            _measure(project, large=options.large)
        other = Project.objects.create(slug="other", name="Another project")
        _load(other)
        measure_at_random(project, _judge, _run)
        goals += [
            *measure_limits(project, _judge, _run),
            *measure_two_projects((project, other), _judge),
            *measure_overload(project, _judge, _run),
        ]
        _fail_where_missed(goals)


def _fail_where_missed(goals: Sequence[Goal]) -> None:
    missed = [goal.name for goal in goals if not (goal.is_met or goal.by_chance)]
    if missed:
        raise SystemExit(f"Missed: {'; '.join(missed)}.")


def _measure(project: object, *, large: bool) -> None:
    with StandIn("--latency", LATENCY) as standin:
        judge = _judge(project, standin.base_url, "bench")
        prompts = _prompts(project)
        asyncio.run(
            _bare_loop(standin.base_url, prompts)
        )  # the stand-in remembers its distributions: warm for all
        first = Worker()
        try:
            wait_for_workers(1)
            _run(judge, [first], limit=100)  # a warm-up of the worker's own
            bare = asyncio.run(_bare_loop(standin.base_url, prompts))
            one = _run(judge, [first])
            bare_again = asyncio.run(_bare_loop(standin.base_url, prompts))
            second = Worker()
            try:
                wait_for_workers(2)
                # A judge's calls in flight are over all workers, so it may have twice as many.
                wider = _judge(project, standin.base_url, "bench, wider", in_flight=2 * IN_FLIGHT)
                two = _run(wider, [first, second])
            finally:
                second.stop()
        finally:
            first.stop()
    rate = (bare.rate + bare_again.rate) / 2
    cpu = (bare.cpu_ms + bare_again.cpu_ms) / 2
    print(bare.line(f"bare loop, {IN_FLIGHT} in flight"))
    print(bare_again.line(f"bare loop, {IN_FLIGHT} in flight, again"))
    print(one.line(f"one worker, {IN_FLIGHT} in flight"))
    print(two.line(f"two workers, {IN_FLIGHT} in flight each"))
    print(f"share of the bare loop's rate   {one.rate / rate:6.2f}    (at least 0.80)")
    print(f"CPU beyond the bare loop        {one.cpu_ms - cpu:6.2f} ms an item (at most 3.00)")
    print(f"two workers against one         {two.rate / one.rate:6.2f} x  (at least 1.60)")
    _with_errors(project)
    _flat_cost(project, large=large)


def _measure_decisions(project: object) -> list[Goal]:
    """A decision model against a bare loop over the same client."""
    with StandIn("--latency", LATENCY) as standin:
        judge = _judge(project, standin.base_url, "decider", kind="decision")
        return _between_loops(judge, _decision_requests(project), "decisions")


def _measure_responses(project: object) -> list[Goal]:
    """A judge by the Responses API against a bare loop over the same client."""
    with StandIn("--latency", LATENCY) as standin:
        judge = _judge(project, f"{standin.base_url}{RESPONSES}", "responses")
        return _between_loops(judge, _prompts(project), "Responses API")


def _between_loops(judge: object, requests: Sequence[Any], name: str) -> list[Goal]:
    """Runs of a judge, each between two bare loops with the same requests."""
    base_url = judge.endpoint.base_url
    asyncio.run(_bare_loop(base_url, requests))  # warm for all
    worker = Worker()
    try:
        wait_for_workers(1)
        _run(judge, [worker], limit=100)
        bare = [asyncio.run(_bare_loop(base_url, requests))]
        runs = []
        for _ in range(ROUNDS):
            runs.append(_run(judge, [worker]))
            bare.append(asyncio.run(_bare_loop(base_url, requests)))
    finally:
        worker.stop()
    shares = []
    for at, measured in enumerate(runs):
        rate = (bare[at].rate + bare[at + 1].rate) / 2
        shares.append(measured.rate / rate)
        asking = measured.items / (measured.seconds - measured.first_after) / rate
        print(bare[at].line(f"bare loop, {name}, {IN_FLIGHT} in flight"))
        print(measured.line(f"one worker, {name}, {IN_FLIGHT} in flight"))
        print(f"share of the bare loop's rate   {shares[-1]:6.2f}")
        print(
            f"the same from the first calls   {asking:6.2f}    (after {measured.first_after:.2f} s)"
        )
    last = judge.runs.first()
    unscored = last.items.exclude(state="done").count()
    goals = [
        Goal(
            f"share of the bare loop's rate, {name}",
            median(shares),
            LEAST_SHARE,
            by_chance=True,
        ),
        Goal(f"items without a score, {name}", unscored, 0, at_most=True),
        Goal(f"calls an item, {name}", last.calls / runs[-1].items, 1.0, at_most=True),
    ]
    for goal in goals:
        print(goal.line())
    return goals


def _with_errors(project: object) -> None:
    with StandIn("--latency", LATENCY, *FAULTS) as standin:
        judge = _judge(project, standin.base_url, "unreliable", timeout=3)
        worker = Worker()
        try:
            wait_for_workers(1)
            found = _run(judge, [worker])
        finally:
            worker.stop()
    scored = judge.runs.first().scores.count()
    print(found.line("one worker, endpoint with errors"))
    print(f"scored under errors             {scored:6,} of {found.items:,}")
    print(f"calls an item under errors      {found.calls / found.items:6.3f}    (at most 1.170)")


def _flat_cost(project: object, *, large: bool) -> None:
    """Cost an item and memory, from 1,600 items to many, without latency."""
    copies = 100 if large else 10
    with StandIn() as standin:
        worker = Worker()
        try:
            wait_for_workers(1)
            small = _run(_judge(project, standin.base_url, "flat"), [worker])
            small_memory = worker.peak_megabytes
            big_project = _multiplied(project, copies)
            big = _run(_judge(big_project, standin.base_url, "flat"), [worker])
            big_memory = worker.peak_megabytes
        finally:
            worker.stop()
    print(small.line(f"{small.items:,} items without latency"))
    print(big.line(f"{big.items:,} items without latency"))
    print(
        f"cost an item, {copies} x the items     {big.cpu_ms / small.cpu_ms:6.2f} x  (flat:"
        " about 1)"
    )
    print(f"worker's peak memory            {small_memory:6.0f} MB, then {big_memory:.0f} MB")


def _load(project: object, criteria: Collection[str] = ("coherence",)) -> None:
    from evaluations.corpus.store import load_files
    from geval.files.readers import InputFile

    path = BENCHMARK_DATA / "summeval" / "outputs.jsonl.gz"
    if not path.exists():
        raise SystemExit(f"SummEval's outputs are not at {path}; this benchmark needs them.")
    load_files(project, [InputFile(path, path.name)])
    for position, name in enumerate(criteria):
        project.criteria.create(name=name, definition=CRITERIA[name], position=position)


def _multiplied(project: object, copies: int, *, references: bool = False) -> object:
    """A project with the same outputs many times over, each a little different so that each takes a
    call."""
    from django.db import connection

    from evaluations.models import Project

    big = Project.objects.create(slug="many", name="Many")
    big.criteria.create(name="coherence", definition=CRITERIA["coherence"])
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO evaluations_document (project_id, doc_id, source, context, "references")
               SELECT %s, n || '-' || doc_id, source, '', CASE WHEN %s THEN "references"
                   ELSE '[]' END
               FROM evaluations_document, generate_series(1, %s) n WHERE project_id = %s""",
            [big.pk, references, copies, project.pk],
        )
        cursor.execute(
            "INSERT INTO evaluations_system (project_id, name, kind) "
            "SELECT %s, name, kind FROM evaluations_system WHERE project_id = %s",
            [big.pk, project.pk],
        )
        cursor.execute(
            """INSERT INTO evaluations_candidateoutput (document_id, system_id, text)
               SELECT d.id, s.id, o.text || ' ' || d.id FROM evaluations_candidateoutput o
               JOIN evaluations_document old ON old.id = o.document_id AND old.project_id = %s
               JOIN evaluations_system olds ON olds.id = o.system_id
               JOIN evaluations_document d ON d.project_id = %s
                AND old.doc_id = regexp_replace(d.doc_id, '^[0-9]+-', '')
               JOIN evaluations_system s ON s.project_id = %s AND s.name = olds.name""",
            [project.pk, big.pk, big.pk],
        )
        cursor.execute("ANALYZE")
    return big


def _judge(
    project: object,
    base_url: str,
    name: str,
    *,
    timeout: float = 60,
    in_flight: int = IN_FLIGHT,
    kind: str = "geval",
) -> object:
    from evaluations.models import Endpoint, Judge

    endpoint = Endpoint.objects.create(project=project, name=name, base_url=base_url)
    return Judge.objects.create(
        project=project, name=name, endpoint=endpoint, model=MODEL, kind=kind, use_steps=False,
        mode="logprobs" if kind == "geval" else "", settings={},
        concurrency=in_flight, timeout_seconds=timeout,
    )  # fmt: skip


def _prompts(project: object) -> list[Any]:
    from evaluations.judging.judges.criteria import prompt_parts
    from geval.llm.prompts import compose_template, render
    from geval.llm.requests import ChatRequest

    outputs = _texts(project)
    templates = [
        compose_template(prompt_parts(criterion), steps=None)
        for criterion in project.criteria.all()
    ]
    prompts = [render(template, texts) for template in templates for texts in outputs]
    return [ChatRequest(MODEL, prompt, top_logprobs=20) for prompt in prompts]


def _decision_requests(project: object) -> list[Any]:
    from evaluations.judging.judges.criteria import prompt_parts
    from geval.evaluators.base import new_settings
    from geval.evaluators.decision import INPUT, Decision
    from geval.llm.decisions import DecisionRequest, TypedQuestion, levels_of
    from geval.llm.prompts import render

    requests, outputs = [], _texts(project)
    for criterion in project.criteria.all():
        parts = prompt_parts(criterion)
        template = Decision(new_settings(Decision, {})).template(parts)
        instructions, _mark, inputs = template.partition(INPUT)
        asked = (TypedQuestion(instructions, levels_of(parts.scale)),)
        requests += [
            DecisionRequest(MODEL, render(inputs, texts), asked, "decisions") for texts in outputs
        ]
    return requests


def _texts(project: object) -> list[Any]:
    from evaluations.models import CandidateOutput
    from geval.llm.item_texts import Texts

    outputs = CandidateOutput.objects.filter(document__project=project).select_related("document")
    return [Texts(output.document.source, output.text) for output in outputs]


async def _bare_loop(base_url: str, requests: Sequence[Any]) -> Measured:
    """The floor: the same client and requests, nothing else."""
    from geval.llm.decisions import DecisionRequest
    from geval.llm.endpoints import Client

    async with Client(base_url, "", timeout=60, allow_private=True) as client:
        waiting = iter(requests)
        is_decision = isinstance(requests[0], DecisionRequest)
        ask: Callable[[Any], Awaitable[object]] = client.decide if is_decision else client.chat

        async def slot() -> None:
            for request in waiting:
                await ask(request)

        began, cpu = time.monotonic(), time.process_time()
        await asyncio.gather(*(slot() for _ in range(IN_FLIGHT)))
        return Measured(len(requests), time.monotonic() - began, time.process_time() - cpu)


def _run(judge: object, workers: Sequence[Worker], *, limit: int = 0) -> Measured:
    """A run from its start to its end, judged afresh; with `limit` it is cancelled after so many
    items."""
    from evaluations.judging.runs.lifecycle import cancel_run
    from evaluations.judging.runs.starting import RunRequest, start_run

    before = sum(worker.cpu_seconds for worker in workers)
    began = time.monotonic()
    run = start_run(judge, list(judge.project.criteria.all()), RunRequest(fresh=True))
    first_after = 0.0
    while run.is_active:
        time.sleep(0.02)
        run.refresh_from_db()
        if run.calls and not first_after:
            first_after = time.monotonic() - began
        if limit and run.calls >= limit:
            cancel_run(run.pk, "Warm enough.")
    seconds = time.monotonic() - began
    if limit:
        time.sleep(1)
    cpu = sum(worker.cpu_seconds for worker in workers) - before
    return Measured(
        max(1, run.items.filter(state__in=("done", "failed")).count()),
        seconds,
        cpu,
        run.calls,
        first_after,
    )


if __name__ == "__main__":
    main()
