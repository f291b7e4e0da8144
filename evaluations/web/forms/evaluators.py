"""A judge's form, built for its evaluator: endpoint and model, and a field for each setting."""

from typing import Any

from django import forms

from evaluations.judging.judges.judges import JudgeDraft
from evaluations.models import Judge, Project
from evaluations.web.field_groups import FieldGroup, field_groups
from evaluations.web.forms.judges import TakesErrors, llm_judge_fields
from evaluations.web.forms.setting_fields import field_for
from geval.evaluators.base import Evaluator
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.llm.judge_settings import JudgeSettings

PREFIX = "set_"
BASICS = ("name", "endpoint", "model", "mode", "samples", "use_steps")
FOLDED = (
    ("Replies", ("temperature", "max_tokens", "min_coverage")),
    ("Calls", ("concurrency", "timeout_seconds")),
    ("Prices", ("price_in", "price_out")),
)


class EvaluatorForm(TakesErrors):
    """Name and settings; for evaluators that ask an LLM the fields of `llm_judge_fields` in
    between."""

    name = forms.CharField(max_length=200, help_text="The name shown in reports.")

    def __init__(
        self, *args: Any, project: Project, evaluator: type[Evaluator], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.evaluator = evaluator
        if issubclass(evaluator, LlmEvaluator):
            self.fields |= llm_judge_fields(evaluator, project)
        for name, info in evaluator.Settings.model_fields.items():
            self.fields[PREFIX + name] = field_for(name, info)

    @classmethod
    def of(cls, judge: Judge, evaluator: type[Evaluator]) -> "EvaluatorForm":
        """The form with a judge's settings."""
        declared = evaluator.Settings.model_fields.items()
        defaults = {name: info.default for name, info in declared if not info.is_required()}
        initial = {PREFIX + name: value for name, value in (defaults | judge.settings).items()}
        shown = ("name", "endpoint", "model", *JudgeSettings.model_fields)
        initial |= {name: getattr(judge, name) for name in shown}
        return cls(project=judge.project, evaluator=evaluator, initial=initial)

    def groups(self) -> list[FieldGroup]:
        """The fields under their headings. Of judges that ask an LLM, settings of the evaluator are
        for experts; of others there are no more."""
        own = [PREFIX + name for name in self.evaluator.Settings.model_fields]
        asks = issubclass(self.evaluator, LlmEvaluator)
        return field_groups(self, BASICS, (*FOLDED, ("More settings", own if asks else ())))

    def draft(self) -> JudgeDraft:
        """The judge that a valid form describes; empty settings get their defaults."""
        data = dict(self.cleaned_data)
        given = {name: data.pop(PREFIX + name) for name in self.evaluator.Settings.model_fields}
        settings = {name: value for name, value in given.items() if value not in (None, "")}
        return JudgeDraft(**data, kind=self.evaluator.kind, settings=settings)

    def field_of(self, name: str) -> str | None:
        """Errors of a setting are shown at its field."""
        return super().field_of(name) or super().field_of(PREFIX + name)
