"""The records of a project; the vocabulary of docs/architecture.md, one module a subject."""

from evaluations.models.corpus import CandidateOutput, Document, System
from evaluations.models.criteria import Criterion, EvaluationSteps
from evaluations.models.judges import Endpoint, Judge, JudgeKind, ScoringMode
from evaluations.models.project import Membership, Project, Role
from evaluations.models.runs import (
    EvaluationRun,
    ItemState,
    ModelReply,
    RunCriterion,
    RunItem,
    RunState,
    Score,
    WorkerHeartbeat,
)

__all__ = [
    "CandidateOutput",
    "Criterion",
    "Document",
    "Endpoint",
    "EvaluationRun",
    "EvaluationSteps",
    "ItemState",
    "Judge",
    "JudgeKind",
    "Membership",
    "ModelReply",
    "Project",
    "Role",
    "RunCriterion",
    "RunItem",
    "RunState",
    "Score",
    "ScoringMode",
    "System",
    "WorkerHeartbeat",
]
