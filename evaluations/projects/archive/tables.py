"""The contents of an archive: one JSON Lines file per kind of record, with names instead of ids.

`outputs.jsonl`, `ratings.jsonl` and `preferences.jsonl` have the columns that uploads accept. Keys
of endpoints and members are not in an archive; of campaigns it has designs, goals, items, answers
with their history, decisions, and who took part by open links, without their ids. It has locks,
searches and looks; ratings of locked documents are left out until the last look.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

# What the manifest says of how texts are shown: fields of a project, which older archives lack.
SHOWN_AS = (
    "source_format",
    "output_format",
    "reference_format",
    "code_language",
    "text_language",
)


@dataclass(frozen=True)
class Ref:
    """A column that points to a record of another file, identified by these fields of the row; it
    gets the record's new id, or keeps a name that is the same on every site (`keeps_name`)."""

    table: str
    fields: tuple[str, ...]
    keeps_name: bool = False


@dataclass(frozen=True)
class Refs:
    """A column of ids: of the outputs of one document, by the systems that `field` lists."""

    field: str = "systems"


@dataclass(frozen=True)
class NamedAnswer:
    """A column with an answer, which has names instead of ids in the file; the row has `systems`
    with the names of the item's outputs, and `outputs` with their ids, which stay behind."""

    field: str


Column = str | Ref | Refs | NamedAnswer


@dataclass(frozen=True)
class Table:
    """One file: how its rows are selected, and the database column of each field.

    `key` are the fields by which rows of other files identify its records, `other_key` those by
    which some do; `defaults` are columns with the same value in every row; `later` are fields that
    older archives do not have, with their values; a table that `is_later` is missing in those as a
    whole. Rows are in the order of their ids, so that a copy has the same order.
    """

    name: str
    target: str
    select: str
    columns: Mapping[str, Column]
    key: tuple[str, ...] = ()
    other_key: tuple[str, ...] = ()
    of_project: bool = False
    json: frozenset[str] = frozenset()
    defaults: Mapping[str, object] = field(default_factory=dict)
    later: Mapping[str, object] = field(default_factory=dict)
    is_later: bool = False


Columns = dict[str, Column]
# Temporary tables: with which probability outputs were chosen, and what annotators are called.
ARCHIVED_PROBABILITIES = "archived_probability"
ARCHIVED_ANNOTATORS = "archived_annotator"


def named(*names: str) -> Columns:
    """Columns with answers of the same names."""
    return {name: NamedAnswer(name) for name in names}


def same(*names: str) -> Columns:
    """Columns with the same names as in the database."""
    return {name: name for name in names}


_OUTPUT = """JOIN evaluations_candidateoutput o ON o.id = t.output_id
             JOIN evaluations_document d ON d.id = o.document_id JOIN evaluations_system s
                 ON s.id = o.system_id"""
_CRITERION = "LEFT JOIN evaluations_criterion c ON c.id = t.criterion_id"
# What a search for a better judge tried, and what a study asked, stays behind: there it would count
# as the judge's scores.
_COUNTING = """NOT EXISTS (SELECT FROM evaluations_evaluationrun r
               WHERE r.id = t.run_id AND (r.search_id IS NOT NULL OR r.purpose <> ''))"""
# Ratings of locked documents are withheld until the last look.
_SHOWN = "d.id <> ALL(%(hidden)s::bigint[])"
_OF_OUTPUT = Ref("outputs", ("doc_id", "system_id"))
_OF_CRITERION = Ref("criteria", ("criterion",))
_OF_CAMPAIGN = Ref("campaigns", ("campaign",))
_OF_ANNOTATOR = Ref("annotators", ("annotator",))
_SYSTEMS = """(SELECT array_agg(y.name ORDER BY u.place) FROM unnest({0}) WITH ORDINALITY
                AS u(id, place) JOIN evaluations_candidateoutput p ON p.id = u.id
                JOIN evaluations_system y ON y.id = p.system_id)"""
_OF_ITEM: Columns = {
    "campaign_id": _OF_CAMPAIGN,
    "document_id": Ref("documents", ("doc_id",)),
    "outputs": Refs(),
}
_OF_ASSIGNMENT: Columns = {
    "campaign_id": _OF_CAMPAIGN,
    "item_id": Ref("campaign_items", ("campaign", "position")),
    "annotator_id": _OF_ANNOTATOR,
    "shown": Refs(),
}
_OF_ANSWER = """JOIN annotations_assignment b ON b.id = t.assignment_id
            JOIN annotations_campaignitem i ON i.id = b.item_id
            JOIN evaluations_document d ON d.id = i.document_id"""

TABLES = (
    Table(
        "criteria",
        "evaluations_criterion",
        """SELECT name AS criterion, definition, scale_min, scale_max, scale_step, scale_labels,
            task_introduction,
                  inputs, prompt_file, guidelines, position
           FROM evaluations_criterion t WHERE project_id = %(project)s""",
        same(
            "definition",
            "scale_min",
            "scale_max",
            "scale_step",
            "scale_labels",
            "task_introduction",
            "inputs",
        )
        | same("prompt_file", "guidelines", "position")
        | {"name": "criterion"},
        key=("criterion",),
        of_project=True,
        json=frozenset({"scale_labels"}),
    ),
    Table(
        "steps",
        "evaluations_evaluationsteps",
        """SELECT c.name AS criterion, t.version, t.text, t.written_by, t.created_at
           FROM evaluations_evaluationsteps t JOIN evaluations_criterion c ON c.id = t.criterion_id
           WHERE c.project_id = %(project)s""",
        {"criterion_id": _OF_CRITERION} | same("version", "text", "written_by", "created_at"),
        key=("criterion", "version"),
    ),
    Table(
        "systems",
        "evaluations_system",
        "SELECT name AS system_id, kind, family FROM evaluations_system t"
        " WHERE project_id = %(project)s",
        {"name": "system_id"} | same("kind", "family"),
        key=("system_id",),
        of_project=True,
        later={"family": ""},
    ),
    Table(
        "conversations",
        "evaluations_conversation",
        "SELECT digest AS conversation, turns FROM evaluations_conversation t"
        " WHERE project_id = %(project)s",
        {"digest": "conversation", "turns": "turns"},
        key=("conversation",),
        of_project=True,
        json=frozenset({"turns"}),
        is_later=True,
    ),
    Table(
        "documents",
        "evaluations_document",
        """SELECT t.doc_id, t.source, t.context, t."references", t.metadata,
            v.digest AS conversation, t.turns_before, t.session
           FROM evaluations_document t
           LEFT JOIN evaluations_conversation v ON v.id = t.conversation_id
           WHERE t.project_id = %(project)s""",
        same("doc_id", "source", "context", "references", "metadata", "turns_before", "session")
        | {"conversation_id": Ref("conversations", ("conversation",))},
        key=("doc_id",),
        of_project=True,
        json=frozenset({"references", "metadata"}),
        later={"metadata": {}, "conversation": None, "turns_before": 0, "session": ""},
    ),
    Table(
        "outputs",
        "evaluations_candidateoutput",
        """SELECT d.doc_id, s.name AS system_id, t.text AS output, t.turns AS output_turns
           FROM evaluations_candidateoutput t JOIN evaluations_document d ON d.id = t.document_id
           JOIN evaluations_system s ON s.id = t.system_id WHERE d.project_id = %(project)s""",
        {
            "document_id": Ref("documents", ("doc_id",)),
            "system_id": Ref("systems", ("system_id",)),
            "text": "output",
            "turns": "output_turns",
        },
        key=("doc_id", "system_id"),
        json=frozenset({"turns"}),
        later={"output_turns": []},
    ),
    Table(
        "annotators",
        "annotations_annotator",
        f"""SELECT a.name AS annotator, t.kind FROM annotations_annotator t
            JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.id WHERE t.project_id = %(project)s""",
        {"name": "annotator", "kind": "kind"},
        key=("annotator",),
        of_project=True,
    ),
    Table(
        "ratings",
        "annotations_rating",
        f"""SELECT d.doc_id, s.name AS system_id, c.name AS criterion, a.name AS annotator,
            t.score, t.scores_in_sight,
                   t.created_at, t.comment
            FROM annotations_rating t {_OUTPUT} {_CRITERION}
            JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.annotator_id
                WHERE d.project_id = %(project)s AND {_SHOWN}""",
        {
            "output_id": _OF_OUTPUT,
            "criterion_id": _OF_CRITERION,
            "annotator_id": _OF_ANNOTATOR,
        }
        | same("score", "scores_in_sight", "created_at", "comment"),
        later={"comment": ""},
    ),
    Table(
        "probabilities",
        "annotations_statedprobability",
        f"""SELECT d.doc_id, s.name AS system_id, c.name AS criterion, t.probability
            FROM {ARCHIVED_PROBABILITIES} t {_OUTPUT} {_CRITERION}
                WHERE d.project_id = %(project)s""",
        {"output_id": _OF_OUTPUT, "criterion_id": _OF_CRITERION} | same("probability"),
        is_later=True,
    ),
    Table(
        "preferences",
        "annotations_preference",
        f"""SELECT d.doc_id, s.name AS system_a, b.name AS system_b, c.name AS criterion,
            a.name AS annotator, t.value,
                   t.a_was_left, t.scores_in_sight, t.created_at, t.comment
            FROM annotations_preference t JOIN evaluations_candidateoutput o ON o.id = t.output_a_id
            JOIN evaluations_document d ON d.id = o.document_id JOIN evaluations_system s
                ON s.id = o.system_id
            JOIN evaluations_candidateoutput v ON v.id = t.output_b_id JOIN evaluations_system b
                ON b.id = v.system_id
            {_CRITERION} JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.annotator_id
                WHERE d.project_id = %(project)s AND {_SHOWN}""",
        {
            "output_a_id": Ref("outputs", ("doc_id", "system_a")),
            "output_b_id": Ref("outputs", ("doc_id", "system_b")),
            "criterion_id": _OF_CRITERION,
            "annotator_id": _OF_ANNOTATOR,
        }
        | same("value", "a_was_left", "scores_in_sight", "created_at", "comment"),
        later={"comment": ""},
    ),
    Table(
        "spans",
        "annotations_span",
        f"""SELECT d.doc_id, s.name AS system_id, a.name AS annotator, t.start, t."end", t.quote,
            t.category, t.severity
            FROM annotations_span t {_OUTPUT} JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.annotator_id
            WHERE d.project_id = %(project)s AND {_SHOWN}""",
        {"output_id": _OF_OUTPUT, "annotator_id": _OF_ANNOTATOR}
        | same("start", "end", "quote", "category", "severity"),
    ),
    Table(
        "endpoints",
        "evaluations_endpoint",
        """SELECT name AS endpoint, base_url, api_version, key_env, requests_per_minute,
            tokens_per_minute, parallel_calls, retired_at
           FROM evaluations_endpoint t WHERE project_id = %(project)s""",
        {"name": "endpoint"}
        | same(
            "base_url",
            "api_version",
            "key_env",
            "requests_per_minute",
            "tokens_per_minute",
            "parallel_calls",
            "retired_at",
        ),
        key=("endpoint",),
        of_project=True,
        defaults={"sealed_key": ""},
        later={"parallel_calls": None},
    ),
    Table(
        "judges",
        "evaluations_judge",
        """SELECT t.name AS judge, t.version, t.kind, t.settings, e.name AS endpoint, t.model,
            t.family, t.mode, t.samples,
                  t.temperature, t.use_steps, t.concurrency, t.max_tokens, t.timeout_seconds,
                  t.min_coverage, t.request_options, t.price_in, t.price_out, t.price_cached,
                  t.length_parameter, t.sends_temperature, t.created_at, t.retired_at
           FROM evaluations_judge t LEFT JOIN evaluations_endpoint e ON e.id = t.endpoint_id
           WHERE t.project_id = %(project)s""",
        same(
            "version",
            "kind",
            "settings",
            "model",
            "family",
            "mode",
            "samples",
            "temperature",
            "use_steps",
            "concurrency",
        )
        | same(
            "max_tokens",
            "timeout_seconds",
            "min_coverage",
            "request_options",
            "price_in",
            "price_out",
            "price_cached",
            "length_parameter",
            "sends_temperature",
        )
        | same("created_at", "retired_at")
        | {"name": "judge", "endpoint_id": Ref("endpoints", ("endpoint",))},
        key=("judge", "version"),
        of_project=True,
        json=frozenset({"settings", "request_options"}),
        later={"min_coverage": 0, "family": "", "request_options": {}, "price_cached": None},
    ),
    Table(
        "runs",
        "evaluations_evaluationrun",
        # Runs that were running are paused in the copy: no worker there should start calling
        # endpoints.
        """SELECT t.id AS run, j.name AS judge, j.version,
                  CASE WHEN t.state IN ('preparing', 'running') THEN 'paused'
                      ELSE t.state END AS state, t.message,
                  t.parameters, t.software_version, t.transport, t.budget, t.goal_width,
                  r.name AS rival, r.version AS rival_version, t.calls, t.cache_hits,
                  t.prompt_tokens, t.completion_tokens, t.cached_tokens, t.reasoning_tokens,
                  t.created_at, t.started_at, t.finished_at
           FROM evaluations_evaluationrun t JOIN evaluations_judge j ON j.id = t.judge_id
           LEFT JOIN evaluations_judge r ON r.id = t.goal_rival_id
           WHERE t.project_id = %(project)s AND t.search_id IS NULL AND t.purpose = ''""",
        {
            "judge_id": Ref("judges", ("judge", "version")),
            "goal_rival_id": Ref("judges", ("rival", "rival_version")),
        }
        | same(
            "state",
            "message",
            "parameters",
            "software_version",
            "transport",
            "budget",
            "goal_width",
            "calls",
            "cache_hits",
        )
        | same("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
        | same("created_at", "started_at", "finished_at"),
        key=("run",),
        of_project=True,
        json=frozenset({"parameters"}),
        later={
            "goal_width": None,
            "rival": None,
            "rival_version": None,
            "cached_tokens": 0,
            "reasoning_tokens": 0,
        },
    ),
    Table(
        "prompts",
        "evaluations_runcriterion",
        """SELECT t.run_id AS run, c.name AS criterion, e.version, t.template
           FROM evaluations_runcriterion t JOIN evaluations_evaluationrun r ON r.id = t.run_id
           JOIN evaluations_criterion c ON c.id = t.criterion_id
           LEFT JOIN evaluations_evaluationsteps e ON e.id = t.steps_id
               WHERE r.project_id = %(project)s AND r.search_id IS NULL AND r.purpose = ''""",
        {
            "run_id": Ref("runs", ("run",)),
            "criterion_id": _OF_CRITERION,
            "steps_id": Ref("steps", ("criterion", "version")),
            "template": "template",
        },
    ),
    Table(
        "replies",
        "evaluations_modelreply",
        """SELECT t.id AS reply, t.request_key, t.choices, t.model, t.request_id, t.prompt_tokens,
            t.completion_tokens,
                  t.calls, t.seconds, t.created_at, t.removed_at
           FROM evaluations_modelreply t WHERE t.project_id = %(project)s""",
        same(
            "request_key",
            "choices",
            "model",
            "request_id",
            "prompt_tokens",
            "completion_tokens",
            "calls",
            "seconds",
        )
        | same("created_at", "removed_at"),
        key=("reply",),
        of_project=True,
        json=frozenset({"choices"}),
        later={"removed_at": None},
    ),
    Table(
        "items",
        "evaluations_runitem",
        f"""SELECT t.run_id AS run, d.doc_id, s.name AS system_id, b.name AS rival,
            c.name AS criterion,
                   CASE WHEN t.state IN ('leased', 'sent') THEN 'pending' ELSE t.state END AS state,
                   t.attempts, t.reason, t.detail, t.reply_id AS reply
            FROM evaluations_runitem t {_OUTPUT} {_CRITERION}
            LEFT JOIN evaluations_candidateoutput v ON v.id = t.rival_id
            LEFT JOIN evaluations_system b ON b.id = v.system_id
                WHERE d.project_id = %(project)s AND {_COUNTING}""",
        {
            "run_id": Ref("runs", ("run",)),
            "output_id": _OF_OUTPUT,
            "rival_id": Ref("outputs", ("doc_id", "rival")),
            "criterion_id": _OF_CRITERION,
            "reply_id": Ref("replies", ("reply",)),
        }
        | same("state", "attempts", "reason", "detail"),
        defaults={"leased_by": ""},
    ),
    Table(
        "scores",
        "evaluations_score",
        f"""SELECT t.run_id AS run, d.doc_id, s.name AS system_id, c.name AS criterion, t.value,
            t.distribution,
                   t.coverage, t.entropy, t.mode, t.note, t.created_at
            FROM evaluations_score t {_OUTPUT} {_CRITERION}
            WHERE d.project_id = %(project)s AND {_COUNTING}""",
        {"run_id": Ref("runs", ("run",)), "output_id": _OF_OUTPUT, "criterion_id": _OF_CRITERION}
        | same("value", "distribution", "coverage", "entropy", "mode", "note", "created_at"),
        json=frozenset({"distribution"}),
    ),
    Table(
        "pair_scores",
        "evaluations_pairscore",
        f"""SELECT t.run_id AS run, d.doc_id, s.name AS system_id, b.name AS rival,
            c.name AS criterion, t.value, t.tie,
                   t."left", t.coverage, t.created_at
            FROM evaluations_pairscore t {_OUTPUT} {_CRITERION}
            JOIN evaluations_candidateoutput v ON v.id = t.rival_id
            JOIN evaluations_system b ON b.id = v.system_id WHERE d.project_id = %(project)s""",
        {
            "run_id": Ref("runs", ("run",)),
            "output_id": _OF_OUTPUT,
            "rival_id": Ref("outputs", ("doc_id", "rival")),
            "criterion_id": _OF_CRITERION,
        }
        | same("value", "tie", "left", "coverage", "created_at"),
    ),
    Table(
        "gap_causes",
        "evaluations_gapcause",
        f"""SELECT j.name AS judge, j.version, d.doc_id, s.name AS system_id, c.name AS criterion,
            t.cause, t.note, t.given_by_name AS given_by, t.given_at
            FROM evaluations_gapcause t {_OUTPUT} JOIN evaluations_judge j ON j.id = t.judge_id
            {_CRITERION} WHERE j.project_id = %(project)s AND {_SHOWN}""",
        {
            "judge_id": Ref("judges", ("judge", "version")),
            "output_id": _OF_OUTPUT,
            "criterion_id": _OF_CRITERION,
            "cause": "cause",
            "note": "note",
            "given_by_name": "given_by",
            "given_at": "given_at",
        },
        is_later=True,
    ),
    Table(
        "certificates",
        "evaluations_certificate",
        f"""SELECT j.name AS judge, j.version, c.name AS criterion, t.outcome, t.content, t.made_at
            FROM evaluations_certificate t JOIN evaluations_judge j ON j.id = t.judge_id
            {_CRITERION} WHERE t.project_id = %(project)s""",
        {
            "judge_id": Ref("judges", ("judge", "version")),
            "criterion_id": _OF_CRITERION,
            "outcome": "outcome",
            "content": "content",
            "made_at": "made_at",
        },
        of_project=True,
        json=frozenset({"content"}),
        is_later=True,
    ),
    Table(
        "studies",
        "evaluations_study",
        # A copy asks no endpoint by itself.
        f"""SELECT t.id AS study, j.name AS judge, j.version, c.name AS criterion, t.kind,
            t.replies, t.budget, t.every_hours, t.prompt, t.model, t.drifted_at, t.drift, t.made_at
            FROM evaluations_study t JOIN evaluations_judge j ON j.id = t.judge_id
            {_CRITERION} WHERE t.project_id = %(project)s""",
        {"judge_id": Ref("judges", ("judge", "version")), "criterion_id": _OF_CRITERION}
        | same("kind", "replies", "budget", "every_hours", "prompt", "model", "drifted_at", "drift")
        | same("made_at"),
        key=("study",),
        of_project=True,
        defaults={"is_on": False, "message": "Copied from another site, so it does not ask."},
        is_later=True,
    ),
    Table(
        "study_items",
        "evaluations_studyitem",
        f"""SELECT t.study_id AS study, d.doc_id, s.name AS system_id,
            CASE WHEN {_SHOWN} THEN t.rating END AS rating, t.scores
            FROM evaluations_studyitem t {_OUTPUT} WHERE d.project_id = %(project)s""",
        {"study_id": Ref("studies", ("study",)), "output_id": _OF_OUTPUT}
        | same("rating", "scores"),
        json=frozenset({"scores"}),
        is_later=True,
    ),
    Table(
        "study_parts",
        "evaluations_studypart",
        """SELECT t.study_id AS study, t.number, t.name, t.model, t.scores_evidence,
            CASE WHEN cardinality(%(hidden)s::bigint[]) = 0 THEN t.agreement_evidence END
                AS agreement_evidence, t.started_at, t.recorded_at
            FROM evaluations_studypart t JOIN evaluations_study u ON u.id = t.study_id
            WHERE u.project_id = %(project)s AND t.recorded_at IS NOT NULL""",
        {"study_id": Ref("studies", ("study",))}
        | same("number", "name", "model", "scores_evidence", "agreement_evidence")
        | same("started_at", "recorded_at"),
        is_later=True,
    ),
    Table(
        "campaigns",
        "annotations_campaign",
        # Members stay behind, so in a copy it is over until somebody gets a seat.
        """SELECT t.name AS campaign, t.kind,
                  CASE WHEN t.state = 'open' THEN 'closed' ELSE t.state END AS state,
                  t.selection, t.sample_size, t.whole_documents, t.group_size, t.overlap, t."order",
                  t.seed, t.lease_minutes, t.deadline, t.show_systems, t.show_others, t.show_scores,
                  t.unseen_percent, t.show_markdown, t.strength, t.language, t.span_categories,
                  t.span_severities, t.adjudicate_beyond, t.created_at, t.opened_at, t.closed_at,
                  t.check_percent, t.check_tolerance, t.attention_checks, t.practice_items,
                  t.practice_pass
           FROM annotations_campaign t WHERE t.project_id = %(project)s""",
        {"name": "campaign"}
        | same("kind", "state", "selection", "sample_size", "whole_documents", "group_size")
        | same("overlap", "order", "seed", "lease_minutes", "deadline", "show_systems")
        | same("show_others", "show_scores", "unseen_percent", "show_markdown", "strength")
        | same("span_categories", "span_severities", "adjudicate_beyond", "created_at")
        | same("opened_at", "closed_at", "check_percent", "check_tolerance", "attention_checks")
        | same("practice_items", "practice_pass", "language"),
        key=("campaign",),
        of_project=True,
        json=frozenset({"span_categories", "span_severities"}),
        # Known answers are among the items of a campaign that was opened.
        defaults={"gold": "[]"},
        later={
            "check_percent": 0,
            "check_tolerance": 0,
            "attention_checks": False,
            "practice_items": 0,
            "practice_pass": 0,
            "unseen_percent": 0,
            "language": "",
        },
        is_later=True,
    ),
    Table(
        "campaign_criteria",
        "annotations_campaign_criteria",
        """SELECT k.name AS campaign, c.name AS criterion
           FROM annotations_campaign_criteria t
           JOIN annotations_campaign k ON k.id = t.campaign_id
           JOIN evaluations_criterion c ON c.id = t.criterion_id
           WHERE k.project_id = %(project)s""",
        {"campaign_id": _OF_CAMPAIGN, "criterion_id": _OF_CRITERION},
        is_later=True,
    ),
    Table(
        "open_links",
        "annotations_openlink",
        """SELECT k.name AS campaign, t.title, t.consent, t.people, t.items_each, t.minutes,
                  t.before, t.after, t.amount, t.amount_screened, t.bonus,
                  t.bonus_percent
           FROM annotations_openlink t JOIN annotations_campaign k ON k.id = t.campaign_id
           WHERE k.project_id = %(project)s""",
        {"campaign_id": Ref("campaigns", ("campaign",))}
        | same("title", "consent", "people", "items_each", "minutes", "before")
        | same("after", "amount", "amount_screened", "bonus", "bonus_percent"),
        key=("campaign",),
        json=frozenset({"before", "after"}),
        # The address is the original's; codes are secrets, and banned ids are personal data.
        defaults={
            "address": None,
            "is_open": False,
            "banned": "[]",
            "done_code": "",
            "screened_code": "",
            "returned_code": "",
            "done_url": "",
            "screened_url": "",
            "returned_url": "",
        },
        is_later=True,
    ),
    Table(
        "participants",
        "annotations_participant",
        # Without the ids by which panels know people; nobody of them works in a copy.
        """SELECT k.name AS campaign, a.name AS annotator, t.source AS panel,
                  CASE WHEN t.state IN ('consented', 'active') THEN 'returned' ELSE t.state END
                      AS state, t.screened_for, t.before, t.after, t.consented_at, t.started_at,
                  t.until, t.ended_at
           FROM annotations_participant t JOIN annotations_openlink l ON l.id = t.link_id
           JOIN annotations_campaign k ON k.id = l.campaign_id
           LEFT JOIN annotations_annotator a ON a.id = t.annotator_id
           WHERE k.project_id = %(project)s""",
        {
            "link_id": Ref("open_links", ("campaign",)),
            "annotator_id": Ref("annotators", ("annotator",)),
        }
        | {"source": "panel"}
        | same("state", "screened_for", "before", "after", "consented_at", "started_at", "until")
        | same("ended_at"),
        json=frozenset({"before", "after"}),
        defaults={"external_id": None, "study": "", "session": ""},
        is_later=True,
    ),
    Table(
        "campaign_goals",
        "annotations_campaigngoal",
        """SELECT k.name AS campaign, c.name AS criterion, t.kind, t.width, j.name AS judge,
                  j.version, r.name AS rival, r.version AS rival_version, s.name AS system_id,
                  o.name AS other, t.reached_at, t.documents, t.low, t.high
           FROM annotations_campaigngoal t JOIN annotations_campaign k ON k.id = t.campaign_id
           JOIN evaluations_criterion c ON c.id = t.criterion_id
           LEFT JOIN evaluations_judge j ON j.id = t.judge_id
           LEFT JOIN evaluations_judge r ON r.id = t.rival_id
           LEFT JOIN evaluations_system s ON s.id = t.system_id
           LEFT JOIN evaluations_system o ON o.id = t.other_id
           WHERE k.project_id = %(project)s""",
        {
            "campaign_id": _OF_CAMPAIGN,
            "criterion_id": _OF_CRITERION,
            "judge_id": Ref("judges", ("judge", "version")),
            "rival_id": Ref("judges", ("rival", "rival_version")),
            "system_id": Ref("systems", ("system_id",)),
            "other_id": Ref("systems", ("other",)),
        }
        | same("kind", "width", "reached_at", "documents", "low", "high"),
        is_later=True,
    ),
    Table(
        "campaign_inclusions",
        "annotations_inclusion",
        f"""SELECT k.name AS campaign, d.doc_id, s.name AS system_id, t.probability
            FROM annotations_inclusion t JOIN annotations_campaign k ON k.id = t.campaign_id
            {_OUTPUT} WHERE k.project_id = %(project)s""",
        {"campaign_id": _OF_CAMPAIGN, "output_id": _OF_OUTPUT} | same("probability"),
        is_later=True,
    ),
    Table(
        "campaign_seats",
        "annotations_seat",
        f"""SELECT k.name AS campaign, a.name AS annotator, t.cursor, t.handed, t.removed_at
            FROM annotations_seat t JOIN annotations_campaign k ON k.id = t.campaign_id
            JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.annotator_id
            WHERE k.project_id = %(project)s AND k.state <> 'draft'""",
        {"campaign_id": _OF_CAMPAIGN, "annotator_id": _OF_ANNOTATOR}
        | same("cursor", "handed", "removed_at"),
        is_later=True,
    ),
    Table(
        "campaign_items",
        "annotations_campaignitem",
        # Whoever has an item reserved is not in a copy, so its place is free there.
        f"""SELECT k.name AS campaign, d.doc_id, t.position, t.kind, t.outputs,
            {_SYSTEMS.format("t.outputs")} AS systems, t.places + (
                SELECT count(*) FROM annotations_assignment e WHERE e.item_id = t.id
                    AND e.state = 'reserved' AND t.kind = 'ordinary') AS places,
            CASE WHEN {_SHOWN} THEN t.expected END AS expected
            FROM annotations_campaignitem t JOIN annotations_campaign k ON k.id = t.campaign_id
            JOIN evaluations_document d ON d.id = t.document_id
            WHERE k.project_id = %(project)s""",
        _OF_ITEM | named("expected") | same("position", "kind", "places"),
        key=("campaign", "position"),
        is_later=True,
    ),
    Table(
        "answers",
        "annotations_assignment",
        # Of locked documents it says only that they were answered: samples weigh by that.
        f"""SELECT t.id AS answer_id, k.name AS campaign, i.position, d.doc_id, a.name AS annotator,
            CASE WHEN t.state IN ('reserved', 'expired') THEN 'expired' ELSE t.state END AS state,
            t.shown AS outputs, {_SYSTEMS.format("t.shown")} AS systems, t.reserved_at,
            t.lease_until, t.submitted_at, t.seconds, t.version, t.flagged AND {_SHOWN} AS flagged,
            CASE WHEN {_SHOWN} THEN t.skip_reason ELSE '' END AS skip_reason, t.scores_shown,
            t.saw_others_at,
            CASE WHEN {_SHOWN} THEN t.answer END AS answer,
            CASE WHEN {_SHOWN} THEN t.passed END AS passed
            FROM annotations_assignment t JOIN annotations_campaign k ON k.id = t.campaign_id
            JOIN annotations_campaignitem i ON i.id = t.item_id
            JOIN evaluations_document d ON d.id = i.document_id
            JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.annotator_id
            WHERE k.project_id = %(project)s AND (t.state IN ('submitted', 'skipped', 'rejected')
                OR EXISTS (SELECT FROM annotations_review w WHERE w.assignment_id = t.id))""",
        _OF_ASSIGNMENT
        | named("answer")
        | same("state", "reserved_at", "lease_until", "submitted_at", "seconds", "version")
        | same("flagged", "skip_reason", "scores_shown", "saw_others_at", "passed"),
        key=("answer_id",),
        is_later=True,
    ),
    Table(
        "answer_changes",
        "annotations_answerchange",
        f"""SELECT t.assignment_id AS answer_id, d.doc_id, b.shown AS outputs,
            {_SYSTEMS.format("b.shown")} AS systems, t.at, t.before, t.after
            FROM annotations_answerchange t {_OF_ANSWER} WHERE d.project_id = %(project)s
                AND {_SHOWN}""",
        {"assignment_id": Ref("answers", ("answer_id",))} | named("before", "after") | same("at"),
        is_later=True,
    ),
    Table(
        "answer_reviews",
        "annotations_review",
        f"""SELECT t.assignment_id AS answer_id, d.doc_id, b.shown AS outputs,
            {_SYSTEMS.format("b.shown")} AS systems, t.at, t.action, t.reason, t.skip_reason,
            t.answer, CASE WHEN %(pseudonyms)s THEN '' ELSE t.by_name END AS by_name
            FROM annotations_review t {_OF_ANSWER} WHERE d.project_id = %(project)s
                AND {_SHOWN}""",
        {"assignment_id": Ref("answers", ("answer_id",))}
        | named("answer")
        | same("at", "action", "reason", "skip_reason", "by_name"),
        is_later=True,
    ),
    Table(
        "decisions",
        "annotations_decision",
        f"""SELECT k.name AS campaign, i.position, d.doc_id, i.outputs,
            {_SYSTEMS.format("i.outputs")} AS systems, t.answer, t.note, t.at,
            CASE WHEN %(pseudonyms)s THEN ''
                ELSE coalesce(nullif(t.by_name, ''), u.username, '') END AS by_name
            FROM annotations_decision t JOIN annotations_campaignitem i ON i.id = t.item_id
            JOIN annotations_campaign k ON k.id = i.campaign_id
            JOIN evaluations_document d ON d.id = i.document_id
            LEFT JOIN auth_user u ON u.id = t.user_id
            WHERE d.project_id = %(project)s AND {_SHOWN}""",
        {"item_id": Ref("campaign_items", ("campaign", "position"))}
        | named("answer")
        | same("note", "at", "by_name"),
        is_later=True,
    ),
    Table(
        "exclusions",
        "annotations_exclusion",
        f"""SELECT a.name AS annotator, t.reason, t.at, t.lifted_at,
            CASE WHEN %(pseudonyms)s THEN '' ELSE t.by_name END AS by_name,
            CASE WHEN %(pseudonyms)s THEN '' ELSE t.lifted_by_name END AS lifted_by_name
            FROM annotations_exclusion t
            JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.annotator_id""",
        {"annotator_id": _OF_ANNOTATOR}
        | same("reason", "at", "lifted_at", "by_name", "lifted_by_name"),
        is_later=True,
    ),
    Table(
        "locks",
        "evaluations_lockeddocuments",
        """SELECT t.id AS lock, t.draw, t.share, t.seed, t.looks_allowed, t.locked_at,
                  t.unlocked_at, t.exceptions
           FROM evaluations_lockeddocuments t WHERE t.project_id = %(project)s""",
        same("draw", "share", "seed", "looks_allowed", "locked_at", "unlocked_at", "exceptions"),
        key=("lock",),
        other_key=("draw",),
        of_project=True,
        json=frozenset({"exceptions"}),
        is_later=True,
    ),
    Table(
        "lock_events",
        "evaluations_lockevent",
        """SELECT t.draw, t.kind, t.at, t."by", t.project, t.content
           FROM evaluations_lockevent t JOIN evaluations_lockeddocuments k ON k.draw = t.draw
           WHERE k.project_id = %(project)s""",
        # An archive speaks of its own draw only: its looks would use up those of another project.
        same("kind", "at", "by", "project", "content")
        | {"draw": Ref("locks", ("draw",), keeps_name=True)},
        json=frozenset({"content"}),
        defaults={"from_archive": True},
        is_later=True,
    ),
    Table(
        "searches",
        "evaluations_search",
        # Nothing is searched in a copy by itself.
        f"""SELECT t.id AS search, j.name AS judge, j.version, c.name AS criterion, t.changes,
            r.name AS reflector, r.version AS reflector_version,
            CASE WHEN t.state IN ('waiting', 'asking', 'paused') THEN 'cancelled' ELSE t.state END
                AS state, t.message, t.wanted_at, t.most_calls, t.budget, t.found
            FROM evaluations_search t JOIN evaluations_judge j ON j.id = t.judge_id {_CRITERION}
            LEFT JOIN evaluations_judge r ON r.id = t.reflector_id
            WHERE t.project_id = %(project)s""",
        {
            "judge_id": Ref("judges", ("judge", "version")),
            "criterion_id": _OF_CRITERION,
            "reflector_id": Ref("judges", ("reflector", "reflector_version")),
        }
        | same("changes", "state", "message", "wanted_at", "most_calls", "budget", "found"),
        key=("search",),
        of_project=True,
        json=frozenset({"changes", "found"}),
        is_later=True,
    ),
    Table(
        "proposals",
        "evaluations_proposal",
        """SELECT t.search_id AS search, t.number, p.number AS parent, t.part, t.texts, t.scoring,
            t.prompt_key, t.repeat, t.problem, t.parent_on_batch, t.on_batch, t.on_selection,
            t.calls, t.prompt_tokens, t.completion_tokens, t.created_at
           FROM evaluations_proposal t JOIN evaluations_search u ON u.id = t.search_id
           LEFT JOIN evaluations_proposal p ON p.id = t.parent_id
           WHERE u.project_id = %(project)s""",
        {
            "search_id": Ref("searches", ("search",)),
            "parent_id": Ref("proposals", ("search", "parent")),
        }
        | same("number", "part", "texts", "scoring", "prompt_key", "repeat", "problem")
        | same("parent_on_batch", "on_batch", "on_selection", "calls", "prompt_tokens")
        | same("completion_tokens", "created_at"),
        key=("search", "number"),
        json=frozenset({"texts", "scoring", "on_selection"}),
        is_later=True,
    ),
    Table(
        "candidates",
        "evaluations_candidate",
        """SELECT t.id AS candidate, t.search_id AS search, t.change, t.measure, t.title,
            t.description, t.formula, p.number AS proposal, t.training, t.created_at,
            j.name AS judge, j.version
           FROM evaluations_candidate t JOIN evaluations_search u ON u.id = t.search_id
           LEFT JOIN evaluations_proposal p ON p.id = t.proposal_id
           LEFT JOIN evaluations_judge j ON j.id = t.adopted_as_id
           WHERE u.project_id = %(project)s""",
        {
            "search_id": Ref("searches", ("search",)),
            "proposal_id": Ref("proposals", ("search", "proposal")),
            "adopted_as_id": Ref("judges", ("judge", "version")),
        }
        | same("change", "measure", "title", "description", "formula", "training", "created_at"),
        key=("candidate",),
        json=frozenset({"formula", "training"}),
        is_later=True,
    ),
    Table(
        "looks",
        "evaluations_look",
        """SELECT t.locked_id AS lock, t.candidate_id AS candidate,
            coalesce(nullif(t.looked_by_name, ''), u.username, '') AS looked_by_name, t.looked_at,
            t.outcome, t.documents, t.value, t.today, t.gain, t.low, t.high, t.confidence, t.reason,
            t.ranked, t.constant
           FROM evaluations_look t JOIN evaluations_lockeddocuments k ON k.id = t.locked_id
           LEFT JOIN auth_user u ON u.id = t.looked_by_id
           WHERE k.project_id = %(project)s""",
        {
            "locked_id": Ref("locks", ("lock",)),
            "candidate_id": Ref("candidates", ("candidate",)),
        }
        | same("looked_by_name", "looked_at", "outcome", "documents", "value", "today", "gain")
        | same("low", "high", "confidence", "reason", "ranked", "constant"),
        json=frozenset({"ranked", "constant"}),
        later={"constant": None},
        is_later=True,
    ),
)
