"""All input of the pages passes through these forms, one module per subject."""

from evaluations.forms.causes import CauseForm, GapForm
from evaluations.forms.certificates import CertificateForm
from evaluations.forms.corpus import DocumentFilterForm
from evaluations.forms.criteria import CriterionForm, PresetForm, StepsForm
from evaluations.forms.evaluators import EvaluatorForm
from evaluations.forms.improving import LockForm, SearchForm, TargetForm
from evaluations.forms.instrument import StudyForm
from evaluations.forms.judges import EndpointForm, ProbeForm
from evaluations.forms.limits import LimitsForm
from evaluations.forms.members import InvitationForm, RoleForm
from evaluations.forms.projects import ArchiveForm, DeletionForm, FormatsForm, ProjectForm
from evaluations.forms.runs import RestForm, ResumeForm, RunForm
from evaluations.forms.sharing import ShareForm, SnapshotForm
from evaluations.forms.systems import JudgeFormSet, SystemFormSet
from evaluations.forms.tokens import TokenForm
from evaluations.forms.uploads import ColumnsForm, ScalesForm, UploadForm, initial_options
from evaluations.forms.webhooks import WebhookForm

__all__ = [
    "ArchiveForm",
    "CauseForm",
    "CertificateForm",
    "ColumnsForm",
    "CriterionForm",
    "DeletionForm",
    "DocumentFilterForm",
    "EndpointForm",
    "EvaluatorForm",
    "FormatsForm",
    "GapForm",
    "InvitationForm",
    "JudgeFormSet",
    "LimitsForm",
    "LockForm",
    "PresetForm",
    "ProbeForm",
    "ProjectForm",
    "RestForm",
    "ResumeForm",
    "RoleForm",
    "RunForm",
    "ScalesForm",
    "SearchForm",
    "ShareForm",
    "SnapshotForm",
    "StepsForm",
    "StudyForm",
    "SystemFormSet",
    "TargetForm",
    "TokenForm",
    "UploadForm",
    "WebhookForm",
    "initial_options",
]
