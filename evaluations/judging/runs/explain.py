"""Ask a model afterwards to explain a score; the explanation never changes the score."""

from evaluations.judging.judges.clients import ask_model
from evaluations.judging.runs.leases import ClaimedItem
from evaluations.judging.runs.lifecycle import evaluator_of
from evaluations.judging.runs.run_questions import criterion_prompts, question_about
from evaluations.models import Explanation, Score
from evaluations.people.spending import count_money
from geval.evaluators.geval import GEval
from geval.evaluators.registry import make_evaluator
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.judgement import JudgeQuestion
from geval.llm.requests import ChatRequest
from geval.llm.scoring import Scored
from geval.statistics.scales import short

# Some sentences; each token costs money and time.
EXPLANATION_TOKENS = 200
# Below an errand's limit (`PATIENCE_SECONDS`), which includes retries.
EXPLAIN_SECONDS = 60.0


def explain(wanted: Explanation) -> None:
    """Ask the model for its reasons for a score, and store them.

    Raises:
        EndpointError: the endpoint does not answer, or the run's endpoint was deleted.
    """
    score = wanted.score
    endpoint = score.run.judge.endpoint
    if endpoint is None or score.criterion_id is None:
        raise EndpointError(
            ErrorKind.BAD_REQUEST, "This score was imported; there is no model to ask."
        )
    answer = ask_model(endpoint, _request(score), timeout=EXPLAIN_SECONDS)
    count_money(score.run_id, answer.prompt_tokens, answer.completion_tokens)
    Explanation.objects.filter(pk=wanted.pk).update(
        text=answer.choices[0].text.strip() or "(The model said nothing.)",
        model=answer.model[:200],
        request_id=answer.request_id[:200],
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
    )


def _asked_for(score: Score) -> float:
    """Return a score on the scale that the model was asked for."""
    evaluator = make_evaluator(*evaluator_of(score.run))
    if score.criterion is None or not isinstance(evaluator, GEval):
        return score.value
    question = evaluator.question_of(score.criterion.name, score.criterion.scale)
    if question.onto is None:
        return score.value
    return Scored.plain(score.value).brought(question.onto, question.scale).value


def _request(score: Score) -> ChatRequest:
    run, output = score.run, score.output
    item = ClaimedItem(0, output.pk, score.criterion_id or 0, output.texts())
    question = question_about(item, criterion_prompts(run))
    settings = run.frozen.request_settings
    prompt = question.prompt if isinstance(question, JudgeQuestion) else ""
    rated = short(round(_asked_for(score), 2))
    request = (
        f"You rated this {rated}. In at most three sentences, which parts of the text led to that?"
    )
    return ChatRequest(
        model=settings.model,
        prompt=f"{prompt} {rated}\n\n{request}",
        temperature=None if settings.temperature is None else 0.0,
        max_tokens=EXPLANATION_TOKENS,
        length_parameter=settings.length_parameter,
        options=settings.options,
    )
