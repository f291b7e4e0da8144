"""A judge's price in relation to its agreement, and how often and how fast it answered."""

from django.db.models import Avg, Count, Q

from evaluations.models import ItemState, Judge, ModelReply, RunItem
from geval.llm.parsing import Reason
from geval.reports.costs import JudgeAnswers, JudgeCost
from geval.reports.dearer import PricedJudge

# Number of replies over which the mean response time is taken.
TIMED_REPLIES = 10_000


def priced_judge(judge: Judge, cost: JudgeCost) -> PricedJudge:
    """Return a judge as its price is compared with its agreement."""
    money = None if cost.money is None else float(cost.money)
    return PricedJudge(judge.label, money, judge.request_options)


def answers_of(judge: Judge) -> JudgeAnswers:
    """Return how often and how fast a judge answered, over all its runs."""
    items = RunItem.objects.filter(run__in=judge.runs.counting()).order_by()
    counted = items.filter(state__in=(ItemState.DONE, ItemState.FAILED)).aggregate(
        all=Count("pk"),
        failed=Count("pk", filter=Q(state=ItemState.FAILED)),
        declined=Count("pk", filter=Q(state=ItemState.FAILED, reason=Reason.REFUSAL)),
    )
    replies = items.exclude(reply=None).values("reply")[:TIMED_REPLIES]
    timed = ModelReply.objects.filter(pk__in=replies).aggregate(mean=Avg("seconds"))
    return JudgeAnswers(counted["all"], counted["failed"], counted["declined"], timed["mean"])
