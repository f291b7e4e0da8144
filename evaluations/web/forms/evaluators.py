"""A judge's form, built for its evaluator: endpoint and model, and a field for each setting."""

from typing import Any

from django import forms
from django.http import QueryDict

from evaluations.judging.judges.judges import EndpointDraft, JudgeDraft
from evaluations.models import Judge, Project
from evaluations.web.field_groups import FieldGroup, field_groups
from evaluations.web.forms.judges import AddressForm, llm_judge_fields
from evaluations.web.forms.setting_fields import field_for
from evaluations.web.revisions import EditForm
from geval.evaluators.base import Evaluator
from geval.evaluators.llm_evaluator import LlmEvaluator
from geval.llm.judge_settings import JudgeSettings

PREFIX = "set_"
ADDRESS = tuple(AddressForm.base_fields)
BASICS = ("name", "endpoint", "provider", "base_url", "key", "model")
FOLDED = (
    ("Key in a variable", ("key_env",)),
    ("Scoring", ("mode", "samples", "use_steps")),
    ("Replies", ("temperature", "max_tokens", "min_coverage")),
    ("Calls", ("concurrency", "timeout_seconds")),
    ("Request options", ("request_options",)),
    ("Prices", ("price_in", "price_out", "price_cached")),
)


class EvaluatorForm(EditForm, AddressForm):
    """Name and settings; for evaluators that ask an LLM, also the fields of `llm_judge_fields`. If
    the project has no endpoint yet, the form also describes one."""

    name = forms.CharField(max_length=200, help_text="The name shown in reports.")

    def __init__(
        self,
        *args: Any,
        project: Project,
        evaluator: type[Evaluator],
        is_new: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.evaluator = evaluator
        self.fields = {"name": self.fields["name"]}
        if is_new and not project.judges.filter(name=evaluator.title).exists():
            self.fields["name"].initial = evaluator.title
        if issubclass(evaluator, LlmEvaluator):
            self.fields |= llm_judge_fields(evaluator, project, is_new=is_new)
        for name, info in evaluator.Settings.model_fields.items():
            self.fields[PREFIX + name] = field_for(name, info)

    @classmethod
    def of(
        cls, judge: Judge, evaluator: type[Evaluator], data: QueryDict | None = None
    ) -> "EvaluatorForm":
        """Return the form with a judge's settings, or with what was sent."""
        declared = evaluator.Settings.model_fields.items()
        defaults = {name: info.default for name, info in declared if not info.is_required()}
        initial = {PREFIX + name: value for name, value in (defaults | judge.settings).items()}
        shown = ("name", "endpoint", "model", *JudgeSettings.model_fields)
        initial |= {name: getattr(judge, name) for name in shown}
        form = cls(data, project=judge.project, evaluator=evaluator, initial=initial)
        form.edits(judge)
        return form

    def groups(self) -> list[FieldGroup]:
        """Return the fields under their headings. For judges that ask an LLM, the evaluator's
        settings are in the group for experts; other judges have no such group."""
        own = [PREFIX + name for name in self.evaluator.Settings.model_fields]
        asks = issubclass(self.evaluator, LlmEvaluator)
        return field_groups(self, BASICS, (*FOLDED, ("More settings", own if asks else ())))

    @property
    def more_titles(self) -> str:
        """The titles of the collapsed groups."""
        return ", ".join(group.title for group in self.groups()[1:]).capitalize()

    @property
    def is_more_open(self) -> bool:
        """Whether a collapsed field is set or has an error."""
        return any(group.is_open for group in self.groups())

    @property
    def asks_for_endpoint(self) -> bool:
        """Whether the form describes an endpoint, because there is none to choose."""
        return "base_url" in self.fields

    @property
    def is_address_valid(self) -> bool:
        return not set(ADDRESS) & set(self.errors)

    def endpoint_draft(self) -> EndpointDraft:
        """Return the endpoint that a form with a valid address describes."""
        data = self.cleaned_data
        key, key_env = data["key"] or None, data["key_env"]
        return EndpointDraft(base_url=data["base_url"], key=key, key_env=key_env)

    def show_only(self, **errors: str) -> None:
        """Replace the errors of a form that was not to be saved with these, by field."""
        self.errors.clear()
        for name, message in errors.items():
            self.add_error(name, message)

    def draft(self) -> JudgeDraft:
        """Return the judge that a valid form describes; empty settings get their defaults."""
        data = {name: value for name, value in self.cleaned_data.items() if name not in ADDRESS}
        given = {name: data.pop(PREFIX + name) for name in self.evaluator.Settings.model_fields}
        settings = {name: value for name, value in given.items() if value not in (None, "")}
        return JudgeDraft(**data, kind=self.evaluator.kind, settings=settings)

    def field_of(self, name: str) -> str | None:
        """Return the field at which a setting's errors are shown."""
        return super().field_of(name) or super().field_of(PREFIX + name)
