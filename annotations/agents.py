"""What agents can do to plan ratings."""

from annotations.api import get_plan
from evaluations.web.agents.agent import Agent, Answer, Level


def plan(
    agent: Agent,
    project: str,
    criterion: str,
    judge: str = "",
    rival: str = "",
    width: float = 0.05,
    difference: float | None = None,
) -> Answer:
    """How many documents and ratings it takes to know a judge's rho within `width`, or with a
    `rival` which of two judges agrees better with people.

    Args:
        difference: the smallest that matters, for two judges.
    """
    made: Answer = agent.read(
        get_plan, project, kind="judges" if rival else "width",
        criterion=agent.criterion(project, criterion).pk,
        judge=agent.judge(project, judge).pk if judge else None,
        rival=agent.judge(project, rival).pk if rival else None,
        width=None if rival else width, difference=difference,
    )  # fmt: skip
    return made | {"link": agent.link("report_detail", project)}


TOOLS = {Level.READ: (plan,)}
