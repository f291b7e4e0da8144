"""The contents of an archive: one JSON Lines file per kind of record, with names instead of ids.

`outputs.jsonl`, `ratings.jsonl` and `preferences.jsonl` have the columns that uploads accept. Keys
of endpoints and members are not in an archive; of campaigns it has designs, goals, items, answers
with their history, decisions, and who took part by open links, without their ids. It has locks,
searches and looks; ratings of locked documents are left out until the last look.
"""

from collections.abc import Iterator, Mapping
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
Columns = dict[str, Column]

# What a field that names another record says of it, where a table does not say otherwise (`values`
# of a table). The letters are those of the joins below.
_NAMES = {
    "annotator": "a.name",
    "campaign": "k.name",
    "criterion": "c.name",
    "doc_id": "d.doc_id",
    "judge": "j.name",
    "version": "j.version",
    "rival": "r.name",
    "rival_version": "r.version",
    "run": "t.run_id",
    "search": "t.search_id",
    "system_id": "s.name",
}


@dataclass(frozen=True)
class Table:
    """One file: which rows it has, and the database column of each field.

    `rows` selects them, as what follows `FROM table t`. `values` are the SQL of fields that are
    neither a column as it is nor a usual name. `staged` is a temporary table that has the rows in
    place of the table. `key` are the fields by which rows of other files
    identify its records, `other_key` those by which some do; `defaults` are columns with the same
    value in every row; `later` are fields that older archives do not have, with their values; a
    table that `is_later` is missing in those as a whole. Rows are in the order of their ids, so
    that a copy has the same order.
    """

    name: str
    target: str
    columns: Mapping[str, Column]
    rows: str = "WHERE t.project_id = %(project)s"
    values: Mapping[str, str] = field(default_factory=dict)
    staged: str = ""
    key: tuple[str, ...] = ()
    other_key: tuple[str, ...] = ()
    of_project: bool = False
    json: frozenset[str] = frozenset()
    defaults: Mapping[str, object] = field(default_factory=dict)
    later: Mapping[str, object] = field(default_factory=dict)
    is_later: bool = False

    @property
    def select(self) -> str:
        """The query of its rows, in the order of their ids."""
        fields = ", ".join(f'{sql} AS "{name}"' for name, sql in self._fields().items())
        return f"SELECT {fields} FROM {self.staged or self.target} t {self.rows} ORDER BY t.id"

    def _fields(self) -> dict[str, str]:
        """The SQL of each field of a row."""
        own = {name: f't."{column}"' for name, column in self._own_columns()}
        pointing = {
            name: self.values.get(name) or own.get(name) or _NAMES[name]
            for column in self.columns.values()
            if isinstance(column, Ref)
            for name in column.fields
        }
        return pointing | own | dict(self.values)

    def _own_columns(self) -> Iterator[tuple[str, str]]:
        for column, of in self.columns.items():
            if isinstance(of, str):
                yield of, column
            elif isinstance(of, NamedAnswer):
                yield of.field, column


# Temporary tables: with which probability outputs were chosen, and what annotators are called.
ARCHIVED_PROBABILITIES = "archived_probability"
ARCHIVED_ANNOTATORS = "archived_annotator"


def same(names: str) -> Columns:
    """Columns whose fields have the same names as in the database."""
    return {name: name for name in names.split()}


def answers(names: str) -> Columns:
    """Columns with answers of the same names."""
    return {name: NamedAnswer(name) for name in names.split()}


# Joins, by the letters of `_NAMES`.
_OUTPUT = """JOIN evaluations_candidateoutput o ON o.id = t.output_id
    JOIN evaluations_document d ON d.id = o.document_id
    JOIN evaluations_system s ON s.id = o.system_id"""
_RIVAL_OUTPUT = """LEFT JOIN evaluations_candidateoutput v ON v.id = t.rival_id
    LEFT JOIN evaluations_system b ON b.id = v.system_id"""
_CRITERION = "LEFT JOIN evaluations_criterion c ON c.id = t.criterion_id"
_JUDGE = "JOIN evaluations_judge j ON j.id = t.judge_id"
_CAMPAIGN = "JOIN annotations_campaign k ON k.id = t.campaign_id"
_ANNOTATOR = f"JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.annotator_id"
_ANSWER = """JOIN annotations_assignment b ON b.id = t.assignment_id
    JOIN annotations_campaignitem i ON i.id = b.item_id
    JOIN evaluations_document d ON d.id = i.document_id"""
_SYSTEMS = """(SELECT array_agg(y.name ORDER BY u.place)
    FROM unnest({0}) WITH ORDINALITY AS u(id, place)
    JOIN evaluations_candidateoutput p ON p.id = u.id
    JOIN evaluations_system y ON y.id = p.system_id)"""
# What a search for a better judge tried, and what a study asked, stays behind: there it would count
# as the judge's scores.
_COUNTING = """NOT EXISTS (SELECT FROM evaluations_evaluationrun r
    WHERE r.id = t.run_id AND (r.search_id IS NOT NULL OR r.purpose <> ''))"""
# Ratings of locked documents are withheld until the last look.
_SHOWN = "d.id <> ALL(%(hidden)s::bigint[])"
_IN_PROJECT = "d.project_id = %(project)s"
_OF_CAMPAIGN_IN_PROJECT = "k.project_id = %(project)s"

_TO_OUTPUT = Ref("outputs", ("doc_id", "system_id"))
_TO_RIVAL_OUTPUT = Ref("outputs", ("doc_id", "rival"))
_TO_CRITERION = Ref("criteria", ("criterion",))
_TO_JUDGE = Ref("judges", ("judge", "version"))
_TO_RIVAL = Ref("judges", ("rival", "rival_version"))
_TO_RUN = Ref("runs", ("run",))
_TO_CAMPAIGN = Ref("campaigns", ("campaign",))
_TO_ANNOTATOR = Ref("annotators", ("annotator",))
_TO_ANSWER = Ref("answers", ("answer_id",))


def _listed(outputs: str) -> dict[str, str]:
    """The values of fields that list outputs of a document: ids, and the names of systems."""
    return {"outputs": outputs, "systems": _SYSTEMS.format(outputs)}


def _if_shown(*names: str, otherwise: str = "NULL") -> dict[str, str]:
    """The values of columns that are withheld with their documents."""
    return {name: f'CASE WHEN {_SHOWN} THEN t."{name}" ELSE {otherwise} END' for name in names}


def _unless_pseudonyms(**names: str) -> dict[str, str]:
    """The values of names of members, which an archive with pseudonyms leaves out."""
    return {
        field: f"CASE WHEN %(pseudonyms)s THEN '' ELSE {name} END" for field, name in names.items()
    }


TABLES = (
    Table(
        "criteria",
        "evaluations_criterion",
        {"name": "criterion"}
        | same("definition scale_min scale_max scale_step scale_labels task_introduction inputs")
        | same("prompt_file guidelines position"),
        key=("criterion",),
        of_project=True,
        json=frozenset({"scale_labels"}),
    ),
    Table(
        "steps",
        "evaluations_evaluationsteps",
        {"criterion_id": _TO_CRITERION} | same("version text written_by created_at"),
        rows=f"{_CRITERION} WHERE c.project_id = %(project)s",
        key=("criterion", "version"),
    ),
    Table(
        "systems",
        "evaluations_system",
        {"name": "system_id"} | same("kind family"),
        key=("system_id",),
        of_project=True,
        later={"family": ""},
    ),
    Table(
        "conversations",
        "evaluations_conversation",
        {"digest": "conversation", "turns": "turns"},
        key=("conversation",),
        of_project=True,
        json=frozenset({"turns"}),
        is_later=True,
    ),
    Table(
        "documents",
        "evaluations_document",
        same("doc_id source context references metadata turns_before session")
        | {"conversation_id": Ref("conversations", ("conversation",))},
        rows="""LEFT JOIN evaluations_conversation v ON v.id = t.conversation_id
            WHERE t.project_id = %(project)s""",
        values={"conversation": "v.digest"},
        key=("doc_id",),
        of_project=True,
        json=frozenset({"references", "metadata"}),
        later={"metadata": {}, "conversation": None, "turns_before": 0, "session": ""},
    ),
    Table(
        "outputs",
        "evaluations_candidateoutput",
        {
            "document_id": Ref("documents", ("doc_id",)),
            "system_id": Ref("systems", ("system_id",)),
            "text": "output",
            "turns": "output_turns",
        },
        rows=f"""JOIN evaluations_document d ON d.id = t.document_id
            JOIN evaluations_system s ON s.id = t.system_id WHERE {_IN_PROJECT}""",
        key=("doc_id", "system_id"),
        json=frozenset({"turns"}),
        later={"output_turns": []},
    ),
    Table(
        "annotators",
        "annotations_annotator",
        {"name": "annotator", "kind": "kind"},
        rows=f"JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.id WHERE t.project_id = %(project)s",
        values={"annotator": "a.name"},
        key=("annotator",),
        of_project=True,
    ),
    Table(
        "ratings",
        "annotations_rating",
        {"output_id": _TO_OUTPUT, "criterion_id": _TO_CRITERION, "annotator_id": _TO_ANNOTATOR}
        | same("score scores_in_sight created_at comment"),
        rows=f"{_OUTPUT} {_CRITERION} {_ANNOTATOR} WHERE {_IN_PROJECT} AND {_SHOWN}",
        later={"comment": ""},
    ),
    Table(
        "probabilities",
        "annotations_statedprobability",
        {"output_id": _TO_OUTPUT, "criterion_id": _TO_CRITERION} | same("probability"),
        staged=ARCHIVED_PROBABILITIES,
        rows=f"{_OUTPUT} {_CRITERION} WHERE {_IN_PROJECT}",
        is_later=True,
    ),
    Table(
        "preferences",
        "annotations_preference",
        {
            "output_a_id": Ref("outputs", ("doc_id", "system_a")),
            "output_b_id": Ref("outputs", ("doc_id", "system_b")),
            "criterion_id": _TO_CRITERION,
            "annotator_id": _TO_ANNOTATOR,
        }
        | same("value a_was_left scores_in_sight created_at comment"),
        rows=f"""JOIN evaluations_candidateoutput o ON o.id = t.output_a_id
            JOIN evaluations_document d ON d.id = o.document_id
            JOIN evaluations_system s ON s.id = o.system_id
            JOIN evaluations_candidateoutput v ON v.id = t.output_b_id
            JOIN evaluations_system b ON b.id = v.system_id
            {_CRITERION} {_ANNOTATOR} WHERE {_IN_PROJECT} AND {_SHOWN}""",
        values={"system_a": "s.name", "system_b": "b.name"},
        later={"comment": ""},
    ),
    Table(
        "spans",
        "annotations_span",
        {"output_id": _TO_OUTPUT, "annotator_id": _TO_ANNOTATOR}
        | same("start end quote category severity"),
        rows=f"{_OUTPUT} {_ANNOTATOR} WHERE {_IN_PROJECT} AND {_SHOWN}",
    ),
    Table(
        "endpoints",
        "evaluations_endpoint",
        {"name": "endpoint"}
        | same("base_url api_version key_env requests_per_minute tokens_per_minute")
        | same("parallel_calls retired_at"),
        key=("endpoint",),
        of_project=True,
        defaults={"sealed_key": ""},
        later={"parallel_calls": None},
    ),
    Table(
        "judges",
        "evaluations_judge",
        {"name": "judge"}
        | {"endpoint_id": Ref("endpoints", ("endpoint",))}
        | same("version kind settings model family mode samples temperature use_steps concurrency")
        | same("max_tokens timeout_seconds min_coverage request_options price_in price_out")
        | same("price_cached length_parameter sends_temperature created_at retired_at"),
        rows="""LEFT JOIN evaluations_endpoint e ON e.id = t.endpoint_id
            WHERE t.project_id = %(project)s""",
        values={"endpoint": "e.name"},
        key=("judge", "version"),
        of_project=True,
        json=frozenset({"settings", "request_options"}),
        later={"min_coverage": 0, "family": "", "request_options": {}, "price_cached": None},
    ),
    Table(
        "runs",
        "evaluations_evaluationrun",
        {"judge_id": _TO_JUDGE, "goal_rival_id": _TO_RIVAL}
        | same("state message parameters software_version transport budget goal_width calls")
        | same("cache_hits prompt_tokens completion_tokens cached_tokens reasoning_tokens")
        | same("created_at started_at finished_at"),
        rows=f"""{_JUDGE} LEFT JOIN evaluations_judge r ON r.id = t.goal_rival_id
            WHERE t.project_id = %(project)s AND t.search_id IS NULL AND t.purpose = ''""",
        values={
            "run": "t.id",
            # Runs that were running are paused in the copy: no worker there should start calling
            # endpoints.
            "state": "CASE WHEN t.state IN ('preparing', 'running') THEN 'paused' ELSE t.state END",
        },
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
        same("template")
        | {
            "run_id": _TO_RUN,
            "criterion_id": _TO_CRITERION,
            "steps_id": Ref("steps", ("criterion", "version")),
        },
        rows=f"""JOIN evaluations_evaluationrun r ON r.id = t.run_id {_CRITERION}
            LEFT JOIN evaluations_evaluationsteps e ON e.id = t.steps_id
            WHERE r.project_id = %(project)s AND r.search_id IS NULL AND r.purpose = ''""",
        values={"version": "e.version"},
    ),
    Table(
        "replies",
        "evaluations_modelreply",
        same("request_key choices model request_id prompt_tokens completion_tokens calls seconds")
        | same("created_at removed_at"),
        values={"reply": "t.id"},
        key=("reply",),
        of_project=True,
        json=frozenset({"choices"}),
        later={"removed_at": None},
    ),
    Table(
        "items",
        "evaluations_runitem",
        {
            "run_id": _TO_RUN,
            "output_id": _TO_OUTPUT,
            "rival_id": _TO_RIVAL_OUTPUT,
            "criterion_id": _TO_CRITERION,
            "reply_id": Ref("replies", ("reply",)),
        }
        | same("state attempts reason detail"),
        rows=f"{_OUTPUT} {_CRITERION} {_RIVAL_OUTPUT} WHERE {_IN_PROJECT} AND {_COUNTING}",
        values={
            "rival": "b.name",
            "reply": "t.reply_id",
            "state": "CASE WHEN t.state IN ('leased', 'sent') THEN 'pending' ELSE t.state END",
        },
        defaults={"leased_by": ""},
    ),
    Table(
        "scores",
        "evaluations_score",
        {"run_id": _TO_RUN, "output_id": _TO_OUTPUT, "criterion_id": _TO_CRITERION}
        | same("value distribution coverage entropy mode note created_at"),
        rows=f"{_OUTPUT} {_CRITERION} WHERE {_IN_PROJECT} AND {_COUNTING}",
        json=frozenset({"distribution"}),
    ),
    Table(
        "pair_scores",
        "evaluations_pairscore",
        {
            "run_id": _TO_RUN,
            "output_id": _TO_OUTPUT,
            "rival_id": _TO_RIVAL_OUTPUT,
            "criterion_id": _TO_CRITERION,
        }
        | same("value tie left coverage created_at"),
        rows=f"{_OUTPUT} {_CRITERION} {_RIVAL_OUTPUT} WHERE {_IN_PROJECT}",
        values={"rival": "b.name"},
    ),
    Table(
        "gap_causes",
        "evaluations_gapcause",
        {"judge_id": _TO_JUDGE, "output_id": _TO_OUTPUT, "criterion_id": _TO_CRITERION}
        | same("cause note given_at")
        | {"given_by_name": "given_by"},
        rows=f"{_OUTPUT} {_JUDGE} {_CRITERION} WHERE j.project_id = %(project)s AND {_SHOWN}",
        is_later=True,
    ),
    Table(
        "certificates",
        "evaluations_certificate",
        {"judge_id": _TO_JUDGE, "criterion_id": _TO_CRITERION} | same("outcome content made_at"),
        rows=f"{_JUDGE} {_CRITERION} WHERE t.project_id = %(project)s",
        of_project=True,
        json=frozenset({"content"}),
        is_later=True,
    ),
    Table(
        "studies",
        "evaluations_study",
        {"judge_id": _TO_JUDGE, "criterion_id": _TO_CRITERION}
        | same("kind replies budget every_hours prompt model drifted_at drift made_at"),
        rows=f"{_JUDGE} {_CRITERION} WHERE t.project_id = %(project)s",
        values={"study": "t.id"},
        key=("study",),
        of_project=True,
        # A copy asks no endpoint by itself.
        defaults={"is_on": False, "message": "Copied from another site, so it does not ask."},
        is_later=True,
    ),
    Table(
        "study_items",
        "evaluations_studyitem",
        {"study_id": Ref("studies", ("study",)), "output_id": _TO_OUTPUT} | same("rating scores"),
        rows=f"{_OUTPUT} WHERE {_IN_PROJECT}",
        values={"study": "t.study_id"} | _if_shown("rating"),
        json=frozenset({"scores"}),
        is_later=True,
    ),
    Table(
        "study_parts",
        "evaluations_studypart",
        {"study_id": Ref("studies", ("study",))}
        | same("number name model scores_evidence agreement_evidence started_at recorded_at"),
        rows="""JOIN evaluations_study u ON u.id = t.study_id
            WHERE u.project_id = %(project)s AND t.recorded_at IS NOT NULL""",
        values={
            "study": "t.study_id",
            "agreement_evidence": """CASE WHEN cardinality(%(hidden)s::bigint[]) = 0
                THEN t.agreement_evidence END""",
        },
        is_later=True,
    ),
    Table(
        "campaigns",
        "annotations_campaign",
        {"name": "campaign"}
        | same("kind state selection sample_size whole_documents group_size overlap order seed")
        | same("lease_minutes deadline show_systems show_others show_scores unseen_percent")
        | same("show_markdown strength language span_categories span_severities")
        | same("adjudicate_beyond created_at opened_at closed_at check_percent check_tolerance")
        | same("attention_checks practice_items practice_pass"),
        # Members stay behind, so in a copy it is over until somebody gets a seat.
        values={"state": "CASE WHEN t.state = 'open' THEN 'closed' ELSE t.state END"},
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
        {"campaign_id": _TO_CAMPAIGN, "criterion_id": _TO_CRITERION},
        rows=f"{_CAMPAIGN} {_CRITERION} WHERE {_OF_CAMPAIGN_IN_PROJECT}",
        is_later=True,
    ),
    Table(
        "open_links",
        "annotations_openlink",
        {"campaign_id": _TO_CAMPAIGN}
        | same("title consent people items_each minutes before after amount amount_screened")
        | same("bonus bonus_percent"),
        rows=f"{_CAMPAIGN} WHERE {_OF_CAMPAIGN_IN_PROJECT}",
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
        {"link_id": Ref("open_links", ("campaign",)), "annotator_id": _TO_ANNOTATOR}
        | {"source": "panel"}
        | same("state screened_for before after consented_at started_at until ended_at"),
        rows=f"""JOIN annotations_openlink l ON l.id = t.link_id
            JOIN annotations_campaign k ON k.id = l.campaign_id
            LEFT {_ANNOTATOR} WHERE {_OF_CAMPAIGN_IN_PROJECT}""",
        # Nobody of them works in a copy.
        values={
            "state": """CASE WHEN t.state IN ('consented', 'active') THEN 'returned'
                ELSE t.state END"""
        },
        json=frozenset({"before", "after"}),
        # The ids by which panels know people stay behind.
        defaults={"external_id": None, "study": "", "session": ""},
        is_later=True,
    ),
    Table(
        "campaign_goals",
        "annotations_campaigngoal",
        {
            "campaign_id": _TO_CAMPAIGN,
            "criterion_id": _TO_CRITERION,
            "judge_id": _TO_JUDGE,
            "rival_id": _TO_RIVAL,
            "system_id": Ref("systems", ("system_id",)),
            "other_id": Ref("systems", ("other",)),
        }
        | same("kind width reached_at documents low high"),
        rows=f"""{_CAMPAIGN} {_CRITERION} LEFT {_JUDGE}
            LEFT JOIN evaluations_judge r ON r.id = t.rival_id
            LEFT JOIN evaluations_system s ON s.id = t.system_id
            LEFT JOIN evaluations_system o ON o.id = t.other_id
            WHERE {_OF_CAMPAIGN_IN_PROJECT}""",
        values={"other": "o.name"},
        is_later=True,
    ),
    Table(
        "campaign_inclusions",
        "annotations_inclusion",
        {"campaign_id": _TO_CAMPAIGN, "output_id": _TO_OUTPUT} | same("probability"),
        rows=f"{_CAMPAIGN} {_OUTPUT} WHERE {_OF_CAMPAIGN_IN_PROJECT}",
        is_later=True,
    ),
    Table(
        "campaign_seats",
        "annotations_seat",
        {"campaign_id": _TO_CAMPAIGN, "annotator_id": _TO_ANNOTATOR}
        | same("cursor handed removed_at"),
        rows=f"{_CAMPAIGN} {_ANNOTATOR} WHERE {_OF_CAMPAIGN_IN_PROJECT} AND k.state <> 'draft'",
        is_later=True,
    ),
    Table(
        "campaign_items",
        "annotations_campaignitem",
        same("position kind places")
        | answers("expected")
        | {
            "campaign_id": _TO_CAMPAIGN,
            "document_id": Ref("documents", ("doc_id",)),
            "outputs": Refs(),
        },
        rows=f"""{_CAMPAIGN} JOIN evaluations_document d ON d.id = t.document_id
            WHERE {_OF_CAMPAIGN_IN_PROJECT}""",
        values=_listed("t.outputs")
        | _if_shown("expected")
        # Whoever has an item reserved is not in a copy, so its place is free there.
        | {
            "places": """t.places + (SELECT count(*) FROM annotations_assignment e
                WHERE e.item_id = t.id AND e.state = 'reserved' AND t.kind = 'ordinary')"""
        },
        key=("campaign", "position"),
        is_later=True,
    ),
    Table(
        "answers",
        "annotations_assignment",
        same("state reserved_at lease_until submitted_at seconds version flagged skip_reason")
        | same("scores_shown saw_others_at passed")
        | answers("answer")
        | {
            "campaign_id": _TO_CAMPAIGN,
            "item_id": Ref("campaign_items", ("campaign", "position")),
            "annotator_id": _TO_ANNOTATOR,
            "shown": Refs(),
        },
        rows=f"""{_CAMPAIGN} JOIN annotations_campaignitem i ON i.id = t.item_id
            JOIN evaluations_document d ON d.id = i.document_id {_ANNOTATOR}
            WHERE {_OF_CAMPAIGN_IN_PROJECT} AND (t.state IN ('submitted', 'skipped', 'rejected')
                OR EXISTS (SELECT FROM annotations_review w WHERE w.assignment_id = t.id))""",
        # Of locked documents it says only that they were answered: samples weigh by that.
        values={
            "answer_id": "t.id",
            "position": "i.position",
            "doc_id": "d.doc_id",
            "state": """CASE WHEN t.state IN ('reserved', 'expired') THEN 'expired'
                ELSE t.state END""",
            "flagged": f"t.flagged AND {_SHOWN}",
        }
        | _listed("t.shown")
        | _if_shown("skip_reason", otherwise="''")
        | _if_shown("answer", "passed"),
        key=("answer_id",),
        is_later=True,
    ),
    Table(
        "answer_changes",
        "annotations_answerchange",
        {"assignment_id": _TO_ANSWER} | answers("before after") | same("at"),
        rows=f"{_ANSWER} WHERE {_IN_PROJECT} AND {_SHOWN}",
        values={"answer_id": "t.assignment_id", "doc_id": "d.doc_id"} | _listed("b.shown"),
        is_later=True,
    ),
    Table(
        "answer_reviews",
        "annotations_review",
        {"assignment_id": _TO_ANSWER}
        | answers("answer")
        | same("at action reason skip_reason by_name"),
        rows=f"{_ANSWER} WHERE {_IN_PROJECT} AND {_SHOWN}",
        values={"answer_id": "t.assignment_id", "doc_id": "d.doc_id"}
        | _listed("b.shown")
        | _unless_pseudonyms(by_name="t.by_name"),
        is_later=True,
    ),
    Table(
        "decisions",
        "annotations_decision",
        {"item_id": Ref("campaign_items", ("campaign", "position"))}
        | answers("answer")
        | same("note at by_name"),
        rows=f"""JOIN annotations_campaignitem i ON i.id = t.item_id
            JOIN annotations_campaign k ON k.id = i.campaign_id
            JOIN evaluations_document d ON d.id = i.document_id
            LEFT JOIN auth_user u ON u.id = t.user_id WHERE {_IN_PROJECT} AND {_SHOWN}""",
        values={"position": "i.position", "doc_id": "d.doc_id"}
        | _listed("i.outputs")
        | _unless_pseudonyms(by_name="coalesce(nullif(t.by_name, ''), u.username, '')"),
        is_later=True,
    ),
    Table(
        "exclusions",
        "annotations_exclusion",
        {"annotator_id": _TO_ANNOTATOR} | same("reason at lifted_at by_name lifted_by_name"),
        rows=_ANNOTATOR,
        values=_unless_pseudonyms(by_name="t.by_name", lifted_by_name="t.lifted_by_name"),
        is_later=True,
    ),
    Table(
        "locks",
        "evaluations_lockeddocuments",
        same("draw share seed looks_allowed locked_at unlocked_at exceptions"),
        values={"lock": "t.id"},
        key=("lock",),
        other_key=("draw",),
        of_project=True,
        json=frozenset({"exceptions"}),
        is_later=True,
    ),
    Table(
        "lock_events",
        "evaluations_lockevent",
        # An archive speaks of its own draw only: its looks would use up those of another project.
        {"draw": Ref("locks", ("draw",), keeps_name=True)} | same("kind at by project content"),
        rows="""JOIN evaluations_lockeddocuments k ON k.draw = t.draw
            WHERE k.project_id = %(project)s""",
        values={"draw": "t.draw"},
        json=frozenset({"content"}),
        defaults={"from_archive": True},
        is_later=True,
    ),
    Table(
        "searches",
        "evaluations_search",
        {
            "judge_id": _TO_JUDGE,
            "criterion_id": _TO_CRITERION,
            "reflector_id": Ref("judges", ("reflector", "reflector_version")),
        }
        | same("changes state message wanted_at most_calls budget found"),
        rows=f"""{_JUDGE} {_CRITERION} LEFT JOIN evaluations_judge r ON r.id = t.reflector_id
            WHERE t.project_id = %(project)s""",
        values={
            "search": "t.id",
            "reflector": "r.name",
            "reflector_version": "r.version",
            # Nothing is searched in a copy by itself.
            "state": """CASE WHEN t.state IN ('waiting', 'asking', 'paused') THEN 'cancelled'
                ELSE t.state END""",
        },
        key=("search",),
        of_project=True,
        json=frozenset({"changes", "found"}),
        is_later=True,
    ),
    Table(
        "proposals",
        "evaluations_proposal",
        {
            "search_id": Ref("searches", ("search",)),
            "parent_id": Ref("proposals", ("search", "parent")),
        }
        | same("number part texts scoring prompt_key repeat problem parent_on_batch on_batch")
        | same("on_selection calls prompt_tokens completion_tokens created_at"),
        rows="""JOIN evaluations_search u ON u.id = t.search_id
            LEFT JOIN evaluations_proposal p ON p.id = t.parent_id
            WHERE u.project_id = %(project)s""",
        values={"parent": "p.number"},
        key=("search", "number"),
        json=frozenset({"texts", "scoring", "on_selection"}),
        is_later=True,
    ),
    Table(
        "candidates",
        "evaluations_candidate",
        {
            "search_id": Ref("searches", ("search",)),
            "proposal_id": Ref("proposals", ("search", "proposal")),
            "adopted_as_id": _TO_JUDGE,
        }
        | same("change measure title description formula training created_at"),
        rows="""JOIN evaluations_search u ON u.id = t.search_id
            LEFT JOIN evaluations_proposal p ON p.id = t.proposal_id
            LEFT JOIN evaluations_judge j ON j.id = t.adopted_as_id
            WHERE u.project_id = %(project)s""",
        values={"candidate": "t.id", "proposal": "p.number"},
        key=("candidate",),
        json=frozenset({"formula", "training"}),
        is_later=True,
    ),
    Table(
        "looks",
        "evaluations_look",
        {"locked_id": Ref("locks", ("lock",)), "candidate_id": Ref("candidates", ("candidate",))}
        | same("looked_by_name looked_at outcome documents value today gain low high confidence")
        | same("reason ranked constant"),
        rows="""JOIN evaluations_lockeddocuments k ON k.id = t.locked_id
            LEFT JOIN auth_user u ON u.id = t.looked_by_id WHERE k.project_id = %(project)s""",
        values={
            "lock": "t.locked_id",
            "candidate": "t.candidate_id",
            "looked_by_name": "coalesce(nullif(t.looked_by_name, ''), u.username, '')",
        },
        json=frozenset({"ranked", "constant"}),
        later={"constant": None},
        is_later=True,
    ),
)
