"""Count the cost of calls as they are made, so that budgets hold whatever the replies are."""

from dataclasses import dataclass

from geval.llm.cost import estimated_tokens
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError
from geval.llm.replies import Reply
from geval.llm.requests import Request


@dataclass
class Spent:
    """What calls took since it was last written down."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, prompt_tokens: int = 0, completion_tokens: int = 0, *, calls: int = 0) -> None:
        self.calls += calls
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens

    def taken(self) -> "Spent":
        """What it holds, and nothing is left in it."""
        spent = Spent(self.calls, self.prompt_tokens, self.completion_tokens)
        self.calls = self.prompt_tokens = self.completion_tokens = 0
        return spent

    @property
    def any(self) -> bool:
        return bool(self.calls or self.prompt_tokens or self.completion_tokens)


async def ask_counted(client: Client, request: Request, spent: Spent) -> Reply:
    """Ask once. The call counts before its reply is used; one that cannot be read counts as the
    most it can cost.

    Raises:
        EndpointError: whatever went wrong, with its kind.
    """
    spent.add(calls=1)
    try:
        reply = await client.ask(request)
    except EndpointError as error:
        if error.kind.may_be_billed:
            spent.add(estimated_tokens(len(request.shown)), request.most_reply_tokens)
        raise
    spent.add(reply.prompt_tokens or 0, reply.completion_tokens or 0)
    return reply
