"""G-Eval (Liu et al., 2023): a prompt with evaluation steps, and a score weighted by the
probabilities of ratings."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

from pydantic import Field, field_validator

from geval.evaluators.base import Item, Outcome
from geval.evaluators.llm_evaluator import LlmEvaluator, PromptSettings
from geval.evaluators.wording import Wording, wordings_in
from geval.llm.calls import Answer
from geval.llm.findings import Findings
from geval.llm.judgement import (
    AskFully,
    Judgement,
    JudgeQuestion,
    judge,
    question_on,
    score_choices,
)
from geval.llm.parsing import Failure
from geval.llm.prompts import PromptParts, compose_template
from geval.llm.request_settings import RequestSettings
from geval.llm.requests import Request
from geval.llm.scoring import why_not_by_logprobs
from geval.llm.structured import ReplyForm
from geval.statistics.scales import Scale


class GEvalSettings(PromptSettings):
    wording: str = Field(
        default="",
        title="Own wording",
        description=(
            'Parts of the prompt in this judge\'s own words, by criterion, as JSON: {"coherence":'
            ' {"definition": "…", "steps": "…", "introduction": "…"}}. Empty: the criterion\'s.'
        ),
    )

    reply_form: ReplyForm = Field(
        default="text",
        title="Form of replies",
        description=(
            "rating: JSON that a schema of the scale holds the model to; reason: the same with a"
            " reason first, which needs longer replies. The endpoint has to follow schemas, which"
            " its probe finds out."
        ),
    )

    LATER: ClassVar = frozenset({"delimited", "wording", "reply_form"})

    @field_validator("wording")
    @classmethod
    def _readable(cls, value: str) -> str:
        wordings_in(value)
        return value


class GEval(LlmEvaluator):
    kind = "geval"
    title = "G-Eval"
    summary = (
        "An LLM rates each criterion from a prompt with evaluation steps; ratings are weighted by"
        " probability."
    )
    paper = "Liu et al. (2023), G-Eval: NLG Evaluation using GPT-4 with Better Human Alignment"
    rates_on_scale = True
    writes_steps = True
    takes_batches = True
    Settings: ClassVar = GEvalSettings

    def why_not_with(self, findings: Findings) -> str:
        if self.settings.reply_form == "text" or findings.schema:
            return ""
        return findings.why_unknown("schema") or (
            "It was not found to follow a JSON schema. Probe it again if that was long ago, or"
            " choose the form of replies “text”."
        )

    @classmethod
    def why_not_on(cls, scale: Scale, mode: str) -> str:
        return why_not_by_logprobs(scale) if mode == "logprobs" else ""

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        settings = self._own(parts.criterion)
        return compose_template(
            settings.of(parts), steps=settings.steps or steps, is_delimited=self.settings.delimited
        )

    def has_steps(self, criterion: str) -> bool:
        return bool(self._own(criterion).steps)

    def _own(self, criterion: str) -> Wording:
        return self._wordings.get(criterion, Wording())

    @cached_property
    def _wordings(self) -> dict[str, Wording]:
        return wordings_in(self.settings.wording)

    def question(
        self, item: Item, scale: Scale, settings: RequestSettings
    ) -> JudgeQuestion | Failure:
        question = question_on(item.template, item.texts, item.criterion, scale)
        if isinstance(question, Failure):
            return question
        return replace(self.question_of(item.criterion, scale), prompt=question.prompt)

    def question_of(self, criterion: str, scale: Scale) -> JudgeQuestion:
        """Return a question without a prompt, for reading ratings of a criterion on a scale."""
        settings = self._own(criterion)
        asked = settings.asked_scale(scale)
        return JudgeQuestion(
            "",
            criterion,
            asked or scale,
            onto=scale if asked else None,
            others=settings.others,
            # A schema has a single rating; a form for several criteria is read as text.
            form="text" if settings.others else self.settings.reply_form,
        )

    def requests(self, question: JudgeQuestion, settings: RequestSettings) -> tuple[Request, ...]:
        return (question.request(settings),)

    async def judge(
        self, question: JudgeQuestion, settings: RequestSettings, ask: AskFully
    ) -> Judgement:
        return await judge(question, settings, ask)

    def score_again(
        self, answers: Sequence[Answer], question: JudgeQuestion, settings: RequestSettings
    ) -> Outcome:
        return score_choices(list(answers), question, settings)
