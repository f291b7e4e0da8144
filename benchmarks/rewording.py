"""Part of `make bench-improve`: a search for a wording with the stand-in LLM, on projects of which
it is known what people weigh."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.site import StandIn, temporary_site
from geval.standin.planted import BEST, VAGUE, planted_files

MOST_CALLS = 400
DOCUMENTS, SYSTEMS = 80, 5


@dataclass(frozen=True)
class Outcome:
    """What a search came to on locked documents, in mean rho: today's, the found wording's (today's
    where none was found), and the planted one's; `calls` are those of the search."""

    today: float
    found: float
    planted: float
    calls: int
    repeated: int
    is_proven: bool


@contextmanager
def site_with_stand_in() -> Iterator[str]:
    """A site of its own, and the address of a stand-in."""
    with temporary_site():
        stand_in = StandIn()
        try:
            yield stand_in.base_url
        finally:
            stand_in.process.kill()


def outcome(base_url: str, seed: int, *, definition: str) -> Outcome:
    """Make a project in which the judge has this definition, search, and look at the best."""
    from assurance.improving.looking import look
    from assurance.improving.rewording import wording_of
    from assurance.improving.search_data import ground_of
    from assurance.improving.trials import Trials, spent_on
    from assurance.improving.work import SearchLimits, request_search, work_on_search
    from evaluations.corpus.locks.locking import lock_documents
    from evaluations.judging.runs.shift import Shift
    from evaluations.judging.runs.starting import RunRequest, start_run
    from evaluations.judging.runs.worker import work_on_run
    from evaluations.models import Change, Judge, ModelReply, Project
    from geval.evaluators.wording import Wording
    from geval.statistics.correlation import coefficients_by_document

    project = Project.objects.create(name=f"P{seed}", slug=f"p{seed}-{abs(hash(definition))}")
    _load(project, seed, definition)
    judge = _judge(project, base_url)
    criterion = project.criteria.get()
    work_on_run(start_run(judge, [criterion]).pk, "bench")
    locked = lock_documents(project, seed=str(seed))
    search = request_search(
        judge, criterion, [Change.WORDING], limits=SearchLimits(most_calls=MOST_CALLS)
    )
    while work_on_search(search.pk):
        pass
    search.refresh_from_db()
    assert search.state == "done", search.message
    calls = spent_on(search).calls
    keys = list(ModelReply.objects.filter(project=project).values_list("request_key", flat=True))
    candidate = search.candidates.first()
    while candidate is not None and look(candidate) is None:
        candidate.refresh_from_db()
        work_on_run(candidate.look_run.pk, "bench")
        candidate.refresh_from_db()
    ground = ground_of(project, Judge.objects.get(pk=judge.pk), criterion, locked)
    trials = Trials(search, Shift())
    best = Wording(definition=BEST)
    there = np.isin(ground.outputs.document, ground.locked)
    run = start_run(
        judge, [criterion], RunRequest(attempt=trials.attempt(best, ground.output_ids[there]))
    )
    work_on_run(run.pk, "bench")

    def rho(wording: Wording | None) -> float:
        scores = ground.today if wording is None else trials.known(wording, ground.output_ids)
        found = coefficients_by_document(ground.outputs, ground.human, scores, "spearman")
        return float(np.nanmean(found[ground.locked]))

    found = wording_of(candidate.proposal.texts) if candidate else None
    is_proven = candidate is not None and candidate.look.outcome == "proven"
    repeated = len(keys) - len(set(keys))
    return Outcome(rho(None), rho(found), rho(best), calls, repeated, is_proven)


@dataclass(frozen=True)
class Cost:
    """What a search of `proposals` took: `calls` made, and those that its minibatches `need`, as
    each question is asked once."""

    proposals: int
    calls: int
    need: int


def cost_of(search: object, known: int) -> Cost:
    """What a search took.

    Args:
        known: the judge's run before it, whose questions need no call.
    """
    from django.db import connection

    from assurance.improving.trials import spent_on

    questions = """
        SELECT DISTINCT c.template, r.parameters ->> 'mode', r.parameters ->> 'samples',
            d.source, o.text
        FROM evaluations_runitem i JOIN evaluations_evaluationrun r ON r.id = i.run_id
        JOIN evaluations_runcriterion c ON c.run_id = r.id AND c.criterion_id = i.criterion_id
        JOIN evaluations_candidateoutput o ON o.id = i.output_id
        JOIN evaluations_document d ON d.id = o.document_id WHERE """
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM ({questions} r.search_id = %s EXCEPT {questions} r.id = %s) q",
            [search.pk, known],
        )
        (judged,) = cursor.fetchone()
    proposed = search.proposals.exclude(number=0)
    return Cost(
        proposed.count(),
        spent_on(search).calls,
        judged + sum(proposed.values_list("calls", flat=True)),
    )


def _load(project: object, seed: int, definition: str) -> None:
    from evaluations.corpus.store import load_files
    from geval.files.readers import InputFile

    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for name, content in planted_files(seed, documents=DOCUMENTS, systems=SYSTEMS).items():
            path = Path(folder) / name
            path.write_text(content)
            inputs.append(InputFile(path, name))
        load_files(project, inputs)
    project.criteria.update(definition=definition)


def _judge(project: object, base_url: str) -> object:
    from evaluations.judging.judges.judges import JudgeDraft, create_judge, endpoint_at

    draft = JudgeDraft(
        name="Stand-in",
        endpoint=endpoint_at(project, base_url),
        model="offline-stand-in",
        use_steps=False,
    )
    return create_judge(project, draft)[0]


def planted_outcomes(base_url: str, projects: int) -> list[Outcome]:
    """Projects in which the judge is told nothing of what people weigh."""
    return [outcome(base_url, seed, definition=VAGUE) for seed in range(projects)]


def cost_of_fifty(base_url: str) -> Cost:
    """What a search takes that goes on to the most proposals there may be."""
    from unittest import mock

    from assurance.improving import rewording
    from assurance.improving.work import SearchLimits, request_search, work_on_search
    from evaluations.corpus.locks.locking import lock_documents
    from evaluations.judging.runs.starting import start_run
    from evaluations.judging.runs.worker import work_on_run
    from evaluations.models import Change, Project

    project = Project.objects.create(name="Fifty", slug="fifty")
    _load(project, 0, VAGUE)
    judge = _judge(project, base_url)
    criterion = project.criteria.get()
    known = start_run(judge, [criterion])
    work_on_run(known.pk, "bench")
    lock_documents(project, seed="0")
    with mock.patch.object(rewording, "PATIENCE", rewording.MOST_PROPOSALS):
        search = request_search(
            judge, criterion, [Change.WORDING], limits=SearchLimits(most_calls=5000)
        )
        while work_on_search(search.pk):
            pass
    return cost_of(search, known.pk)


def flat_outcomes(base_url: str, projects: int) -> list[Outcome]:
    """Projects in which the judge is told exactly what people weigh: nothing can be gained."""
    return [outcome(base_url, 1000 + seed, definition=BEST) for seed in range(projects)]
