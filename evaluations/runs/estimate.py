"""What a run would take, before it is started: items, calls, tokens, money."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import connection

from evaluations.judges.steps import prompt_parts
from evaluations.llm.cost import cost, estimated_tokens, prices_from
from evaluations.llm.prompts import compose_template
from evaluations.models import Criterion, Judge, ScoringMode
from evaluations.runs.lifecycle import run_parameters

# A rating with the form's words around it; a reply is mostly this short.
REPLY_TOKENS = 4


@dataclass(frozen=True)
class RunEstimate:
    """At most so much: outputs with the same text share a call, and what the store knows costs
    nothing.

    `cost` is in the currency of the judge's prices, None without prices.
    """

    items: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal | None


def estimate_run(
    judge: Judge, criteria: Sequence[Criterion], *, fresh: bool, transport: str
) -> RunEstimate:
    """Estimate a run of a judge on criteria.

    Raises:
        PromptError: a criterion's prompt cannot be sent.
    """
    items = calls = prompt_tokens = completion_tokens = 0
    replies = judge.samples if judge.mode == ScoringMode.SAMPLES else 1
    parameters = run_parameters(judge, fresh=fresh, transport=transport)
    # An endpoint that returns one choice per call is asked, and paid for the prompt, once per
    # sample.
    requests = 1 if parameters["several_choices"] else replies
    for criterion in criteria:
        steps = criterion.newest_steps if judge.use_steps else None
        template = compose_template(prompt_parts(criterion), steps=steps.text if steps else None)
        count, characters = _missing(judge, criterion, template, fresh=fresh)
        items += count
        calls += count * requests
        prompt_tokens += requests * estimated_tokens(characters + count * len(template))
        completion_tokens += count * replies * REPLY_TOKENS
    prices = prices_from(parameters)
    return RunEstimate(
        items,
        calls,
        prompt_tokens,
        completion_tokens,
        cost(prompt_tokens, completion_tokens, prices),
    )


def _missing(judge: Judge, criterion: Criterion, template: str, *, fresh: bool) -> tuple[int, int]:
    """How many outputs lack a score of the judge with this prompt, and how many characters their
    texts have."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT count(*), coalesce(sum(length(d.source) + length(o.text)
                + length(d.context)), 0)
               FROM evaluations_document d JOIN evaluations_candidateoutput o
                   ON o.document_id = d.id
               WHERE d.project_id = %(project)s AND (%(fresh)s OR NOT EXISTS (
                   SELECT FROM evaluations_score s
                   JOIN evaluations_evaluationrun r ON r.id = s.run_id AND r.judge_id = %(judge)s
                   JOIN evaluations_runcriterion rc ON rc.run_id = r.id
                       AND rc.criterion_id = %(criterion)s
                    AND rc.template = %(template)s
                   WHERE s.output_id = o.id AND s.criterion_id = %(criterion)s))""",
            {
                "project": judge.project_id,
                "fresh": fresh,
                "judge": judge.pk,
                "criterion": criterion.pk,
                "template": template,
            },
        )
        count, characters = cursor.fetchone()
        return int(count), int(characters)
