"""What proposals cost counts in the project's month, and its limit pauses a search."""

from decimal import Decimal

import pytest

from assurance.improving.work import request_search, work_on_search
from evaluations.models import (
    Change,
    Criterion,
    ErrandState,
    Judge,
    LockedDocuments,
    MonthlySpending,
    ProjectLimits,
)

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def priced(judge: Judge) -> Judge:
    judge.price_in, judge.price_out = Decimal(1), Decimal(2)
    judge.save()
    return judge


@pytest.mark.slow
def test_a_search_pauses_when_the_month_has_no_money_left_and_says_so(
    priced: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    ProjectLimits.objects.create(project=priced.project, money_per_month=Decimal("0.004"))
    search = request_search(priced, criterion, [Change.WORDING])
    while work_on_search(search.pk):
        pass
    search.refresh_from_db()
    assert search.state == ErrandState.PAUSED
    assert "money this month" in search.message


@pytest.mark.slow
def test_proposals_are_paid_in_the_month(
    priced: Judge, criterion: Criterion, locked: LockedDocuments
) -> None:
    search = request_search(priced, criterion, [Change.WORDING])
    while not search.proposals.exclude(number=0).exists():
        work_on_search(search.pk)
    proposals = search.proposals.exclude(number=0)
    paid = sum(one.prompt_tokens + 2 * one.completion_tokens for one in proposals)
    runs = sum(one.prompt_tokens + 2 * one.completion_tokens for one in search.runs.all())
    spent = MonthlySpending.objects.get(project=priced.project).money
    assert paid > 0
    assert spent == pytest.approx(Decimal(paid + runs) / 1_000_000)
