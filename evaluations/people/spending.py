"""The monthly cost of a project's calls."""

from decimal import Decimal

from django.db import connection

from evaluations.models import EvaluationRun
from evaluations.models.limits import this_month
from geval.llm.cost import cost
from geval.llm.run_parameters import RunParameters


def count_money(
    run_id: int, prompt_tokens: int, completion_tokens: int, *, cached_tokens: int = 0
) -> None:
    """Add the cost of a run's calls to its project's month; nothing for a judge without prices."""
    run = EvaluationRun.objects.filter(pk=run_id).with_prices("project_id").first()
    if run is None:
        return
    prices = RunParameters.from_json(run).prices
    money = cost(prompt_tokens, completion_tokens, prices, cached_tokens=cached_tokens)
    add_money(run["project_id"], money)


def add_money(project_id: int, money: Decimal | None) -> None:
    """Add the cost of calls to a project's month; nothing if it is unknown."""
    if not money:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO evaluations_monthlyspending AS s (project_id, month, money)
               VALUES (%s, %s, %s)
               ON CONFLICT (project_id, month) DO UPDATE SET money = s.money + excluded.money""",
            [project_id, this_month(), money],
        )
