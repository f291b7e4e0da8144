"""Try wordings: score some outputs with a reworded prompt, by runs of the search.

Earlier results are read from stored scores, so a search that starts over after a pause or a lost
worker asks nothing twice. Stored replies are rescored in another way where no call is needed: the
first of several samples, or the rating of a reply with known probabilities.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
from django.db.models import Sum
from django.utils import timezone

from assurance.improving.scoring import Scoring
from evaluations.judging.judges.criteria import prompt_parts
from evaluations.judging.runs.lifecycle import BUDGET_REACHED, resume_run
from evaluations.judging.runs.results import answer_from
from evaluations.judging.runs.shift import Shift
from evaluations.judging.runs.starting import RunRequest, SearchAttempt, run_parameters, start_run
from evaluations.judging.runs.worker import work_on_run
from evaluations.models import (
    ErrandState,
    EvaluationRun,
    ItemState,
    Judge,
    RunItem,
    RunState,
    Search,
)
from geval.evaluators.geval import GEval
from geval.evaluators.wording import Wording, as_setting, wordings_in
from geval.llm.cost import cost
from geval.llm.judgement import JudgeQuestion, readable_choices, score_choices
from geval.llm.request_settings import RequestSettings
from geval.llm.run_parameters import RunParameters
from geval.llm.scoring import Scored
from geval.statistics.types import FloatArray, IntArray
from geval_site.queues import worker_name
from geval_site.sql import fetch_rows

# Each look is a query.
LOOK_SECONDS = 0.2
# How long a worker may hold a search without renewing it: longer than a slice of its work
# (tasks.py), so a worker that exceeds it has died.
LEASE = timedelta(minutes=7)


class Leaving(Enum):
    """Why a worker leaves an unfinished search."""

    SHIFT = "its time is over; the next message goes on"
    WAITING = "a run waits for an endpoint"
    HALTED = "a run was paused by an error, and somebody has to look"
    LOST = "somebody paused or cancelled it, or another worker has it"


class LeftError(BaseException):
    """A worker leaves a search. This is not an error of the search, so nothing may catch it on the
    way."""

    def __init__(self, why: Leaving, message: str = "") -> None:
        super().__init__(message)
        self.why, self.message = why, message


class LimitReachedError(BaseException):
    """A search has used all its calls or money; it ends with the results so far."""


@dataclass(frozen=True)
class Spent:
    """What a search has used so far."""

    calls: int
    money: Decimal | None


def spent_on(search: Search) -> Spent:
    """Return the calls of a search's runs (without those of looks) and of its reflections, and
    their cost; None without prices."""
    names = ("calls", "prompt_tokens", "completion_tokens")
    total = dict.fromkeys(names, 0)
    tried = search.runs.exclude(pk__in=search.candidates.exclude(look_run=None).values("look_run"))
    for rows in (tried, search.proposals.all()):
        sums = rows.aggregate(**{name: Sum(name) for name in names})
        for name in names:
            total[name] += sums[name] or 0
    prices = run_parameters(search.judge, RunRequest()).prices
    cached = tried.aggregate(tokens=Sum("cached_tokens"))["tokens"] or 0
    tokens = total["prompt_tokens"], total["completion_tokens"]
    return Spent(total["calls"], cost(*tokens, prices, cached_tokens=cached))


def renew_search(search: Search) -> None:
    """Renew this worker's claim on a search.

    Raises:
        LeftError: this worker has lost the search.
    """
    held = Search.objects.filter(pk=search.pk, state=ErrandState.ASKING, worker=search.worker)
    # Reaching this point is progress, so earlier losses of workers no longer count.
    if not held.update(taken_until=timezone.now() + LEASE, attempts=1):
        raise LeftError(Leaving.LOST)


class Trials:
    """A judge's scores with other wordings."""

    def __init__(self, search: Search, shift: Shift) -> None:
        self.search, self.shift = search, shift
        self.has_asked = False  # ensures at least one step per slice of work
        self.judge, self.criterion = search.judge, search.criterion
        self.parameters = run_parameters(self.judge, RunRequest())
        self.scoring = Scoring.of(self.judge)  # the scoring to use; the judge's own unless set
        self.parts = prompt_parts(self.criterion)
        steps = self.criterion.newest_steps if self.judge.use_steps else None
        self.steps = steps.text if steps else None

    def own_wording(self) -> Wording:
        """Return the judge's own wording of the criterion, empty if it has none."""
        wordings = wordings_in(self.judge.settings.get("wording", ""))
        return wordings.get(self.criterion.name, Wording())

    def settings(self, wording: Wording) -> dict[str, Any]:
        """Return the judge's settings with a wording of the criterion."""
        settings = dict(self.judge.settings)
        wordings = wordings_in(settings.get("wording", "")) | {self.criterion.name: wording}
        return settings | {"wording": as_setting(wordings)}

    def attempt(self, wording: Wording, output_ids: Sequence[int] | IntArray) -> SearchAttempt:
        """Return the request for a run that judges outputs with a wording."""
        outputs = [int(pk) for pk in output_ids]
        return SearchAttempt(
            self.search, self.settings(wording), outputs, changes=asdict(self.scoring)
        )

    def known(self, wording: Wording, output_ids: Sequence[int] | IntArray) -> FloatArray:
        """Return the known scores of outputs with a wording; shape (outputs,), NaN if unknown."""
        wanted = [int(pk) for pk in output_ids]
        scores = self._known(wording, wanted)
        return np.array([scores.get(pk, np.nan) for pk in wanted])

    def scores(self, wording: Wording, output_ids: Sequence[int] | IntArray) -> FloatArray:
        """Return scores of outputs with a wording, judging those without one; shape (outputs,), NaN
        if an item failed.

        Raises:
            LeftError, LimitReachedError: the search has to stop for now.
            RunError: the judge cannot run.
        """
        missing = self._missing(wording, [int(pk) for pk in output_ids])
        if missing:
            self._ask(self.attempt(wording, missing), self._template(wording))
        return self.known(wording, output_ids)

    def _template(self, wording: Wording) -> str:
        return GEval(self.settings(wording)).template(self.parts, self.steps)

    def _evaluator(self, wording: Wording) -> GEval:
        return GEval(self.settings(wording))

    def _missing(self, wording: Wording, wanted: list[int]) -> list[int]:
        scores = self._known(wording, wanted)
        failed = RunItem.objects.filter(
            run__search=self.search,
            run__run_criteria__template=self._template(wording),
            run__parameters__mode=self.scoring.mode,
            run__parameters__samples=self.scoring.samples,
            output__in=wanted,
            state=ItemState.FAILED,
        ).values_list("output", flat=True)
        settled = scores.keys() | set(failed)
        return [pk for pk in wanted if pk not in settled]

    def _known(self, wording: Wording, wanted: list[int]) -> Mapping[int, float]:
        """Return scores by this judge with exactly this prompt, from any run, including those
        obtained by rescoring stored replies; NaN where it answered "n/a"."""
        template = self._template(wording)
        scores = self._scored(template, wanted)
        missing = [pk for pk in wanted if pk not in scores]
        if not missing:
            return scores
        question = self._evaluator(wording).question_of(self.criterion.name, self.criterion.scale)
        settings = replace(self.parameters, **asdict(self.scoring)).request_settings
        return scores | scored_again(self.judge, template, missing, question, settings)

    def _scored(self, template: str, wanted: list[int]) -> dict[int, float]:
        rows = fetch_rows(
            """SELECT DISTINCT ON (s.output_id) s.output_id, coalesce(s.value, 'NaN')
                FROM evaluations_score s
                JOIN evaluations_evaluationrun r ON r.id = s.run_id
                JOIN evaluations_runcriterion c
                  ON c.run_id = r.id AND c.criterion_id = s.criterion_id
                WHERE r.judge_id = %(judge)s AND r.purpose = ''
                  AND s.criterion_id = %(criterion)s
                  AND c.template = %(template)s
                  AND r.parameters ->> 'mode' = %(mode)s
                  AND (r.parameters ->> 'samples')::int = %(samples)s
                  AND s.output_id = ANY(%(outputs)s)
                ORDER BY s.output_id, s.run_id DESC""",
            {
                "judge": self.judge.pk,
                "criterion": self.criterion.pk,
                "template": template,
                "mode": self.scoring.mode,
                "samples": self.scoring.samples,
                "outputs": wanted,
            },
        )
        return dict(rows)

    def _ask(self, attempt: SearchAttempt, template: str) -> None:
        """Judge outputs in the search's unfinished run with this prompt, or in a new one."""
        renew_search(self.search)
        if self.has_asked and self.shift.is_over:
            raise LeftError(Leaving.SHIFT)
        self.has_asked = True
        run = (
            self.search.runs.unfinished()
            .filter(
                run_criteria__template=template,
                parameters__mode=self.scoring.mode,
                parameters__samples=self.scoring.samples,
            )
            .first()
        )
        if run is None:
            spent = self.check_limits(len(attempt.outputs))
            money = self.search.budget
            run = start_run(
                self.judge,
                [self.criterion],
                RunRequest(
                    budget=None if money is None else money - (spent.money or 0), attempt=attempt
                ),
            )
        elif run.resumes_by_itself:
            if not resume_run(run, only_due=True):
                raise LeftError(Leaving.WAITING, run.message)
        elif run.state == RunState.PAUSED:
            resume_run(run)
        self._until_done(run)

    def check_limits(self, items: int = 0, *, dearest: Decimal | None = None) -> Spent:
        """Check the limits of the search, and return what it has used.

        Args:
            items: number of items about to be judged.
            dearest: the highest cost of the next call, if it is not an item's.

        Raises:
            LimitReachedError: no more calls, or no more money, may be spent.
        """
        each = self.parameters.fit.calls_for(self.scoring.replies_each)
        spent = spent_on(self.search)
        if spent.calls + max(1, items * each) > self.search.most_calls:
            raise LimitReachedError
        budget, money = self.search.budget, spent.money or Decimal(0)
        if budget is not None and (money >= budget or money + (dearest or 0) > budget):
            raise LimitReachedError
        return spent

    def _until_done(self, run: EvaluationRun) -> None:
        while True:
            work_on_run(run.pk, worker_name(), shift=self.shift)
            run.refresh_from_db()
            renew_search(self.search)
            if run.state == RunState.DONE:
                return
            if run.state == RunState.CANCELLED:
                raise LeftError(Leaving.HALTED, "A run of the search was cancelled.")
            if run.state == RunState.PAUSED:
                if run.message.startswith(BUDGET_REACHED):
                    raise LimitReachedError
                why = Leaving.WAITING if run.resumes_by_itself else Leaving.HALTED
                raise LeftError(why, run.message)
            if self.shift.is_over:
                raise LeftError(Leaving.SHIFT)
            time.sleep(LOOK_SECONDS)  # other workers hold the last items


def scored_again(
    judge: Judge,
    template: str,
    outputs: Sequence[int],
    question: JudgeQuestion,
    settings: RequestSettings,
) -> dict[int, float]:
    """Return scores of outputs, by id, as far as replies of the judge's runs with this prompt
    provide them.

    Args:
        question: the form of a rating; its prompt is ignored.
        settings: how to score.
    """
    if settings.mode == "logprobs":
        return {}
    rows = (
        RunItem.objects.filter(
            run__judge=judge,
            run__purpose="",
            criterion__name=question.criterion,
            run__run_criteria__template=template,
            output__in=outputs,
            state=ItemState.DONE,
            reply__isnull=False,
        )
        .select_related("reply", "run")
        .order_by("pk")
    )
    scored_again: dict[int, float] = {}
    for row in rows:
        made = row.run.frozen
        if row.output_id in scored_again or row.reply is None or not _would_be_same(made, settings):
            continue
        answer = answer_from(row.reply)
        readable = replace(answer, choices=readable_choices([answer], question, settings))
        scored = score_choices([readable], question, settings)
        if isinstance(scored, Scored):
            scored_again[row.output_id] = scored.value
    return scored_again


def _would_be_same(made: RunParameters, settings: RequestSettings) -> bool:
    """Whether a run's replies are equivalent to those that would be requested."""
    if made.temperature != settings.temperature or made.max_tokens != settings.max_tokens:
        return False
    if settings.mode == "samples":
        return made.mode == "samples" and made.samples >= settings.samples
    # Without sampling, a reply does not depend on whether probabilities are requested with it.
    return made.mode in ("logprobs", "direct") and settings.temperature == 0
