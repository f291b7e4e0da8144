"""Count the cost of calls as they are made, so that budgets hold whatever the replies contain."""

from dataclasses import dataclass, fields, replace

from geval.llm.cost import estimated_tokens
from geval.llm.endpoints import Client
from geval.llm.errors import EndpointError, ErrorKind
from geval.llm.replies import Reply
from geval.llm.requests import Request


@dataclass
class CallUsage:
    """What calls used since usage was last stored; `cached_tokens` are part of `prompt_tokens`,
    `reasoning_tokens` of `completion_tokens`."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    def add(self, prompt_tokens: int = 0, completion_tokens: int = 0, *, calls: int = 0) -> None:
        self.calls += calls
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens

    def add_details(self, reply: Reply) -> None:
        """Count which of a reply's tokens were cached or used for reasoning."""
        self.cached_tokens += reply.cached_tokens
        self.reasoning_tokens += reply.reasoning_tokens

    def taken(self) -> "CallUsage":
        """Return the totals and reset them."""
        spent = replace(self)
        for entry in fields(self):
            setattr(self, entry.name, 0)
        return spent

    @property
    def any(self) -> bool:
        return self != CallUsage()


async def ask_counted(client: Client, request: Request, spent: CallUsage) -> Reply:
    """Make one call and count it before its reply is used; an unreadable reply counts as the most
    that it can cost. A call that found nobody to connect to is none.

    Raises:
        EndpointError: whatever went wrong, with its kind.
    """
    spent.add(calls=1)
    try:
        reply = await client.ask(request)
    except EndpointError as error:
        if error.kind == ErrorKind.CONNECTION:
            spent.add(calls=-1)
        if error.kind.may_be_billed:
            spent.add(estimated_tokens(len(request.shown)), request.most_reply_tokens)
        raise
    spent.add(reply.prompt_tokens or 0, reply.completion_tokens or 0)
    spent.add_details(reply)
    return reply
