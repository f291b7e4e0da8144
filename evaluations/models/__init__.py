"""The records of a project, one module per subject."""

from evaluations.models.causes import GapCause
from evaluations.models.certificates import Certificate
from evaluations.models.changes import ScoreChange
from evaluations.models.corpus import CandidateOutput, Conversation, Document, System
from evaluations.models.counts import CountedEvent, EventCount
from evaluations.models.criteria import Criterion, EvaluationSteps
from evaluations.models.errands import Errand, ErrandState, StepsRequest
from evaluations.models.improving import (
    Candidate,
    Change,
    LockedDocuments,
    LockedText,
    LockEvent,
    Look,
    Proposal,
    Search,
)
from evaluations.models.instrument import Study, StudyItem, StudyKind, StudyPart
from evaluations.models.judge_policies import Policy, PolicyDecision
from evaluations.models.judges import (
    AccountBucket,
    AccountQuota,
    Endpoint,
    EndpointQuota,
    Judge,
    JudgeKind,
    LengthParameter,
    ModelProbe,
    ScoringMode,
)
from evaluations.models.kept_reports import KeptPart, KeptReport, KeptState
from evaluations.models.limits import MonthlySpending, ProjectLimits, RequestCount
from evaluations.models.members import AuditEntry, Invitation, Mail, MailKind, PersonalSettings
from evaluations.models.project import Membership, Project, Role
from evaluations.models.runs import (
    Batch,
    EvaluationRun,
    Explanation,
    ItemState,
    ModelReply,
    PairScore,
    RunCriterion,
    RunItem,
    RunState,
    RunTally,
    Score,
    Transport,
)
from evaluations.models.sharing import ReportSnapshot, ShareLink
from evaluations.models.tokens import ApiToken, IdempotentAnswer
from evaluations.models.upkeep import UpkeepJob
from evaluations.models.uploads import SavedColumns, Upload, UploadFile, UploadPart, UploadState
from evaluations.models.webhooks import Webhook, WebhookDelivery, WebhookEvent
from evaluations.models.workers import WorkerHeartbeat, WorkerSlot
