"""The frozen settings of a run: it can be read and repeated even after its judge has changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, cast

from geval.llm.cost import BATCH_DISCOUNT, Prices
from geval.llm.judge_settings import Mode, default_of
from geval.llm.request_options import StoredOptions
from geval.llm.request_settings import RequestSettings
from geval.llm.server_fit import TAKES_ALL, ServerFit

# For runs laid out by versions that did not store sizes.
USUAL_CHARACTERS = 4000
_PRICES = frozenset({"price_in", "price_out", "price_cached"})


@dataclass(frozen=True)
class RunParameters:
    """The settings of a run; stored as JSON with the run, and in archives.

    `characters_each` (the mean length of a prompt) and `most_each` (the most that an item can cost)
    are set once the run is laid out.
    """

    kind: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    base_url: str = ""
    api_version: str = ""
    model: str = ""
    mode: str = ""
    samples: int = default_of("samples")
    temperature: float | None = 0.0
    max_tokens: int = default_of("max_tokens")
    length_parameter: str = "max_tokens"
    use_steps: bool = default_of("use_steps")
    concurrency: int = default_of("concurrency")
    timeout_seconds: float | None = default_of("timeout_seconds")
    min_coverage: float = 0.0  # versions without a minimum accepted any coverage
    request_options: StoredOptions = field(default_factory=dict)
    price_in: Decimal | None = None
    price_out: Decimal | None = None
    price_cached: Decimal | None = None
    transport: str = "live"
    fit: ServerFit = TAKES_ALL
    fresh: bool = False
    outputs: tuple[int, ...] = ()  # the ids of the outputs to judge; none for all
    pilot: int = 0  # how many documents to draw for a pilot; 0 for all
    trial: int = 0  # how many items to draw for a trial; 0 for all
    rest_of: int = 0  # the id of the pilot or trial whose items are skipped
    perturbed: str = ""  # the probe that changes the questions (evaluators/perturbing.py)
    characters_each: int = USUAL_CHARACTERS
    most_each: Decimal | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RunParameters:
        """Load the parameters of a stored run; what older versions did not store gets its
        default."""
        names = {entry.name for entry in fields(cls)}
        given = {name: value for name, value in stored.items() if name in names}
        for name in (*_PRICES, "most_each"):
            if given.get(name) is not None:
                given[name] = Decimal(given[name])
        given["outputs"] = tuple(given.get("outputs", ()))
        # Earlier versions stored at most that calls return one reply.
        one_each = {"most_choices": 1} if stored.get("several_choices") is False else {}
        given["fit"] = ServerFit.from_json(one_each | dict(given.get("fit", {})))
        return cls(**given)

    def as_json(self) -> dict[str, Any]:
        """Return what is stored when a run is created: everything except what its layout adds."""
        stored = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        del stored["characters_each"], stored["most_each"]
        for name in ("outputs", "pilot", "trial", "rest_of", "perturbed", "request_options"):
            if not stored[name]:
                del stored[name]
        if self.price_cached is None:
            del stored["price_cached"]
        stored["fit"] = self.fit.as_json()
        if not stored["fit"]:
            del stored["fit"]
        for name in stored.keys() & _PRICES:
            stored[name] = None if stored[name] is None else str(stored[name])
        return stored

    @property
    def prices(self) -> Prices | None:
        """The frozen prices, lower in batches; None where the judge had none."""
        if self.price_in is None or self.price_out is None:
            return None
        share = BATCH_DISCOUNT if self.transport == "batch" else Decimal(1)
        return Prices(self.price_in, self.price_out, share, self.price_cached)

    @property
    def is_part(self) -> bool:
        """Whether the run judges a few items first, and another run the rest."""
        return bool(self.pilot or self.trial)

    @property
    def replies_each(self) -> int:
        """How many replies a question is to get."""
        return self.request_settings.replies_each

    @property
    def request_settings(self) -> RequestSettings:
        """Return the settings of the run's requests."""
        return RequestSettings(
            model=self.model,
            mode=cast(Mode, self.mode),
            samples=self.samples,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            length_parameter=self.length_parameter,
            min_coverage=self.min_coverage,
            fit=self.fit,
            options=self.request_options,
        )
