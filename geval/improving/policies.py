"""`geval.policy`: which outputs a judge may decide, which go to people, and what error remains."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from geval.improving.improving import criterion_in, judge_in, judge_named, refuse_unnamed
from geval.improving.lock_file import LockFile, draw_lock, lock_file
from geval.improving.policy import Policy
from geval.improving.policy_question import AskedJudge, PolicyQuestion
from geval.improving.promises import parse_promise
from geval.improving.proving import LookResult
from geval.measuring.gathering import Criterion, Gathered, ImportedJudge, gathered
from geval.measuring.inputs import InputError, Source, as_names, named_columns
from geval.measuring.measurement import Measurement
from geval.measuring.measuring import Ends, read_source
from geval.measuring.reading import Ask, Naming, nobody
from geval.reports.by_field import values_of_outputs
from geval.statistics.held_out_test import confidence_of
from geval.statistics.locked_rule import SHARE, can_lock_groups

ASKED_ONCE = (
    "This holds for one question: each further one about the same documents may err, too. locked="
    " (--locked) counts them."
)


def policy(
    source: Source,
    *,
    promise: str,
    human: str | list[str] | None = None,
    judge: str | None = None,
    second: str | None = None,
    by: str | None = None,
    criterion: str | None = None,
    document: str | None = None,
    system: str | None = None,
    group: str | None = None,
    scale: Ends | Mapping[str, Ends] | None = None,
    locked: str | PathLike[str] | None = None,
    seconds: float | None = None,
    price: float | None = None,
    sheet: str = "",
    ask: Ask = nobody,
) -> Policy:
    """Return from which confidence on a judge's answers are kept, and what is promised of them.

    A measure of confidence and the thresholds are chosen on training documents, and the promise is
    proven on locked ones (`geval.statistics.risk_control`). No model is called.

    Args:
        source: as for `measure`; or a result of `measure` or `evaluate`.
        promise: "as one person" (needs two raters per output), "within 0.5" (any number of points),
            or "few false passes" (criteria that outputs pass or fail): of the outputs that it keeps
            and passes, people fail at most 5 %.
        human: the columns with people's ratings, or the people who count.
        judge: the judge whose answers are kept; by default the only one.
        second: another judge in the source. It is asked where the first is not sure enough, and
            its answers are kept from the same expected error on; people get the rest.
        by: a field of documents, such as their language, or `system`: the promise is shown on the
            locked documents of each value, too.
        criterion, document, system, group, scale, sheet, ask: as for `measure`.
        locked: the file of `improve` with the locked documents; counts this question as a look.
            Without it, the documents' names determine which 40 % are locked.
        seconds, price: of one rating by a person.

    Raises:
        InputError: something cannot be read, or must be given; the message says what.
        ImproveError: all looks at the locked documents are used.

    >>> import geval
    >>> table = [
    ...     {"id": n, "judge": n % 3 > 0, "human": n % 3 > 0, "length": n % 7} for n in range(400)
    ... ]
    >>> result = geval.policy(table, promise="few false passes", human="human", judge="judge",
    ...                       document="id")
    >>> result.is_promised, result.kept.coverage
    (True, 1.0)
    """
    wanted = parse_promise(promise)
    for name, value in (("seconds", seconds), ("price", price)):
        if isinstance(value, str) or (value is not None and not 0 <= value < np.inf):
            raise InputError(f"The {name} of a rating is 0 or more, not {value}.")
    if second is not None and not isinstance(second, str):
        raise InputError("second= names one judge, as a text.")
    if second and not (judge or hasattr(source, "with_others")):
        raise InputError(f"Name the first judge, too: judge=…; {second} is the second.")
    measured, names = named_columns(
        getattr(source, "with_others", source), human=human, judge=judge, criterion=criterion,
        document=document, system=system, group=group,
    )  # fmt: skip
    judge = "".join(names["judge"][:1])
    if isinstance(measured, Measurement):
        columns = (names[role] for role in ("human", "document", "system", "group"))
        if any(columns) or scale or sheet:
            raise InputError("These outputs are measured already: name their columns there.")
        parts = measured.gathered
        judge = judge or getattr(source, "judge", None)
        of_field = measured.values_of(by) if by else ()
    else:
        named = (*names["judge"], *as_names(second)) if second or names["human"] else ()
        naming = Naming.of(names | {"judge": tuple(dict.fromkeys(named))})
        content = read_source(
            measured, naming, scale=scale, sheet=sheet, ask=ask, every_judge=not second,
            by_column=True, fields=as_names(by),
        )  # fmt: skip
        parts = gathered(content.rows, content.scales)
        of_field = values_of_outputs(parts.data, by, content.fields[by]) if by else ()
    about, today = criterion_in(parts, criterion or ""), judge_in(parts, judge or "")
    then, data = judge_named(parts.judges, second) if second else None, parts.data
    if not about.scale.is_ordered:
        raise InputError(
            f"The labels of {about.name} have no order, so nothing can be promised of a distance or"
            " a pass mark. If they have one, pass what geval.measure gives with order=[…]."
        )
    for each in filter(None, (today, then)):
        if (about.pk, each.pk) not in data.judges:
            raise InputError(f"{each.name} has no scores on {about.name}.")
    if then == today:
        raise InputError(f"{today.name} cannot be its own second judge. Name another.")
    by_group = can_lock_groups(data.unit_names, data.groups if data.are_groups_given else ())
    if locked is None:
        lock = draw_lock(Path(), data.names_of_units, by_group=by_group, share=SHARE, looks=1)
    else:
        refuse_unnamed(parts, "".join(names["document"]))
        lock = lock_file(Path(locked), data.names_of_units, by_group=by_group).kept()
    locked_units = data.locked_units(lock.among)
    later = None if then is None else _asked(source, parts, about, then)
    question = PolicyQuestion(
        data, about, _asked(source, parts, about, today), later, wanted,
        locked_units[data.units.document], lock.share,
        None if locked is None else lock.looks_allowed, by or "", of_field,
    )  # fmt: skip
    result = question.answer(seconds, price, (ASKED_ONCE,) if locked is None else ())
    if locked is not None and result.curve:
        _take_look(question, lock, result)
    return result


def _asked(source: Source, parts: Gathered, about: Criterion, judge: ImportedJudge) -> AskedJudge:
    """Return a judge with the distributions of an evaluation's scores, or of replies in files."""
    if not hasattr(source, "with_others") or source.judge != judge.name:
        return AskedJudge(judge, parts.distributions.get((about.pk, judge.pk), {}))
    named = {(each.document, each.system): each.distribution for each in source.scores}
    outputs = range(len(parts.data.output_ids))
    names = {at: parts.data.name_of(at) for at in outputs}
    return AskedJudge(judge, {at: named[name] for at, name in names.items() if name in named})


def _take_look(question: PolicyQuestion, lock: LockFile, result: Policy) -> None:
    """Count this question in the lock's file; asking it again does not.

    Raises:
        ImproveError: all looks are used.
    """
    about = {"judge": result.judge, "criterion": result.criterion, "change": "policy",
             "title": result.question}  # fmt: skip
    kept = result.kept
    look = LookResult(
        measure="policy", outcome="kept" if kept else "cannot promise", documents=result.locked,
        value=kept.error if kept else None, today=None, gain=kept.coverage if kept else None,
        low=kept.error_low if kept else None, high=kept.error_high if kept else None,
        confidence=confidence_of(lock.looks_allowed, 1), reason=result.reason,
        ranked=None, constant=None,
    )  # fmt: skip
    lock.look(question.digest, about, lambda: look)
