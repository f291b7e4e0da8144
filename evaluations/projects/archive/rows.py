"""The database rows of an archive's files (geval/files/archive/manifest.py), as SQL."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evaluations.reports.ratings.pseudonyms import unless_pseudonyms
from geval.files.archive.record_file import NamedAnswer, RecordFile, Ref

# The default expression of a field that refers to another record (see also `values`). The letters
# are those of the joins below.
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
class Stored:
    """How a file's records are stored.

    `rows` selects them: the text after `FROM table t`. `values` are SQL expressions of fields that
    are neither a plain column nor a usual name. `staged` is a temporary table, or a query, that has
    the rows in place of the table. `defaults` are columns with the same value in each row of a
    copy. Rows are in the order of `order`, as they refer only to earlier ones.
    """

    table: str
    rows: str = "WHERE t.project_id = %(project)s"
    values: Mapping[str, str] = field(default_factory=dict)
    staged: str = ""
    of_project: bool = False
    defaults: Mapping[str, object] = field(default_factory=dict)
    order: str = "t.id"


def select(file: RecordFile) -> str:
    """Return the query of a file's rows, in an order that a copy keeps."""
    stored = STORED[file.name]
    fields = ", ".join(f'{sql} AS "{name}"' for name, sql in _fields(file, stored).items())
    rows = f"{stored.staged or stored.table} t {stored.rows}"
    return f"SELECT {fields} FROM {rows} ORDER BY {stored.order}"


def _fields(file: RecordFile, stored: Stored) -> dict[str, str]:
    """Yield the SQL of each field of a row."""
    own = {name: f't."{column}"' for name, column in _own_columns(file)}
    pointing = {
        name: stored.values.get(name) or own.get(name) or _NAMES[name]
        for column in file.columns.values()
        if isinstance(column, Ref)
        for name in column.fields
    }
    return pointing | own | dict(stored.values) | _halted(file)


def _own_columns(file: RecordFile) -> Iterator[tuple[str, str]]:
    for column, of in file.columns.items():
        if isinstance(of, str):
            yield of, column
        elif isinstance(of, NamedAnswer):
            yield of.field, column


def _halted(file: RecordFile) -> dict[str, str]:
    """Return the SQL for a state that is halted in a copy, where nothing starts by itself."""
    if file.halted is None:
        return {}
    states = ", ".join(f"'{state}'" for state in file.halted.states)
    becomes = f"CASE WHEN t.state IN ({states}) THEN '{file.halted.becomes}' ELSE t.state END"
    return {"state": becomes}


# Temporary tables: inclusion probabilities of outputs, and names of annotators.
ARCHIVED_PROBABILITIES = "archived_probability"
ARCHIVED_ANNOTATORS = "archived_annotator"

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
# Results of searches and studies are not exported: in the copy they would count as the judge's
# scores.
_COUNTING = """NOT EXISTS (SELECT FROM evaluations_evaluationrun r
    WHERE r.id = t.run_id AND (r.search_id IS NOT NULL OR r.purpose <> ''))"""
# Ratings of locked documents are withheld until the last look.
_SHOWN = "d.id <> ALL(%(hidden)s::bigint[])"
_IN_PROJECT = "d.project_id = %(project)s"
_OF_CAMPAIGN_IN_PROJECT = "k.project_id = %(project)s"
# Items, and the known answers of drafts, which have no items yet; in order of their ids.
_ITEMS = """(SELECT id, campaign_id, document_id, position, kind, outputs, expected
    FROM annotations_campaignitem UNION ALL
    SELECT (c.id << 20) + g.number - (1::bigint << 62), c.id, (g.entry ->> 'document')::bigint,
        g.number - 1, 'gold', ARRAY(SELECT e::bigint
            FROM jsonb_array_elements_text(g.entry -> 'outputs') WITH ORDINALITY AS o(e, place)
            ORDER BY place), g.entry -> 'expected'
    FROM annotations_campaign c
    CROSS JOIN jsonb_array_elements(c.gold) WITH ORDINALITY AS g(entry, number)
    WHERE c.state = 'draft' AND NOT EXISTS (
        SELECT FROM jsonb_array_elements_text(g.entry -> 'outputs') AS e
        WHERE NOT EXISTS (SELECT FROM evaluations_candidateoutput p WHERE p.id = e::bigint)))"""


def _listed(outputs: str) -> dict[str, str]:
    """Return the expressions of fields that list outputs of a document: ids, and names of
    systems."""
    return {"outputs": outputs, "systems": _SYSTEMS.format(outputs)}


def _if_shown(*names: str, otherwise: str = "NULL") -> dict[str, str]:
    """Return the expressions of columns that are withheld with their documents."""
    return {name: f'CASE WHEN {_SHOWN} THEN t."{name}" ELSE {otherwise} END' for name in names}


def _unless_pseudonyms(**names: str) -> dict[str, str]:
    """Return the expressions of members' names, which an archive with pseudonyms omits."""
    return {field: unless_pseudonyms(name) for field, name in names.items()}


STORED: Mapping[str, Stored] = {
    "criteria": Stored(
        "evaluations_criterion",
        of_project=True,
        values={"rubric": "(SELECT r.name FROM evaluations_criterion r WHERE r.id = t.rubric_id)"},
        order="t.rubric_id IS NOT NULL, t.id",
    ),
    "steps": Stored(
        "evaluations_evaluationsteps", rows=f"{_CRITERION} WHERE c.project_id = %(project)s"
    ),
    "systems": Stored("evaluations_system", of_project=True),
    "conversations": Stored("evaluations_conversation", of_project=True),
    "documents": Stored(
        "evaluations_document",
        of_project=True,
        rows="""LEFT JOIN evaluations_conversation v ON v.id = t.conversation_id
            WHERE t.project_id = %(project)s""",
        values={"conversation": "v.digest"},
    ),
    "outputs": Stored(
        "evaluations_candidateoutput",
        rows=f"""JOIN evaluations_document d ON d.id = t.document_id
            JOIN evaluations_system s ON s.id = t.system_id WHERE {_IN_PROJECT}""",
    ),
    "annotators": Stored(
        "annotations_annotator",
        of_project=True,
        rows=f"JOIN {ARCHIVED_ANNOTATORS} a ON a.id = t.id WHERE t.project_id = %(project)s",
        values={"annotator": "a.name"},
    ),
    "ratings": Stored(
        "annotations_rating",
        rows=f"{_OUTPUT} {_CRITERION} {_ANNOTATOR} WHERE {_IN_PROJECT} AND {_SHOWN}",
    ),
    "probabilities": Stored(
        "annotations_statedprobability",
        staged=ARCHIVED_PROBABILITIES,
        rows=f"{_OUTPUT} {_CRITERION} WHERE {_IN_PROJECT}",
    ),
    "preferences": Stored(
        "annotations_preference",
        rows=f"""JOIN evaluations_candidateoutput o ON o.id = t.output_a_id
            JOIN evaluations_document d ON d.id = o.document_id
            JOIN evaluations_system s ON s.id = o.system_id
            JOIN evaluations_candidateoutput v ON v.id = t.output_b_id
            JOIN evaluations_system b ON b.id = v.system_id
            {_CRITERION} {_ANNOTATOR} WHERE {_IN_PROJECT} AND {_SHOWN}""",
        values={"system_a": "s.name", "system_b": "b.name"},
    ),
    "spans": Stored(
        "annotations_span", rows=f"{_OUTPUT} {_ANNOTATOR} WHERE {_IN_PROJECT} AND {_SHOWN}"
    ),
    "endpoints": Stored(
        "evaluations_endpoint", of_project=True, defaults={"sealed_key": "", "sealed_headers": ""}
    ),
    "judges": Stored(
        "evaluations_judge",
        of_project=True,
        rows="""LEFT JOIN evaluations_endpoint e ON e.id = t.endpoint_id
            WHERE t.project_id = %(project)s""",
        values={"endpoint": "e.name"},
    ),
    "runs": Stored(
        "evaluations_evaluationrun",
        of_project=True,
        rows=f"""{_JUDGE} LEFT JOIN evaluations_judge r ON r.id = t.goal_rival_id
            WHERE t.project_id = %(project)s AND t.search_id IS NULL AND t.purpose = ''""",
        values={"run": "t.id"},
    ),
    "prompts": Stored(
        "evaluations_runcriterion",
        rows=f"""JOIN evaluations_evaluationrun r ON r.id = t.run_id {_CRITERION}
            LEFT JOIN evaluations_evaluationsteps e ON e.id = t.steps_id
            WHERE r.project_id = %(project)s AND r.search_id IS NULL AND r.purpose = ''""",
        values={"version": "e.version"},
    ),
    "replies": Stored("evaluations_modelreply", of_project=True, values={"reply": "t.id"}),
    "items": Stored(
        "evaluations_runitem",
        rows=f"{_OUTPUT} {_CRITERION} {_RIVAL_OUTPUT} WHERE {_IN_PROJECT} AND {_COUNTING}",
        values={"rival": "b.name", "reply": "t.reply_id"},
        defaults={"leased_by": ""},
    ),
    "scores": Stored(
        "evaluations_score", rows=f"{_OUTPUT} {_CRITERION} WHERE {_IN_PROJECT} AND {_COUNTING}"
    ),
    "pair_scores": Stored(
        "evaluations_pairscore",
        rows=f"{_OUTPUT} {_CRITERION} {_RIVAL_OUTPUT} WHERE {_IN_PROJECT}",
        values={"rival": "b.name"},
    ),
    "gap_causes": Stored(
        "evaluations_gapcause",
        rows=f"{_OUTPUT} {_JUDGE} {_CRITERION} WHERE j.project_id = %(project)s AND {_SHOWN}",
    ),
    "certificates": Stored(
        "evaluations_certificate",
        of_project=True,
        rows=f"{_JUDGE} {_CRITERION} WHERE t.project_id = %(project)s",
    ),
    "studies": Stored(
        "evaluations_study",
        of_project=True,
        rows=f"{_JUDGE} {_CRITERION} WHERE t.project_id = %(project)s AND t.kind <> 'drift'",
        values={"study": "t.id"},
        # A copy must not call an endpoint by itself.
        defaults={"is_on": False, "message": "Copied from another site, so it does not ask."},
    ),
    "study_items": Stored(
        "evaluations_studyitem",
        rows=f"""{_OUTPUT} JOIN evaluations_study u ON u.id = t.study_id
            WHERE {_IN_PROJECT} AND u.kind <> 'drift'""",
        values={"study": "t.study_id"} | _if_shown("rating"),
    ),
    "study_parts": Stored(
        "evaluations_studypart",
        rows="""JOIN evaluations_study u ON u.id = t.study_id
            WHERE u.project_id = %(project)s AND u.kind <> 'drift'
              AND t.recorded_at IS NOT NULL""",
        values={"study": "t.study_id"},
    ),
    "guidelines_versions": Stored(
        "annotations_guidelinesversion",
        of_project=True,
        values=_unless_pseudonyms(by_name="t.by_name"),
    ),
    "campaigns": Stored(
        "annotations_campaign",
        of_project=True,
        # Known answers are among the items.
        defaults={"gold": "[]"},
    ),
    "campaign_criteria": Stored(
        "annotations_campaign_criteria",
        rows=f"{_CAMPAIGN} {_CRITERION} WHERE {_OF_CAMPAIGN_IN_PROJECT}",
    ),
    "open_links": Stored(
        "annotations_openlink",
        rows=f"{_CAMPAIGN} WHERE {_OF_CAMPAIGN_IN_PROJECT}",
        # The address belongs to the original; codes are secrets, and banned ids are personal data.
        defaults={
            "address": None,
            "is_open": False,
            "banned": "[]",
            "done_code": "",
            "incomplete_code": "",
            "screened_code": "",
            "returned_code": "",
            "done_url": "",
            "incomplete_url": "",
            "screened_url": "",
            "returned_url": "",
        },
    ),
    "participants": Stored(
        "annotations_participant",
        rows=f"""JOIN annotations_openlink l ON l.id = t.link_id
            JOIN annotations_campaign k ON k.id = l.campaign_id
            LEFT {_ANNOTATOR} WHERE {_OF_CAMPAIGN_IN_PROJECT}""",
        # Panel ids of participants are not exported.
        defaults={"external_id": None, "study": "", "session": ""},
    ),
    "campaign_goals": Stored(
        "annotations_campaigngoal",
        rows=f"""{_CAMPAIGN} {_CRITERION} LEFT {_JUDGE}
            LEFT JOIN evaluations_judge r ON r.id = t.rival_id
            LEFT JOIN evaluations_system s ON s.id = t.system_id
            LEFT JOIN evaluations_system o ON o.id = t.other_id
            WHERE {_OF_CAMPAIGN_IN_PROJECT}""",
        values={"other": "o.name"},
    ),
    "campaign_inclusions": Stored(
        "annotations_inclusion", rows=f"{_CAMPAIGN} {_OUTPUT} WHERE {_OF_CAMPAIGN_IN_PROJECT}"
    ),
    "campaign_seats": Stored(
        "annotations_seat",
        rows=f"{_CAMPAIGN} {_ANNOTATOR} WHERE {_OF_CAMPAIGN_IN_PROJECT} AND k.state <> 'draft'",
    ),
    "campaign_named_items": Stored(
        "annotations_nameditems",
        rows=f"{_CAMPAIGN} {_ANNOTATOR} WHERE {_OF_CAMPAIGN_IN_PROJECT}",
    ),
    "campaign_items": Stored(
        "annotations_campaignitem",
        staged=_ITEMS,
        rows=f"""{_CAMPAIGN} JOIN evaluations_document d ON d.id = t.document_id
            WHERE {_OF_CAMPAIGN_IN_PROJECT}""",
        values=_listed("t.outputs")
        | _if_shown("expected")
        # Reservations are not exported, so only answers hold places in the copy.
        | {
            "places": """CASE t.kind WHEN 'ordinary' THEN greatest(0, k.overlap - (
                SELECT count(*) FROM annotations_assignment e
                WHERE e.item_id = t.id AND e.state = 'submitted')) ELSE 0 END"""
        },
    ),
    "answers": Stored(
        "annotations_assignment",
        rows=f"""{_CAMPAIGN} JOIN annotations_campaignitem i ON i.id = t.item_id
            JOIN evaluations_document d ON d.id = i.document_id {_ANNOTATOR}
            WHERE {_OF_CAMPAIGN_IN_PROJECT} AND (t.state IN ('submitted', 'skipped', 'rejected')
                OR EXISTS (SELECT FROM annotations_review w WHERE w.assignment_id = t.id))""",
        # For locked documents only the fact that they were answered is exported: sampling weights
        # need it.
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
    ),
    "answer_changes": Stored(
        "annotations_answerchange",
        rows=f"{_ANSWER} WHERE {_IN_PROJECT} AND {_SHOWN}",
        values={"answer_id": "t.assignment_id", "doc_id": "d.doc_id"} | _listed("b.shown"),
    ),
    "answer_reviews": Stored(
        "annotations_review",
        rows=f"{_ANSWER} WHERE {_IN_PROJECT} AND {_SHOWN}",
        values={"answer_id": "t.assignment_id", "doc_id": "d.doc_id"}
        | _listed("b.shown")
        | _unless_pseudonyms(by_name="t.by_name"),
    ),
    "decisions": Stored(
        "annotations_decision",
        rows=f"""JOIN annotations_campaignitem i ON i.id = t.item_id
            JOIN annotations_campaign k ON k.id = i.campaign_id
            JOIN evaluations_document d ON d.id = i.document_id
            LEFT JOIN auth_user u ON u.id = t.user_id WHERE {_IN_PROJECT} AND {_SHOWN}""",
        values={"position": "i.position", "doc_id": "d.doc_id"}
        | _listed("i.outputs")
        | _unless_pseudonyms(by_name="coalesce(nullif(t.by_name, ''), u.username, '')"),
    ),
    "exclusions": Stored(
        "annotations_exclusion",
        rows=_ANNOTATOR,
        values=_unless_pseudonyms(by_name="t.by_name", lifted_by_name="t.lifted_by_name"),
    ),
    "locks": Stored("evaluations_lockeddocuments", of_project=True, values={"lock": "t.id"}),
    "lock_events": Stored(
        "evaluations_lockevent",
        rows="""JOIN evaluations_lockeddocuments k ON k.draw = t.draw
            WHERE k.project_id = %(project)s""",
        values={"draw": "t.draw"},
        defaults={"from_archive": True},
    ),
    "searches": Stored(
        "evaluations_search",
        of_project=True,
        rows=f"""{_JUDGE} {_CRITERION} LEFT JOIN evaluations_judge r ON r.id = t.reflector_id
            WHERE t.project_id = %(project)s""",
        values={"search": "t.id", "reflector": "r.name", "reflector_version": "r.version"},
    ),
    "proposals": Stored(
        "evaluations_proposal",
        rows="""JOIN evaluations_search u ON u.id = t.search_id
            LEFT JOIN evaluations_proposal p ON p.id = t.parent_id
            WHERE u.project_id = %(project)s""",
        values={"parent": "p.number"},
    ),
    "candidates": Stored(
        "evaluations_candidate",
        rows="""JOIN evaluations_search u ON u.id = t.search_id
            LEFT JOIN evaluations_proposal p ON p.id = t.proposal_id
            LEFT JOIN evaluations_judge j ON j.id = t.adopted_as_id
            WHERE u.project_id = %(project)s""",
        values={"candidate": "t.id", "proposal": "p.number"},
    ),
    "looks": Stored(
        "evaluations_look",
        rows="""JOIN evaluations_lockeddocuments k ON k.id = t.locked_id
            LEFT JOIN auth_user u ON u.id = t.looked_by_id WHERE k.project_id = %(project)s""",
        values={
            "lock": "t.locked_id",
            "candidate": "t.candidate_id",
            "looked_by_name": "coalesce(nullif(t.looked_by_name, ''), u.username, '')",
        },
    ),
    "policies": Stored(
        "evaluations_policy",
        of_project=True,
        # A copy's outputs have other ids in the same order: the newest old one is named. Questions
        # that wait for a worker are not exported.
        rows=f"""{_JUDGE} {_CRITERION} LEFT JOIN evaluations_judge r ON r.id = t.second_id
            LEFT JOIN annotations_campaign k ON k.id = t.campaign AND k.project_id = t.project_id
            CROSS JOIN LATERAL (
                SELECT d.doc_id, s.name FROM evaluations_candidateoutput o
                JOIN evaluations_document d ON d.id = o.document_id
                JOIN evaluations_system s ON s.id = o.system_id WHERE {_IN_PROJECT}
                ORDER BY o.id > t.after_output, o.id DESC LIMIT 1) AS n
            WHERE t.project_id = %(project)s AND jsonb_exists(t.content, 'kept')""",
        values={"policy": "t.id", "second": "r.name", "second_version": "r.version",
                "after_doc_id": "n.doc_id", "after_system_id": "n.name"},
    ),
    "policy_decisions": Stored(
        "evaluations_policydecision", rows=f"{_OUTPUT} WHERE {_IN_PROJECT}",
        values={"policy": "t.policy_id"},
    ),
}  # fmt: skip
