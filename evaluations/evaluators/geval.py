"""G-Eval (Liu et al., 2023): a prompt with evaluation steps, and a score weighted by the
probabilities of ratings."""

from collections.abc import Sequence

from evaluations.evaluators.asking import AskingEvaluator
from evaluations.evaluators.base import Item, Outcome
from evaluations.llm.calls import Answer
from evaluations.llm.judge_settings import JudgeSettings
from evaluations.llm.judgement import (
    AskFully,
    Judgement,
    Question,
    first_request,
    judge,
    question_on,
    score_choices,
)
from evaluations.llm.parsing import Failure
from evaluations.llm.prompts import PromptParts, compose_template
from evaluations.llm.requests import Request
from evaluations.llm.scoring import why_not_by_logprobs
from evaluations.scales import Scale


class GEval(AskingEvaluator):
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

    @classmethod
    def why_not_on(cls, scale: Scale, mode: str) -> str:
        return why_not_by_logprobs(scale) if mode == "logprobs" else ""

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        return compose_template(parts, steps=steps)

    def question(self, item: Item, scale: Scale, asking: JudgeSettings) -> Question | Failure:
        return question_on(item.template, item.texts, item.criterion, scale)

    def requests(self, question: Question, asking: JudgeSettings) -> tuple[Request, ...]:
        return (first_request(asking, question.prompt),)

    async def judge(self, question: Question, asking: JudgeSettings, ask: AskFully) -> Judgement:
        return await judge(question, asking, ask)

    def score_again(
        self, answers: Sequence[Answer], question: Question, asking: JudgeSettings
    ) -> Outcome:
        return score_choices(list(answers), question, asking)
