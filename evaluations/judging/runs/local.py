"""Runs of evaluators that compute on this machine: chunks of items go to processes, and results are
stored as they arrive.

Items are claimed, held and released as for calls to an endpoint (share.py); only the scoring
differs.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Mapping

from django.conf import settings

from evaluations.judging.runs import leases, results
from evaluations.judging.runs.database import Database
from evaluations.judging.runs.lifecycle import pause_run
from evaluations.judging.runs.run_questions import criterion_prompts, item_of
from evaluations.judging.runs.share import RunShare
from evaluations.judging.runs.shift import Shift
from evaluations.models import CandidateOutput, EvaluationRun, Project
from evaluations.models.improving import shown_means
from evaluations.models.newest_scores import newest_scores
from geval.evaluators.base import Corpus, CriterionPrompt, EvaluatorError, LocalEvaluator, Outcome
from geval.evaluators.processes import ScoringProcess
from geval_site.sql import fetch_rows

# How soon a paused run stops, at a query per look.
LOOK_SECONDS = 0.5


async def evaluate_items(
    run: EvaluationRun, evaluator: LocalEvaluator, worker: str, database: Database, shift: Shift
) -> None:
    """Score a run's items until none is free, and close the run if those were the last."""
    why_not = evaluator.why_not()
    if why_not:
        text = f"{evaluator.title} is {why_not}"
        await database.call(lambda: pause_run(run.pk, text))
        return
    prompts = await database.call(lambda: criterion_prompts(run))
    wanted = evaluator.looks_at_now()
    corpus = await database.call(lambda: corpus_for(run, wanted)) if wanted else None
    await _LocalShare(run, evaluator, prompts, corpus, worker, database, shift).compute()


class _LocalShare(RunShare):
    """The share of a worker that computes scores itself."""

    def __init__(
        self,
        run: EvaluationRun,
        evaluator: LocalEvaluator,
        prompts: Mapping[int, CriterionPrompt],
        corpus: Corpus | None,
        worker: str,
        database: Database,
        shift: Shift,
    ) -> None:
        super().__init__(run, worker, database, shift)
        self.evaluator = evaluator
        self.prompts = prompts
        self.corpus = corpus

    async def compute(self) -> None:
        watch = asyncio.create_task(self.watch(every=LOOK_SECONDS))
        processes = settings.EVALUATOR_PROCESSES if self.evaluator.many_processes else 1
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(processes):
                    group.create_task(self._keep_one_busy())
        finally:
            self.stop()
            await watch
        await self.leave()

    async def _keep_one_busy(self) -> None:
        """Run one process: while it scores a chunk, claim the next and store the previous one."""
        chunk = await self._claim()
        if not chunk:
            return
        process = await ScoringProcess.start(self.evaluator, self.corpus)
        try:
            scoring = asyncio.create_task(self._score(process, chunk))
            while chunk:
                following = await self._claim()
                outcomes = await self._unless_halted(scoring)
                if outcomes is None:
                    return
                if following:
                    scoring = asyncio.create_task(self._score(process, following))
                await self._store(chunk, outcomes)
                chunk = following
        except EvaluatorError as error:
            self.stop(str(error))
        finally:
            await process.stop()

    async def _unless_halted(self, scoring: asyncio.Task[list[Outcome]]) -> list[Outcome] | None:
        """Return a chunk's outcomes; None as soon as the worker or the run is stopped. A worker
        that gives way finishes its chunk: a slow evaluator would otherwise never complete one."""
        halted = asyncio.create_task(self.halted.wait())
        try:
            await asyncio.wait({scoring, halted}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            halted.cancel()
        if scoring.done():
            return scoring.result()
        scoring.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await scoring
        return None

    async def _claim(self) -> list[leases.ClaimedItem]:
        if self.stopped.is_set():
            return []
        return await self.database.call(lambda: self.next_items(self._claim_behind))

    def _claim_behind(self, last_id: int) -> list[leases.ClaimedItem]:
        return leases.claim(self.run.pk, self.worker, most=self.evaluator.chunk, after_id=last_id)

    async def _score(
        self, process: ScoringProcess, chunk: list[leases.ClaimedItem]
    ) -> list[Outcome]:
        return await process.score([item_of(item, self.prompts)[0] for item in chunk])

    async def _store(self, chunk: list[leases.ClaimedItem], outcomes: list[Outcome]) -> None:
        finished = [
            results.FinishedItem(item, "", outcome)
            for item, outcome in zip(chunk, outcomes, strict=True)
        ]
        await self.database.call(results.store_each, self.run, finished, self.worker)
        await self.release_stored(item.id for item in chunk)
        await self.end_outage()


def corpus_for(run: EvaluationRun, wanted: frozenset[str]) -> Corpus:
    """Return the parts of a corpus that an evaluator asks for: outputs, sources, references,
    scores."""
    project = run.project
    outputs = CandidateOutput.objects.of_project(project)
    references = (
        project.documents.values_list("references", flat=True) if "references" in wanted else ()
    )
    return Corpus(
        outputs=list(outputs.values_list("text", flat=True)) if "outputs" in wanted else (),
        sources=(
            list(project.documents.values_list("source", flat=True)) if "sources" in wanted else ()
        ),
        references=[text for listed in references for text in listed],
        scores=_newest_scores(project.pk) if "scores" in wanted else {},
        ratings=_human_means(project) if "scores" in wanted else {},
        document_of=dict(outputs.values_list("pk", "document_id")) if "scores" in wanted else {},
    )


def _newest_scores(project_id: int) -> dict[tuple[str, str], dict[int, float]]:
    """Return the newest score of each judge, from its latest version that gave one; a score that
    holds for every criterion has an empty criterion."""
    scores: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    rows = fetch_rows(
        f"""SELECT j.name, coalesce(c.name, ''), n.output_id, n.value
            FROM ({newest_scores("r.project_id = %s")}) AS n
            JOIN evaluations_judge j ON j.id = n.judge_id
            LEFT JOIN evaluations_criterion c ON c.id = n.criterion_id
            WHERE n.value IS NOT NULL ORDER BY j.version""",
        [project_id],
    )
    for judge, criterion, output, value in rows:
        scores[judge, criterion][output] = value
    return dict(scores)


def _human_means(project: Project) -> dict[str, dict[int, float]]:
    """Return the human mean by criterion and output, without withheld ratings, which a score must
    not reveal."""
    names = dict(project.criteria.values_list("pk", "name"))
    ratings: dict[str, dict[int, float]] = defaultdict(dict)
    outputs = CandidateOutput.objects.of_project(project)
    for (output, criterion), mean in shown_means(outputs, project.pk).items():
        ratings[names[criterion]][output] = mean
    return dict(ratings)
