"""What operations of the HTTP API give (`…Out`) and may take besides what they need (`…In` and
others).

Written by `.ci/client_operations.py` from the API's OpenAPI document.
"""
# fmt: off

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


class ActionOut(TypedDict):
    """Whether anything changed: a run that has ended cannot be paused."""

    done: bool


class AllowanceOut(TypedDict):
    resource: str
    whose: str
    used: float
    most: float | None


class ArmsOut(TypedDict):
    """A mean with scores in sight less that without, with its interval and how many values each
    has."""

    difference: int | float | None
    low: int | float | None
    high: int | float | None
    reason: str
    with_scores: int
    without_scores: int


class BoundTo(TypedDict):
    """What the figures depend on."""

    prompt: str | None
    steps: str | None
    settings: str
    model: str | None
    answered_by: list[str]
    texts: Counted
    ratings: Counted
    scores: Counted
    software: str
    probes: NotRequired[Counted | None]


class CampaignChange(TypedDict, total=False):
    """What is left out stays as it is. The plan of a campaign that was opened is fixed."""

    kind: Literal["rating", "pairwise", "best_worst", "ranking"]
    selection: Literal["all", "sample", "stratified", "disagreement", "needed", "top"]
    sample_size: int | None
    whole_documents: bool
    group_size: int
    overlap: int
    order: Literal["document", "random"]
    seed: int
    lease_minutes: float
    deadline: str | None
    check_percent: int
    attention_checks: bool
    check_tolerance: float
    practice_items: int
    practice_pass: int
    gold: list[dict[str, str | int | float]]
    show_systems: bool
    show_others: bool
    show_scores: bool
    unseen_percent: int
    show_markdown: bool
    strength: bool
    language: str
    span_categories: list[str]
    span_severities: list[str]
    adjudicate_beyond: float | None
    name: str
    criteria: list[int]
    annotators: list[str]
    goal: GoalIn | None


class CampaignIn(TypedDict, total=False):
    """`criteria` are ids, `annotators` names of members; `selection` is the design."""

    kind: Literal["rating", "pairwise", "best_worst", "ranking"]
    selection: Literal["all", "sample", "stratified", "disagreement", "needed", "top"]
    sample_size: int | None
    whole_documents: bool
    group_size: int
    overlap: int
    order: Literal["document", "random"]
    seed: int
    lease_minutes: float
    deadline: str | None
    check_percent: int
    attention_checks: bool
    check_tolerance: float
    practice_items: int
    practice_pass: int
    gold: list[dict[str, str | int | float]]
    show_systems: bool
    show_others: bool
    show_scores: bool
    unseen_percent: int
    show_markdown: bool
    strength: bool
    language: str
    span_categories: list[str]
    span_severities: list[str]
    adjudicate_beyond: float | None
    criteria: list[int]
    annotators: list[str]
    goal: GoalIn | None


class CampaignOut(TypedDict):
    """A campaign's design and goal; `criteria` are ids, `annotators` names of members."""

    id: int
    state: Literal["draft", "open", "closed"]
    name: str
    kind: Literal["rating", "pairwise", "best_worst", "ranking"]
    selection: Literal["all", "sample", "stratified", "disagreement", "needed", "top"]
    sample_size: int | None
    whole_documents: bool
    group_size: int
    overlap: int
    order: Literal["document", "random"]
    seed: int
    lease_minutes: int | float
    deadline: str | None
    check_percent: int
    attention_checks: bool
    check_tolerance: int | float
    practice_items: int
    practice_pass: int
    show_systems: bool
    show_others: bool
    show_scores: bool
    unseen_percent: int
    show_markdown: bool
    strength: bool
    language: str
    adjudicate_beyond: int | float | None
    span_categories: list[str]
    span_severities: list[str]
    gold: list[dict[str, Any]]
    annotators: list[str]
    criteria: list[int]
    opened_at: str | None
    closed_at: str | None
    goal: GoalOut | None


class CampaignProgressOut(TypedDict):
    """A campaign with how many items it has, and how many of them are complete."""

    id: int
    state: Literal["draft", "open", "closed"]
    name: str
    kind: Literal["rating", "pairwise", "best_worst", "ranking"]
    selection: Literal["all", "sample", "stratified", "disagreement", "needed", "top"]
    sample_size: int | None
    whole_documents: bool
    group_size: int
    overlap: int
    order: Literal["document", "random"]
    seed: int
    lease_minutes: int | float
    deadline: str | None
    check_percent: int
    attention_checks: bool
    check_tolerance: int | float
    practice_items: int
    practice_pass: int
    show_systems: bool
    show_others: bool
    show_scores: bool
    unseen_percent: int
    show_markdown: bool
    strength: bool
    language: str
    adjudicate_beyond: int | float | None
    span_categories: list[str]
    span_severities: list[str]
    gold: list[dict[str, Any]]
    annotators: list[str]
    criteria: list[int]
    opened_at: str | None
    closed_at: str | None
    goal: GoalOut | None
    items: int
    complete: int
    seen_scores: NotRequired[SeenScoresOut | None]
    standing: NotRequired[StandingOut | None]


class CertificateContent(TypedDict):
    """Everything that is signed, and the signature."""

    format: Literal["geval-certificate/1"]
    project: str
    judge: str
    criterion: str
    outcome: Literal["met", "not met", "cannot say"]
    epsilon: float
    requirements: list[CheckedRequirement]
    bound_to: BoundTo
    made_at: str
    public_key: str
    signature: str
    human_score: NotRequired[str | None]
    what_numbers_speak_of: NotRequired[list[str]]
    withheld_documents: NotRequired[int]
    unseen_documents: NotRequired[int | None]


class CertificateOut(TypedDict):
    """`outcome` is the signed one; `problem` says why there is none to trust, and `certificate`
    is the content that was signed, which may be anything where it is not genuine."""

    id: int
    outcome: str
    is_genuine: bool
    problem: str
    signed_here: bool
    fingerprint: str
    certificate: CertificateContent | Any


class CertifyIn(TypedDict, total=False):
    """`judge` and `criterion` are ids; `require` are requirements such as
    `spearman.summary.low>=0.45` or `alt_test.passed`."""

    epsilon: Literal["0.2", "0.15", "0.1"]
    human_score: Literal[
        "mean", "median", "severity-adjusted", "dawid-skene", "mace", "adjudicated"
    ]


class CheckedCertificateOut(TypedDict):
    """A certificate, whether it still fits, and what `changed` if it does not."""

    id: int
    outcome: str
    is_genuine: bool
    problem: str
    signed_here: bool
    fingerprint: str
    certificate: CertificateContent | Any
    fits: bool
    changed: list[str]


class CheckedRequirement(TypedDict):
    """A requirement with its outcome."""

    requirement: str
    outcome: Literal["met", "not met", "cannot say"]
    value: bool | float | None
    reason: str
    more_documents: int | None
    more_ratings: int | None


class ContentsOut(TypedDict):
    """The criteria of the body; after a dry run also who rated and wrote how many rows, and
    three examples."""

    criteria: list[CriterionContentsOut]
    raters: dict[str, int]
    judges: dict[str, int]
    systems: dict[str, int]
    examples: list[ExampleItemOut]


class Counted(TypedDict):
    """A digest of a number of rows."""

    digest: str
    count: int


class CriterionChange(TypedDict, total=False):
    """What is left out stays as it is."""

    definition: str
    scale_min: float
    scale_max: float
    scale_step: float
    scale_labels: dict[str, str]
    task_introduction: str
    inputs: str
    prompt_file: str
    guidelines: str
    name: str


class CriterionContentsOut(TypedDict):
    """A criterion in the body. Its scale is `from_data` if it is a guess."""

    name: str
    is_new: bool
    scale: str
    from_data: bool
    ratings: int
    scores: int


class CriterionIn(TypedDict, total=False):
    """The criterion itself validates its scale, as for forms and archives."""

    definition: str
    scale_min: float
    scale_max: float
    scale_step: float
    scale_labels: dict[str, str]
    task_introduction: str
    inputs: str
    prompt_file: str
    guidelines: str


class CriterionOut(TypedDict):
    id: int
    name: str
    definition: str
    scale_min: float
    scale_max: float
    scale_step: float
    scale_labels: dict[str, Any]
    task_introduction: str
    inputs: str
    prompt_file: str
    guidelines: str


class DocumentOut(TypedDict):
    id: int
    doc_id: str
    source: str
    context: str
    references: list[str]
    metadata: dict[str, str]
    session: str
    turns_before: int


class DoneOut(TypedDict):
    """Whether something changed."""

    done: bool


class EndpointIn(TypedDict, total=False):
    """`key` is stored encrypted; leave it out to keep the stored key, send an empty text to
    delete it. `headers` that calls carry, by name, are stored in the same way; an empty object
    deletes them."""

    api_version: str
    key_env: str
    requests_per_minute: int | None
    tokens_per_minute: int | None
    parallel_calls: int | None
    name: str
    key: str | None
    headers: dict[str, str] | None


class EndpointOut(TypedDict):
    """`warnings` are sentences about what should be done, such as that its key is not set."""

    id: int
    name: str
    base_url: str
    api_version: str
    key_env: str
    has_stored_key: bool
    has_stored_headers: bool
    requests_per_minute: int | None
    tokens_per_minute: int | None
    parallel_calls: int | None
    retired_at: str | None
    warnings: list[str]


class ExampleItemOut(TypedDict):
    doc_id: str
    system: str
    source: str
    output: str
    scores: list[ExampleScoreOut]


class ExampleScoreOut(TypedDict):
    criterion: str
    rater: str
    score: float
    by_judge: bool


class FormatsIn(TypedDict, total=False):
    """What is left out stays as it is."""

    source_format: Literal["plain", "markdown", "code", "html", "json", "table", "automatic"] | None
    output_format: Literal["plain", "markdown", "code", "html", "json", "table", "automatic"] | None
    reference_format: Literal[
        "plain", "markdown", "code", "html", "json", "table", "automatic"
    ] | None
    code_language: str | None
    text_language: str | None


class GapOut(TypedDict):
    """An output with what people and the judge gave it; `gap` is score less people."""

    rank: int
    criterion: str
    judge: str
    doc_id: str
    system_id: str
    people: float
    score: float
    gap: float
    cause: str
    output: str


class GoalIn(TypedDict):
    """`kind` is "width" (a judge's rho is known within ± `width`), "judges" (which of `judge`
    and `rival` is better) or "systems" (which of `system` and `other`); the others are ids."""

    width: NotRequired[float | None]
    judge: NotRequired[int | None]
    rival: NotRequired[int | None]
    system: NotRequired[int | None]
    other: NotRequired[int | None]
    kind: Literal["width", "judges", "systems"]
    criterion: int


class GoalOut(TypedDict):
    """A goal, with the ids that it is about; `documents`, `low` and `high` are those with which
    it was reached."""

    kind: Literal["width", "judges", "systems"]
    criterion: int
    width: int | float | None
    judge: int | None
    rival: int | None
    system: int | None
    other: int | None
    reached_at: str | None
    documents: int | None
    low: int | float | None
    high: int | float | None


class InvitationIn(TypedDict, total=False):
    """`note` says whom it is for; the person does not see it."""

    role: Literal["owner", "researcher", "annotator", "viewer"]
    note: str
    days: int


class InvitationOut(TypedDict):
    """`address` is where it was mailed to."""

    id: int
    role: str
    note: str
    address: str
    created_at: str
    expires_at: str


class JudgeIn(TypedDict, total=False):
    """If `mode` is empty, the best supported one is used; `endpoint` and `model` are for kinds
    that ask an LLM."""

    mode: Literal["logprobs", "samples", "direct"] | Literal[""]
    samples: int
    temperature: float | None
    use_steps: bool
    concurrency: int
    max_tokens: int
    timeout_seconds: float | None
    min_coverage: float
    request_options: dict[str, Any]
    price_in: float | str | None
    price_out: float | str | None
    price_cached: float | str | None
    kind: str
    settings: dict[str, Any]
    endpoint: int | None
    model: str
    probe: bool


class JudgeOut(TypedDict):
    """`warnings` are those of its endpoint."""

    id: int
    label: str
    name: str
    version: int
    kind: str
    settings: dict[str, Any]
    endpoint_id: int | None
    model: str
    family: str
    mode: str
    samples: int
    temperature: float
    use_steps: bool
    concurrency: int
    max_tokens: int
    timeout_seconds: float | None
    min_coverage: float
    request_options: dict[str, Any]
    price_in: str | None
    price_out: str | None
    price_cached: str | None
    is_frozen: bool
    is_stand_in: bool
    retired_at: str | None
    warnings: list[str]


class Loaded(TypedDict):
    """The result of a load: everything was loaded, or nothing. `columns` are the meanings of
    columns that were read; `notes` say which words were read as numbers."""

    documents: TallyOut
    outputs: TallyOut
    ratings: TallyOut
    preferences: TallyOut
    verdicts: TallyOut
    scores: TallyOut
    replies: TallyOut
    unreadable: int
    unused: list[UnusedOut]
    notes: list[str]
    columns: dict[str, str]
    contents: ContentsOut


class LockIn(TypedDict, total=False):
    """The share of the documents to set aside, and how often they may be looked at."""

    share: float
    looks: int


class MailedIn(TypedDict, total=False):
    """People to invite by mail, each with a link of their own."""

    role: Literal["owner", "researcher", "annotator", "viewer"]
    language: str
    days: int


class MailedOut(TypedDict):
    """`left_out` are members or invited already; no mail can be sent at the moment from the
    address `lost_from` on, which is empty if all can."""

    mailed: int
    left_out: int
    lost_from: str


class MemberOut(TypedDict):
    id: int
    user: str
    role: str


class NewInvitationOut(TypedDict):
    """`link` works once and is only here."""

    id: int
    role: str
    note: str
    address: str
    created_at: str
    expires_at: str
    link: str


class OpenLinkIn(TypedDict, total=False):
    """`before` and `after` are short questions as lines: the question, `|`, and `text`,
    `number` or choices such as `yes = 50, no = 0`. Addresses of ways back begin with https."""

    is_open: bool
    people: int
    items_each: int
    minutes: int
    before: list[str]
    after: list[str]
    banned: list[str]
    amount: float | str
    amount_screened: float | str
    bonus: float | str
    bonus_percent: int
    done_code: str
    screened_code: str
    returned_code: str
    done_url: str
    screened_url: str
    returned_url: str


class OutputOut(TypedDict):
    id: int
    doc_id: str
    system_id: str
    output: str
    turns: list[dict[str, Any]]


class PasswordOut(TypedDict):
    """A link for a new password was mailed, or is this one, which is shown once."""

    mailed: bool
    link: str


class ProbeIn(TypedDict, total=False):
    """`request_options` are those of the judge that it is for."""

    request_options: dict[str, Any]


class ProbeOut(TypedDict):
    """`state` is waiting, asking, done or failed (`message` says why). Findings of an earlier
    probe stay until then."""

    id: int
    model: str
    state: str
    message: str
    address: str
    findings: dict[str, Any] | None
    probed_at: str | None


class ProjectChange(TypedDict, total=False):
    """What is left out stays as it is."""

    name: str
    description: str
    guidelines: str


class ProjectIn(TypedDict, total=False):
    """Without a `slug`, the site chooses one like the name."""

    description: str
    slug: str


class ProjectOut(TypedDict):
    slug: str
    name: str
    description: str
    guidelines: str
    created_at: str
    archived_at: str | None
    source_format: str
    output_format: str
    reference_format: str
    code_language: str
    text_language: str
    document_count: int
    system_count: int
    output_count: int


class ReportProgress(TypedDict):
    """How far a worker is with the numbers of a large project; `progress` is from 0 to 1."""

    state: str
    progress: float
    step: str
    message: str
    worker_alive: bool


class RestIn(TypedDict, total=False):
    """A budget for what a pilot or a trial left out."""

    budget: float | str | None


class ResumeIn(TypedDict, total=False):
    retry_failed: bool


class ReviewIn(TypedDict, total=False):
    """`action` is "rejected" (needs a `reason`), "counted" or "handed out"."""

    reason: str


class RunIn(TypedDict, total=False):
    """`criteria` are names, all of them if empty; `fresh` judges everything again; `pilot`
    judges so many documents only, drawn at random, rated ones first, `trial` so many items;
    with `goal_width` the run ends when rho is known within plus and minus it on its criteria,
    with `goal_rival` when it is known whether that judge agrees better with people."""

    criteria: list[str]
    fresh: bool
    budget: float | str | None
    transport: str
    pilot: int | None
    trial: int | None
    goal_width: float | None
    goal_rival: int | None


class RunOut(TypedDict):
    id: int
    judge: int
    state: str
    message: str
    items: int
    done: int
    failed: int
    open: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost: str | None
    created_at: str
    finished_at: str | None
    resumes_at: str | None
    goal_width: float | None
    goal_rival: int | None


class RunShort(TypedDict):
    id: int
    judge_id: int
    state: str
    message: str
    created_at: str
    finished_at: str | None


class SearchIn(TypedDict, total=False):
    """`judge`, `criterion` and `reflector` are ids; the limits are for wordings alone."""

    changes: list[str]
    most_calls: int
    budget: float | str | None
    reflector: int | None


class SeenScoresOut(TypedDict):
    """What seeing LLM scores changed: the distance of ratings from them, and their height."""

    distance: ArmsOut
    height: ArmsOut


class StandingOut(TypedDict):
    """Where a campaign stands towards its goal; `needed` and `promised` are documents in
    all."""

    documents: int
    planned: int
    estimate: int | float | None
    low: int | float | None
    high: int | float | None
    needed: int | None
    promised: int | None
    documents_ranked: NotRequired[int]
    documents_ranked_by_each: NotRequired[list[int]]


class StudyIn(TypedDict, total=False):
    """`kind` is "drift" (watched), "again" (asked again) or "probes"; `criterion` is an id;
    `replies` counts the scores of each output that are frozen, or asked for. What asking again
    showed is at `GET …/judges/{id}/steadiness`."""

    items: int | None
    replies: int | None
    every_hours: int
    budget: float | str | None


class SystemIn(TypedDict, total=False):
    kind: Literal["human", "llm", "other"] | None
    family: str | None


class SystemOut(TypedDict):
    """`kind` is human, llm or other; an empty `family` is guessed from the name."""

    id: int
    system_id: str
    kind: str
    family: str


class TallyOut(TypedDict):
    created: int
    unchanged: int
    changed: int


class TurnsOut(TypedDict):
    """The turns of a document's conversation; one whose number in the file is not its place has
    a `number`. `rated` is the number of the turn that is rated, or one more than the last one's
    if it is a reply to all."""

    turns: list[dict[str, Any]]
    rated: int


class UnusedOut(TypedDict):
    """A column or field that was not used, and how many rows hold something in it."""

    file: str
    column: str
    rows: int


class UsedOut(TypedDict):
    """The judge that a change became, and its run on every output."""

    judge: int
    label: str
    run: int
