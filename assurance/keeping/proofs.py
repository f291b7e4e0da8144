"""Ask whether a policy can promise something of a judge, by a project's ratings and scores."""

from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.db import transaction

from annotations.goals.plans import seconds_per_rating
from assurance.improving.looking import looks_taken, usable_lock
from assurance.improving.search_data import FITTED_KINDS
from assurance.keeping.distributions import distributions_of
from evaluations.corpus.locks.draws import POLICY, name_of, record, remember
from evaluations.corpus.locks.locking import DRAWS_LOCK, locked_of
from evaluations.models import Criterion, Judge, LockedDocuments
from evaluations.models import Policy as PolicyRow
from evaluations.models.improving import EventKind
from evaluations.models.row_by_row import for_each
from evaluations.reports.by_field import fields_of, values_of_documents
from evaluations.reports.data import load_data
from geval.improving.ground import ImproveError
from geval.improving.lock_file import draw_lock
from geval.improving.policy import Policy
from geval.improving.policy_question import AskedJudge, PolicyQuestion
from geval.improving.policy_watch import check_share
from geval.improving.promises import PolicyError, Promise, parse_promise
from geval.improving.proving import all_looks_used
from geval.reports.by_field import values_of_outputs
from geval.statistics.locked_rule import SHARE, can_lock_groups
from geval_site.sql import execute_sql

ASKED_ONCE = (
    "No documents are locked, so this holds for one question: each further one about the same"
    " documents may err, too. Lock documents to count them."
)


def request_policy(
    judge: Judge,
    criterion: Criterion,
    promise: Promise,
    *,
    second: Judge | None = None,
    field: str = "",
    by: Any = None,
) -> PolicyRow:
    """Leave a question to a worker.

    Args:
        second: another judge, which is asked where this one is not sure enough.
        field: by whose values the promise is shown, too.
        by: the user who asks.
    """
    return PolicyRow.objects.create(
        project=judge.project,
        judge=judge,
        second=second,
        criterion=criterion,
        promise=str(promise),
        digest=f"asked {uuid4()}",
        content={"field": field},
        rule={},
        made_by=by,
    )


@transaction.atomic
def ask_policy(judge: Judge, criterion: Criterion, promise: Promise, **asked: Any) -> PolicyRow:
    """Return the answer to a question; the same question about the same data is answered once.
    Where documents are locked, it counts as a look at them.

    Args:
        asked: as for `request_policy`.

    Raises:
        ImproveError: all looks are used, or the documents were unlocked.
        PolicyError: the ratings do not allow this promise, or the field has too many values.
    """
    return _answer(request_policy(judge, criterion, promise, **asked))


def answer_requests() -> None:
    """Answer the questions that were left to a worker."""
    waiting = PolicyRow.objects.filter(rule={}).exclude(content__has_key="problem").order_by("pk")
    about = waiting.select_related("judge__project", "second", "criterion", "made_by")
    for_each(about, _answer_or_say_why_not, job="policy questions")


def _answer_or_say_why_not(asked: PolicyRow) -> None:
    field = asked.content["field"]
    try:
        with transaction.atomic():
            _answer(asked)
    except (ImproveError, PolicyError) as error:
        asked.content = {"field": field, "problem": str(error)}
        asked.save(update_fields=["content"])


def _answer(asked: PolicyRow) -> PolicyRow:
    """Put the answer in the place of a question; an earlier row of the same question keeps it."""
    # Two people must not both take the last look.
    execute_sql("SELECT pg_advisory_xact_lock(%s)", [DRAWS_LOCK])
    project = asked.judge.project
    locked = locked_of(project) and usable_lock(project)
    question = question_of(asked, locked)
    notes = () if locked else (ASKED_ONCE,)
    result = question.answer(seconds_per_rating(project.pk), None, notes)
    same = PolicyRow.objects.filter(judge=asked.judge, criterion=asked.criterion)
    if earlier := same.filter(digest=question.digest).first():
        asked.delete()
        earlier.content = _stored(result)
        earlier.save(update_fields=["content"])
        return earlier
    if locked and result.curve:
        _count_look(locked, result, asked.made_by)
    asked.digest, asked.content = question.digest, _stored(result)
    asked.rule = asdict(question.answers.rule)
    asked.second_rule = None if question.seconds is None else asdict(question.seconds.rule)
    share = check_share(sum(each.is_kept for each in result.outputs), result.promise.bound)
    # Later documents are locked as often, and their ratings withheld while looks are left.
    asked.check_share = min(1.0, share / (1 - locked.share)) if locked else share
    asked.save()
    return asked


def question_of(asked: PolicyRow, locked: LockedDocuments | None) -> PolicyQuestion:
    """Return the question as `geval.policy` asks it of files.

    Raises:
        ImproveError: a judge has no scores on the criterion, or was fitted to these ratings.
    """
    judge, criterion, field = asked.judge, asked.criterion, asked.content["field"]
    project = judge.project
    judges = [judge] if asked.second is None else [judge, asked.second]
    data = load_data(project, judges, [criterion], with_withheld=True)
    for each in judges:
        if (criterion.pk, each.pk) not in data.judges:
            raise ImproveError(f"{each.label} has no scores on {criterion.name}.")
        is_of_search = locked is not None and each.adopted_from.exists()
        if each.kind in FITTED_KINDS and not is_of_search:
            raise ImproveError(
                f"{each.label} was fitted to these ratings, so they prove nothing about it. Lock"
                " documents, and search for changes without them on the page Improve."
            )
    if locked is None:
        by_group = can_lock_groups(data.unit_names, data.groups if data.are_groups_given else ())
        lock = draw_lock(Path(), data.names_of_units, by_group=by_group, share=SHARE, looks=1)
        units, share, looks = data.locked_units(lock.among), lock.share, None
    else:
        units, share, looks = data.locked_units(locked.among), locked.share, locked.looks_allowed
    if field and field not in fields_of(project):
        raise ImproveError(f"There is no field {field[:80]!r} here.")
    of_field = values_of_outputs(data, field, values_of_documents(project, field)) if field else ()
    first, *then = (AskedJudge(each, distributions_of(data, criterion, each)) for each in judges)
    return PolicyQuestion(
        data, criterion, first, then[0] if then else None, parse_promise(asked.promise),
        units[data.units.document], share, looks, field, of_field,
    )  # fmt: skip


def _stored(result: Policy) -> dict[str, Any]:
    content = result.to_dict()
    del content["outputs"]
    return content


def _count_look(locked: LockedDocuments, result: Policy, by: Any) -> None:
    """Record a question as a look.

    Raises:
        ImproveError: all looks are used.
    """
    if looks_taken(locked) >= locked.looks_allowed:
        raise ImproveError(all_looks_used(locked.looks_allowed))
    record(locked)
    kept = result.kept
    remember(
        locked,
        EventKind.LOOK,
        by=name_of(by),
        judge=result.judge,
        criterion=result.criterion,
        title=f"{POLICY}{result.question}",
        outcome="kept" if kept else "cannot promise",
        documents=result.locked,
        candidate=kept.error if kept else None,
        gain=kept.coverage if kept else None,
        interval=None
        if kept is None or kept.error_low is None
        else [kept.error_low, kept.error_high],
    )
