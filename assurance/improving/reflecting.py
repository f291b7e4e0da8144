"""Have a model propose a wording, once per request: the proposal is stored before it is used."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction

from assurance.improving.trials import Leaving, LeftError, Trials, renew_search
from evaluations.judging.judges.clients import ask_model
from evaluations.models import Proposal, Search
from evaluations.people.counting import add_money
from evaluations.people.limits import money_left, money_reached
from geval.evaluators.wording import LONGEST_PART
from geval.llm.cost import cost, most_tokens
from geval.llm.errors import EndpointError
from geval.llm.reflection import (
    LONGEST_REPLY_TOKENS,
    Case,
    ReflectionError,
    read_reflection,
    reflection_prompt,
)
from geval.llm.requests import ChatRequest, request_key

# A wording has some hundred words, which slow models write for a minute.
REFLECT_SECONDS = 90.0


class Reflector:
    """The model that proposes wordings in a search."""

    def __init__(self, search: Search, trials: Trials) -> None:
        self.search, self.trials = search, trials
        self.judge = search.reflector or search.judge
        assert self.judge.endpoint is not None, "judges that reflect ask an endpoint"
        self.endpoint = self.judge.endpoint
        self.repeats: Counter[str] = Counter()

    def propose(self, parent: Proposal, part: str, cases: Sequence[Case]) -> Proposal:
        """Propose a new text for a part of a wording; return the stored proposal if this request
        was made before.

        Raises:
            LeftError, LimitReachedError: the search has to stop for now.
        """
        request = self._request(parent, part, cases)
        key = request_key(self.endpoint.base_url, request)
        repeat = self.repeats[key]
        self.repeats[key] += 1
        existing = self.search.proposals.filter(prompt_key=key, repeat=repeat).first()
        return existing or self._ask(request, parent, part, key, repeat)

    def _request(self, parent: Proposal, part: str, cases: Sequence[Case]) -> ChatRequest:
        criterion = self.search.criterion
        scale = criterion.scale
        return ChatRequest(
            model=self.judge.model,
            prompt=reflection_prompt(
                criterion.name,
                f"{scale}" if scale.is_ordered else " / ".join(scale.labels),
                parent.texts,
                part,
                cases,
                guidelines=criterion.guidelines,
                is_ordered=scale.is_ordered,
            ),
            temperature=1.0 if self.judge.sends_temperature else None,
            max_tokens=LONGEST_REPLY_TOKENS,
            length_parameter=self.judge.length_parameter,
            options=self.judge.request_options,
        )

    def _dearest(self, request: ChatRequest) -> Decimal | None:
        """Return the highest possible cost of a request, at the prices of the searched judge."""
        most = most_tokens(len(request.shown.encode()))
        return cost(most, request.most_reply_tokens, self.trials.parameters.prices)

    def _check_month(self, dearest: Decimal) -> None:
        """Pause the search if the project's month has too little money left."""
        with transaction.atomic():
            left = money_left(self.search.project)
        if left is not None and left <= dearest:
            raise LeftError(Leaving.HALTED, money_reached(self.search.project))

    def _ask(
        self, request: ChatRequest, parent: Proposal, part: str, key: str, repeat: int
    ) -> Proposal:
        renew_search(self.search)
        dearest = self._dearest(request)
        self.trials.check_limits(dearest=dearest)
        self._check_month(dearest or Decimal(0))
        try:
            answer = ask_model(self.endpoint, request, timeout=REFLECT_SECONDS)
        except EndpointError as error:
            raise LeftError(Leaving.HALTED, error.message) from None
        paid = cost(answer.prompt_tokens, answer.completion_tokens, self.trials.parameters.prices)
        add_money(self.search.project_id, paid)
        texts, problem = dict(parent.texts), ""
        try:
            texts[part] = read_reflection(answer.choices[0].text, part, most=LONGEST_PART)
        except ReflectionError as error:
            problem = str(error)[:500]
        return Proposal.objects.create(
            search=self.search,
            number=self.search.next_number(),
            parent=parent,
            part=part,
            texts=texts,
            prompt_key=key,
            repeat=repeat,
            problem=problem,
            calls=answer.calls,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
        )
