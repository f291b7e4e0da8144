"""All input of the pages passes through these forms, one module per subject."""

from evaluations.web.forms.causes import CauseForm, ExamplesForm, GapForm, GapsForm
from evaluations.web.forms.corpus import DocumentFilterForm
from evaluations.web.forms.criteria import CriterionForm, PresetForm, StepsForm
from evaluations.web.forms.evaluators import EvaluatorForm
from evaluations.web.forms.judges import EndpointForm, ProbeForm
from evaluations.web.forms.limits import LimitsForm
from evaluations.web.forms.members import (
    InvitationForm,
    JoinForm,
    MailedInvitationsForm,
    MailSettingsForm,
    RoleForm,
)
from evaluations.web.forms.playground import PlaygroundForm
from evaluations.web.forms.projects import ArchiveForm, DeletionForm, FormatsForm, ProjectForm
from evaluations.web.forms.runs import RestForm, ResumeForm, RunForm
from evaluations.web.forms.sharing import ShareForm, SnapshotForm
from evaluations.web.forms.systems import JudgeFormSet, SystemFormSet
from evaluations.web.forms.tokens import TokenForm
from evaluations.web.forms.uploads import ColumnsForm, ScalesForm, UploadForm, initial_options
from evaluations.web.forms.webhooks import WebhookForm

__all__ = [
    "ArchiveForm",
    "CauseForm",
    "ColumnsForm",
    "CriterionForm",
    "DeletionForm",
    "DocumentFilterForm",
    "EndpointForm",
    "EvaluatorForm",
    "ExamplesForm",
    "FormatsForm",
    "GapForm",
    "GapsForm",
    "InvitationForm",
    "JoinForm",
    "JudgeFormSet",
    "LimitsForm",
    "MailSettingsForm",
    "MailedInvitationsForm",
    "PlaygroundForm",
    "PresetForm",
    "ProbeForm",
    "ProjectForm",
    "RestForm",
    "ResumeForm",
    "RoleForm",
    "RunForm",
    "ScalesForm",
    "ShareForm",
    "SnapshotForm",
    "StepsForm",
    "SystemFormSet",
    "TokenForm",
    "UploadForm",
    "WebhookForm",
    "initial_options",
]
