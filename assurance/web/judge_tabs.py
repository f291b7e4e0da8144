"""The tabs of a judge's page that this app adds."""

from evaluations.models import Judge
from geval_site.extensions import JudgeTab


def _can_be_improved(judge: Judge, _may_edit: bool) -> bool:
    return judge.retired_at is None


def _has_replies(judge: Judge, _may_edit: bool) -> bool:
    """Whether it can be asked again, or was uploaded with several replies per item."""
    return judge.asks_llm or (not judge.can_run and judge.runs.filter(items__isnull=False).exists())


TABS = (
    JudgeTab("Improve", ("improve",), _can_be_improved, is_of_project=True),
    JudgeTab("Reliability", ("judge_instrument", "judge_study"), _has_replies),
    JudgeTab("Policy", ("judge_policy", "judge_policy_ask")),
    JudgeTab("Certificates", ("judge_certificates", "judge_certify")),
)
