"""Which items a run consists of: outputs, or pairs of them, without a score from its judge; of a
pilot only those of a few documents, drawn at random.

Items are committed in parts, so that nobody waits long for a transaction. A run that calls an
endpoint begins with the items of its first claims; the rest follows while these are judged
(lifecycle.py).
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from evaluations.judging.runs.leases import FIRST_CLAIMS, claimed_at_once
from evaluations.models import EvaluationRun, LockedDocuments, Transport
from geval.evaluators.base import Evaluator, LocalEvaluator
from geval.statistics.locked_rule import GROUP
from geval_site.sql import execute_sql, fetch_rows

# Items that are committed together: their locks are held for less than a second.
PART_ITEMS = 20_000
# Parts whose order is computed at once; a worker has their ids in memory, 400 KB for each.
LISTED_PARTS = 50
# Enough for an interval (`INTERVAL_DOCUMENTS`), at a small part of a run's cost.
USUAL_PILOT_DOCUMENTS = 20
# Rated documents come first: only they show how well a judge agrees with people.
_PILOT_DRAWN = f"""
    SELECT d.id, coalesce(nullif(d.session, ''), d.doc_id), coalesce(d.metadata->>'{GROUP}', '')
    FROM evaluations_document d
    WHERE d.project_id = %(project)s
      AND EXISTS (SELECT FROM evaluations_candidateoutput o WHERE o.document_id = d.id)
    ORDER BY NOT EXISTS (
               SELECT FROM evaluations_candidateoutput o
               WHERE o.document_id = d.id AND (
                   EXISTS (SELECT FROM annotations_rating g
                       WHERE g.output_id = o.id AND g.score IS NOT NULL
                       AND (%(any)s OR g.criterion_id = ANY(%(criteria)s::bigint[])))
                   OR EXISTS (SELECT FROM annotations_preference p WHERE p.output_a_id = o.id
                       AND (%(any)s OR p.criterion_id IS NULL
                            OR p.criterion_id = ANY(%(criteria)s::bigint[]))))),
             md5('pilot ' || d.id), d.id"""
# The criteria that are judged, with their prompts.
_ASKED = "unnest(%(criteria)s::bigint[], %(templates)s::text[]) AS rc (criterion_id, template)"
# Documents are in random order, so that the first results are those of a random sample, however
# they were uploaded. Turns of a session stay together, because a session counts when all are
# judged. A run keeps its order, so that it can be laid out again.
_AT_RANDOM = "md5(%(seed)s || ' ' || coalesce(nullif(d.session, ''), d.id::text)), d.id"
# A run of the same judge with exactly this prompt for the criterion. What a search tried counts for
# that search alone; what a study asked never counts.
_ASKED_BEFORE = """JOIN evaluations_evaluationrun r ON r.id = s.run_id AND r.judge_id = %(judge)s
                    AND r.purpose = '' AND (r.search_id IS NULL OR %(search)s)
                   JOIN evaluations_runcriterion earlier
                     ON earlier.run_id = r.id AND earlier.criterion_id = rc.criterion_id
                    AND earlier.template = rc.template"""
# A few items of each criterion, from different documents.
_DRAWN = """
    SELECT output_id, criterion_id, rival_id
    FROM (SELECT m.*, row_number() OVER (
              PARTITION BY criterion_id
              ORDER BY md5(concat_ws(' ', %(seed)s, criterion_id, output_id)), rival_id) AS turn
          FROM (MISSING) AS m) AS drawn
    ORDER BY turn, criterion_id LIMIT %(trial)s"""


def _chosen(criterion: str, rival: str = "NULL") -> str:
    """Return the condition for a run's items, with their criterion and rival as SQL."""
    return f"""(%(all)s OR o.id = ANY(%(outputs)s::bigint[]))
      AND NOT EXISTS (SELECT FROM evaluations_runitem before
                      WHERE before.run_id = ANY(%(laid_out)s) AND before.output_id = o.id
                        AND before.criterion_id IS NOT DISTINCT FROM {criterion}
                        AND before.rival_id IS NOT DISTINCT FROM {rival})"""


def missing_items(
    evaluator: Evaluator,
    *,
    project: int,
    judge: int,
    templates: Mapping[int, str],
    fresh: bool,
    outputs: Sequence[int] = (),
    laid_out: Sequence[int] = (),
    seed: int = 0,
    search: bool = False,
    trial: int = 0,
    limit: int | None = None,
) -> tuple[str, dict[str, Any]]:
    """Return the query for the items that lack a score, as (output, criterion, rival), and its
    parameters.

    Items are in the order criterion, random document, system. Calls that share the longest
    beginning of a prompt follow each other, which providers' prefix caches reward, and numbers are
    unbiased after any number of documents.

    Args:
        templates: each criterion's template, by id; for evaluators that judge per criterion.
        fresh: include items that have a score.
        outputs: ids of the outputs to judge; empty for all.
        laid_out: ids of runs whose items are excluded.
        seed: seed of the order of documents, which is the same for every criterion.
        search: true for a run of a search, which may reuse scores of searches.
        trial: how many items to draw for a trial; 0 for all.
        limit: maximum number of items, for runs that are not trials.
    """
    if evaluator.compares_pairs:
        query = _pairs(all_pairs=not evaluator.only_pairs_people_compared)
    else:
        query = _OUTPUTS_BY_CRITERION if evaluator.per_criterion else _OUTPUTS
    parameters = {
        "project": project,
        "judge": judge,
        "fresh": fresh,
        "all": not outputs,
        "outputs": list(outputs),
        "laid_out": list(laid_out),
        "seed": seed,
        "search": search,
        "criteria": list(templates),
        "templates": list(templates.values()),
    }
    if trial:
        return _DRAWN.replace("MISSING", query, 1), parameters | {"trial": trial}
    return f"{query} LIMIT %(limit)s", parameters | {"limit": limit}


def first_part_of(run: EvaluationRun, evaluator: Evaluator) -> int | None:
    """Return how many items of a run are laid out before its first calls; None for all."""
    frozen = run.frozen
    is_whole = isinstance(evaluator, LocalEvaluator) or run.transport == Transport.BATCH
    if is_whole or frozen.is_part:
        return None
    return FIRST_CLAIMS * claimed_at_once(frozen.concurrency)


class Part(NamedTuple):
    """Items of a run, in their order: the ids of each column, as PostgreSQL writes arrays."""

    outputs: str
    criteria: str
    rivals: str

    @property
    def size(self) -> int:
        return self.outputs.count(",") + 1


def list_parts(run: EvaluationRun, evaluator: Evaluator, *, limit: int | None = None) -> list[Part]:
    """Return the items that lack a score and are not laid out, in parts; at most LISTED_PARTS.

    Args:
        limit: maximum number of items, which are one part.
    """
    frozen, templates = run.frozen, dict(run.run_criteria.values_list("criterion_id", "template"))
    outputs: Sequence[int] = frozen.outputs
    if frozen.pilot:
        outputs = pilot_outputs(run.project_id, list(templates), documents=frozen.pilot)
        if not outputs:
            return []
    # What is drawn is laid out at once: after an interruption it might be drawn anew.
    size = None if frozen.is_part else limit or PART_ITEMS
    query, parameters = missing_items(
        evaluator,
        project=run.project_id,
        judge=run.judge_id,
        templates=templates,
        fresh=frozen.fresh,
        outputs=outputs,
        # Only needed for fresh runs; others skip every output that was scored with the same prompt.
        laid_out=[run.pk, frozen.rest_of] if frozen.fresh else [run.pk],
        seed=run.pk,
        search=run.search_id is not None,
        trial=frozen.trial,
        limit=size and (limit or LISTED_PARTS * size),
    )
    columns = ", ".join(
        f"array_agg({column} ORDER BY place)::text"
        for column in ("output_id", "criterion_id", "rival_id")
    )
    rows = fetch_rows(
        f"""SELECT {columns}
            FROM (SELECT m.*, row_number() OVER () - 1 AS place FROM ({query}) AS m) AS listed
            GROUP BY place / %(size)s ORDER BY place / %(size)s""",
        parameters | {"size": size or 2**62},
    )
    return [Part(*row) for row in rows]


def add_part(run_id: int, part: Part) -> int:
    """Add a part's items to a run after those it has; return how many. Items that it has already,
    and those of outputs that were removed, are left out."""
    return execute_sql(
        """INSERT INTO evaluations_runitem (run_id, output_id, criterion_id, rival_id, state,
               leased_by, attempts, reason, detail)
           SELECT %s, n.output_id, n.criterion_id, n.rival_id, 'pending', '', 0, '', ''
           FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) WITH ORDINALITY
                   AS n (output_id, criterion_id, rival_id, place)
               JOIN evaluations_candidateoutput o ON o.id = n.output_id
           WHERE n.rival_id IS NULL OR EXISTS (
               SELECT FROM evaluations_candidateoutput v WHERE v.id = n.rival_id FOR KEY SHARE)
           ORDER BY n.place FOR KEY SHARE OF o
           ON CONFLICT DO NOTHING""",
        [run_id, *part],
    )


def pilot_outputs(project_id: int, criteria: Sequence[int], *, documents: int) -> list[int]:
    """Return the ids of all outputs of up to `documents` documents, drawn at random, rated ones
    first.

    All pilots of a project draw from the same random order, so two of them (a judge before and
    after a change of its criterion) are compared on the same documents. Locked documents are
    excluded: changes made after a pilot are tested on them.

    Args:
        criteria: ids of the criteria on which documents must be rated to come first; empty for any.
    """
    locked = LockedDocuments.objects.filter(project=project_id, unlocked_at=None).first()
    parameters: dict[str, Any] = {
        "project": project_id,
        "criteria": list(criteria),
        "any": not criteria,
    }
    rows = fetch_rows(_PILOT_DRAWN, parameters)
    free = (pk for pk, *drawn in rows if not (locked and locked.holds(*drawn)))
    rows = fetch_rows(
        "SELECT id FROM evaluations_candidateoutput WHERE document_id = ANY(%s) ORDER BY id",
        [list(islice(free, documents))],
    )
    return [pk for (pk,) in rows]


_OUTPUTS_BY_CRITERION = f"""
    SELECT o.id AS output_id, rc.criterion_id, NULL::bigint AS rival_id
    FROM {_ASKED}
    JOIN evaluations_criterion c ON c.id = rc.criterion_id
    JOIN evaluations_document d ON d.project_id = %(project)s
    JOIN evaluations_candidateoutput o ON o.document_id = d.id
    WHERE {_chosen("rc.criterion_id")} AND (%(fresh)s OR NOT EXISTS (
        SELECT FROM evaluations_score s {_ASKED_BEFORE}
        WHERE s.output_id = o.id AND s.criterion_id = rc.criterion_id))
    ORDER BY c.position, c.id, {_AT_RANDOM}, o.system_id"""

# The settings of a judge that has run are frozen, so any earlier score of it is equivalent.
_OUTPUTS = f"""
    SELECT o.id AS output_id, NULL::bigint AS criterion_id, NULL::bigint AS rival_id
    FROM evaluations_document d JOIN evaluations_candidateoutput o ON o.document_id = d.id
    WHERE d.project_id = %(project)s AND {_chosen("NULL")} AND (%(fresh)s OR NOT EXISTS (
        SELECT FROM evaluations_score s JOIN evaluations_evaluationrun r ON r.id = s.run_id
        WHERE r.judge_id = %(judge)s AND r.purpose = ''
          AND (r.search_id IS NULL OR %(search)s)
          AND s.output_id = o.id AND s.criterion_id IS NULL))
    ORDER BY {_AT_RANDOM}, o.system_id"""


def _pairs(*, all_pairs: bool) -> str:
    """Match two outputs of a document, the one with the lower id first."""
    compared = """AND EXISTS (
        SELECT FROM annotations_preference p
        WHERE p.output_a_id = o.id AND p.output_b_id = v.id
          AND (p.criterion_id IS NULL OR p.criterion_id = rc.criterion_id))"""
    return f"""
        SELECT o.id AS output_id, rc.criterion_id, v.id AS rival_id
        FROM {_ASKED}
        JOIN evaluations_criterion c ON c.id = rc.criterion_id
        JOIN evaluations_document d ON d.project_id = %(project)s
        JOIN evaluations_candidateoutput o ON o.document_id = d.id
        JOIN evaluations_candidateoutput v ON v.document_id = d.id AND v.id > o.id
        WHERE {_chosen("rc.criterion_id", "v.id")}
          {"" if all_pairs else compared} AND (%(fresh)s OR NOT EXISTS (
            SELECT FROM evaluations_pairscore s {_ASKED_BEFORE}
            WHERE s.output_id = o.id AND s.rival_id = v.id AND s.criterion_id = rc.criterion_id))
        ORDER BY c.position, c.id, {_AT_RANDOM}, o.id, v.id"""
