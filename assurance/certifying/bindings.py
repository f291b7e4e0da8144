"""What a certificate is bound to: digests of the prompt, the steps, the settings, the model as it
answered, and the data, each of which can be compared with today's.

Digests cover names, texts and numbers, never ids, so they are equal in an imported copy.
"""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import orjson

from assurance.instrument.sensitivity import ended_probes
from evaluations.judging.runs.lifecycle import current_prompt, evaluator_for
from evaluations.models import (
    Criterion,
    EvaluationSteps,
    Judge,
    ModelReply,
    Policy,
    RunCriterion,
    Study,
)
from evaluations.models.newest_scores import runs_of_newest
from geval.llm.prompts import PromptError
from geval.reports.data import ReportData
from geval_site.sql import fetch_rows
from geval_site.version import __version__

# Descriptions of what each digest covers.
BOUND = {
    "prompt": "the prompt",
    "steps": "the evaluation steps",
    "settings": "the judge's settings",
    "model": "the model that is asked",
    "answered_by": "the model as it answers",
    "texts": "the texts",
    "ratings": "the ratings",
    "scores": "the scores",
    "probes": "the scores of the probes",
    "policy": "the policy in use",
}
_SETTINGS = (
    "kind", "settings", "mode", "samples", "temperature", "sends_temperature", "use_steps",
    "max_tokens", "length_parameter", "min_coverage",
)  # fmt: skip


def bindings_of(
    judge: Judge,
    criterion: Criterion,
    data: ReportData,
    *,
    with_probes: bool,
    with_policy: bool = False,
    with_decisions: bool = False,
) -> dict[str, Any]:
    """Return everything that figures of a judge on a criterion depend on now.

    Args:
        with_probes: whether a figure is based on probes.
        with_policy: whether one is of the policy in use.
        with_decisions: whether adjudicators' decisions are the human score.
    """
    steps, prompt = _prompt(judge, criterion)
    probes = {"probes": _probes(judge, criterion)} if with_probes else {}
    policy = {"policy": _policy(judge, criterion)} if with_policy else {}
    return (
        probes
        | policy
        | {
            "prompt": _digest([prompt]) if prompt else None,
            "steps": _digest([steps.text]) if steps else None,
            "settings": _digest([settings_bound(judge)]),
            "model": judge.model or None,
            "answered_by": _answered_by(judge, criterion),
            "texts": _texts(data),
            "ratings": _ratings(criterion, data, with_decisions=with_decisions),
            "scores": _scores(judge, criterion, data),
            "software": __version__,
        }
    )


def settings_bound(judge: Judge) -> dict[str, Any]:
    """Return the settings of a judge that decide its scores."""
    settings = {name: getattr(judge, name) for name in _SETTINGS}
    # Older certificates, without request options, stay valid for a judge that has none.
    return settings | ({"request_options": judge.request_options} if judge.request_options else {})


def differences(bound: dict[str, Any], today: dict[str, Any]) -> list[str]:
    """Describe the differences from what a certificate was bound to; empty if it still fits.

    The software version is stated but not compared: an upgrade does not change what was measured.
    """
    differences = []
    for name, what in BOUND.items():
        before, now = bound.get(name), today.get(name)
        if before == now:
            continue
        sentence = f"{what[0].upper()}{what[1:]} changed"
        if isinstance(now, dict) and isinstance(before, dict):
            sentence += f": {before.get('count')} then, {now['count']} now"
        elif name in ("model", "answered_by"):
            sentence += f": {_named(before)} then, {_named(now)} now"
        differences.append(f"{sentence}.")
    return differences


def bound_rows(bound: dict[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """Return rows of a table of what a certificate is bound to: each entry as a text, a digest, or
    both."""
    rows = []
    for name, what in BOUND.items():
        value = bound.get(name)
        if value is None or value == []:
            continue
        if isinstance(value, dict):
            shown = {"text": f"{value['count']:,}", "digest": value["digest"]}
        elif name in ("model", "answered_by"):
            shown = {"text": _named(value), "digest": ""}
        else:
            shown = {"text": "", "digest": value}
        rows.append((what[0].upper() + what[1:], shown))
    return rows


def outdated(judge: Judge, criterion: Criterion) -> str:
    """Return why scores do not describe the judge as it is today, or an empty text."""
    _steps, prompt = _prompt(judge, criterion)
    if not prompt:
        return ""
    entries = RunCriterion.objects.filter(
        criterion=criterion, run__in=runs_of_newest(judge.pk, criterion.pk)
    )
    if all(template == prompt for template in entries.values_list("template", flat=True)):
        return ""
    return (
        "some scores were given with an earlier prompt or earlier steps; start a run that judges"
        " everything again"
    )


def probes_outdated(judge: Judge, criterion: Criterion) -> str:
    """Return why the newest probes do not describe the judge as it is today; empty if they do, or
    there are none."""
    study = _newest_probes(judge, criterion)
    if study is None:
        return ""
    if not study.was_asked_here:
        return "the probes came with an archive, which anybody can write; start them on this site"
    if study.prompt == _prompt(judge, criterion)[1]:
        return ""
    return "the probes asked with an earlier prompt or earlier steps; start them again"


def _newest_probes(judge: Judge, criterion: Criterion) -> Study | None:
    studies = ended_probes(judge.project, judge)
    return next((study for study in studies if study.criterion_id == criterion.pk), None)


def _prompt(judge: Judge, criterion: Criterion) -> tuple[EvaluationSteps | None, str]:
    if not judge.can_run:
        return None, ""
    evaluator = evaluator_for(judge)
    if not evaluator.per_criterion:
        return None, ""
    try:
        return current_prompt(evaluator, criterion, use_steps=judge.use_steps)
    except PromptError as error:
        # No prompt can be composed, so it differs from the one that gave the scores.
        return None, str(error)


def _answered_by(judge: Judge, criterion: Criterion) -> list[str]:
    """Return the model names that the endpoint reported in the replies behind the scores."""
    replies = ModelReply.objects.filter(
        items__run__in=runs_of_newest(judge.pk, criterion.pk), items__criterion=criterion
    )
    return sorted(set(replies.order_by().values_list("model", flat=True)) - {""})


def _named(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return str(value or "none")


def _digest(parts: Iterable[Any]) -> str:
    """Return the SHA-256 of values, each as a line of JSON."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(orjson.dumps(part, option=orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY))
        digest.update(b"\n")
    return f"sha256:{digest.hexdigest()}"


def _counted(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Return a digest of sorted rows, with their number."""
    # The database returns them in any order.
    return {"digest": _digest(sorted(rows)), "count": len(rows)}


def _texts(data: ReportData) -> dict[str, Any]:
    """Return the digest of sources and outputs; PostgreSQL hashes each text, so that none has to be
    read."""
    rows = fetch_rows(
        """SELECT d.doc_id, s.name, encode(sha256(convert_to(d.source, 'UTF8')), 'hex'),
                  encode(sha256(convert_to(o.text, 'UTF8')), 'hex')
           FROM evaluations_candidateoutput o
           JOIN evaluations_document d ON d.id = o.document_id
           JOIN evaluations_system s ON s.id = o.system_id
           WHERE o.id = ANY(%s)""",
        [data.output_ids.tolist()],
    )
    return _counted(rows)


def _ratings(criterion: Criterion, data: ReportData, *, with_decisions: bool) -> dict[str, Any]:
    """Return the number and the digest of every person's ratings, means if only those are known,
    decisions if they count, and the weights of outputs if these differ."""
    humans = data.humans[criterion.pk]
    ratings = humans.ratings
    rows = [
        (*data.name_of(output), humans.annotators[annotator], float(value))
        for output, annotator, value in zip(
            ratings.output.tolist(), ratings.rater.tolist(), ratings.value.tolist(), strict=True
        )
    ]
    stated = np.flatnonzero(~np.isnan(humans.mean))
    rated = set(ratings.output.tolist())
    rows += [
        (*data.name_of(output), "", float(humans.mean[output]))
        for output in stated.tolist()
        if output not in rated
    ]
    counted = _counted(rows)
    weight = humans.weight
    if weight is not None:
        # Rounded, because probabilities combined over several campaigns may differ in the last
        # digits.
        weights = [
            (*data.name_of(index), f"{weight[index]:.9g}")
            for index in np.flatnonzero(weight).tolist()
        ]
        counted["digest"] = _digest([counted["digest"], *sorted(weights)])
    if with_decisions and humans.decided is not None:
        decided = [
            (*data.name_of(index), float(humans.decided[index]))
            for index in np.flatnonzero(~np.isnan(humans.decided)).tolist()
        ]
        counted["digest"] = _digest([counted["digest"], *sorted(decided)])
    return counted


def policy_of(judge: Judge, criterion: Criterion) -> Policy | None:
    """Return the policy in use."""
    policies = Policy.objects.filter(judge=judge, criterion=criterion, ended_at=None)
    return policies.exclude(used_at=None).first()


def _policy(judge: Judge, criterion: Criterion) -> str | None:
    policy = policy_of(judge, criterion)
    return None if policy is None else _digest([policy.promise, policy.digest])


def _probes(judge: Judge, criterion: Criterion) -> dict[str, Any]:
    """Return the number and the digest of the newest probes' scores, with and without each
    change."""
    study = _newest_probes(judge, criterion)
    items = study.items.select_related("output__document", "output__system") if study else ()
    return _counted(
        [(item.output.document.doc_id, item.output.system.name, item.scores) for item in items]
    )


def _scores(judge: Judge, criterion: Criterion, data: ReportData) -> dict[str, Any]:
    scores = data.judges.get((criterion.pk, judge.pk))
    if scores is None:
        return _counted([])
    scored = np.flatnonzero(~np.isnan(scores))
    return _counted([(*data.name_of(output), float(scores[output])) for output in scored.tolist()])
