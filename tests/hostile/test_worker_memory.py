"""A worker stays small and goes on, whatever sizes a server sends to it."""

from collections import Counter
from collections.abc import Callable

import pytest

from evaluations.judging.runs.starting import start_run
from evaluations.models import EvaluationRun, Judge, Project, RunState
from tests.conftest import wait_until
from tests.hostile.endpoint import hostile_endpoint
from tests.hostile.memory import watched_memory
from tests.hostile.table import record
from tests.processes import WorkerProcess

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.processes]
LARGE = (
    "endless body", "endless chunks", "endless gzip", "endless headers", "endless informing",
    "gzip of 100 MB",
    "deflate of 100 MB", "a header of 200 KB", "5,000 headers", "content: five megabytes",
    "choices: 100,000 of them",
    "top_logprobs: 100,000", "logprobs: 40,000 tokens", "error of a megabyte", "JSON: deep object",
    "a chunk of 2**60",
    "a huge length", "content: NUL",
)  # fmt: skip
# Of the worker and its child together, what they share counted once: about 360 MB, two thirds of it
# the code that they load, while replies come that are far larger.
MOST_BYTES = 400 * 2**20


def test_replies_of_any_size_leave_a_worker_small(
    project: Project, load: Callable[..., object], start_worker: Callable[[], WorkerProcess]
) -> None:
    rows = "\n".join(
        f'{{"doc_id": "d{number}", "system_id": "s", "source": "S.", "output": "Text {number}."}}'
        for number in range(16)
    )
    load(
        project,
        {
            "o.jsonl": rows,
            "r.csv": "doc_id,system_id,criterion,annotator,score\nd1,s,coherence,ann,4\n",
        },
    )
    with hostile_endpoint() as hostile:
        worker = start_worker()
        with watched_memory(worker.process.pid) as memory:
            for mode in LARGE:
                endpoint = project.endpoints.create(name=mode, base_url=hostile.base_url(mode))
                asked = {
                    "name": mode,
                    "model": "m",
                    "mode": "logprobs",
                    "use_steps": False,
                    "timeout_seconds": 5,
                }
                judge = Judge.objects.create(
                    project=project, endpoint=endpoint, concurrency=16, **asked
                )
                start_run(judge, list(project.criteria.all()))
            # What is no JSON is an outage, after which a run goes on trying by itself.
            active = EvaluationRun.objects.filter(
                state__in=(RunState.PREPARING, RunState.RUNNING), outage_since=None
            )
            wait_until(lambda: not active.exists(), seconds=400)

    ends = Counter(EvaluationRun.objects.values_list("state", flat=True))
    record("replies of any size, one worker", ends)
    record(
        f"worker's memory, most {memory.most // 2**20} MB",
        Counter({"lost" if memory.most > MOST_BYTES else "small": 1}),
    )
    assert memory.most < MOST_BYTES
    assert ends.total() == len(LARGE)
    assert worker.process.poll() is None
