"""All input of the pages passes through these forms, one module a subject."""

from evaluations.forms.corpus import UploadForm
from evaluations.forms.criteria import CriterionForm, PresetForm, StepsForm
from evaluations.forms.evaluators import EvaluatorForm
from evaluations.forms.judges import EndpointForm, ProbeForm
from evaluations.forms.projects import ProjectForm
from evaluations.forms.runs import ResumeForm, RunForm
from evaluations.forms.sharing import ShareForm, SnapshotForm

__all__ = [
    "CriterionForm",
    "EndpointForm",
    "EvaluatorForm",
    "PresetForm",
    "ProbeForm",
    "ProjectForm",
    "ResumeForm",
    "RunForm",
    "ShareForm",
    "SnapshotForm",
    "StepsForm",
    "UploadForm",
]
