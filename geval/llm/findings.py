"""What a probe has found out about a model on an endpoint, and the same as rows for people."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

from geval.llm.judge_settings import default_of
from geval.llm.request_settings import Mode
from geval.llm.server_fit import MOST_ALTERNATIVES, MOST_CHOICES, ServerFit

# A thought counts as part of the reply, and may have thousands of tokens.
TOKENS_WITH_THOUGHT = 4_096


@dataclass(frozen=True)
class Findings:
    """What a probe has learned about a model. `logprobs` is how many alternatives are returned per
    token, 0 for no log-probabilities at all; `top_logprobs` is how many may be requested, and
    `most_choices` how many replies per call. `instructions` is the role that may give instructions;
    `thinks` says whether the model thinks before it answers; `schema` whether replies follow a JSON
    schema.

    `unknown` names abilities that are neither there nor missing as far as is known: a rate limit or
    another error that may pass was the last answer.

    `modes` says for each scoring mode that was tried on a real prompt why the reply could not be
    read, "" where it could. `notes` are sentences for what the flags cannot express, by the flag's
    name.
    """

    answered_model: str
    length_parameter: str = "max_tokens"
    temperature: bool = True
    logprobs: int = 0
    top_logprobs: int = MOST_ALTERNATIVES
    most_choices: int = MOST_CHOICES
    top_p: bool = True
    seed: bool = True
    instructions: str = "system"
    thinks: bool = False
    echo: bool = False
    schema: bool = False
    unknown: tuple[str, ...] = ()
    modes: dict[str, str] = field(default_factory=dict)
    unusable: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Load stored findings; what earlier versions did not test counts as accepted."""
        names = {entry.name for entry in fields(cls)}
        given = {
            name: value for name, value in stored.items() if name in names and value is not None
        }
        if stored.get("several_choices") is False:
            given["most_choices"] = 1
        for name in ("unusable", "unknown"):
            given[name] = tuple(given.get(name, ()))
        return cls(**{"answered_model": ""} | given)

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "several_choices": self.most_choices > 1,
            "system_role": self.instructions == "system",
            "best_mode": self.best_mode,
        }

    @property
    def fit(self) -> ServerFit:
        """What the server accepts in a request."""
        return ServerFit(
            most_choices=self.most_choices,
            # 0 where it returned none, so that the limit is not known.
            top_logprobs=self.top_logprobs or MOST_ALTERNATIVES,
            length_parameter=self.length_parameter,
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
            instructions=self.instructions,
        )

    def with_fit(self, fit: ServerFit, refusals: Mapping[str, str]) -> Self:
        """Return the findings updated with what calls have learned since, and the server's messages
        about it."""
        learned = asdict(fit)
        learned["length_parameter"] = fit.length_parameter or self.length_parameter
        learned["top_logprobs"] = min(fit.top_logprobs, self.top_logprobs)
        return replace(self, **learned, notes=self.notes | dict(refusals))

    @property
    def likely_modes(self) -> list[Mode]:
        """The scoring modes that the server allows, best first: probabilities where it returns
        them, samples where they can differ."""
        samples_first: list[Mode] = ["samples", "direct"]
        rest = samples_first if self.temperature else samples_first[::-1]
        return ["logprobs", *rest] if self.logprobs or "logprobs" in self.unknown else rest

    @property
    def best_mode(self) -> str:
        """The scoring mode to suggest: the best one whose reply to a real prompt could be read; ""
        if there was none."""
        if not self.modes:
            return self.likely_modes[0]
        return next((mode for mode in self.likely_modes if self.modes.get(mode) == ""), "")

    def room_for_replies(self, max_tokens: int) -> int:
        """Return the length limit for a judge's replies, in tokens: the default leaves no room for
        a thought, so that every reply of a reasoning model would be cut within it."""
        is_default = max_tokens == default_of("max_tokens")
        return TOKENS_WITH_THOUGHT if self.thinks and is_default else max_tokens

    def why_unknown(self, ability: str) -> str:
        """Return what to do about an ability that is not known; "" if it is known."""
        if ability not in self.unknown:
            return ""
        return (
            f"Whether this endpoint can do it is not known: {self.notes[ability]} Probe it again."
        )

    def why_not(self, mode: str) -> str:
        """Return why a scoring mode cannot be used, as a sentence; empty if it can.

        Without a mode: why none can be suggested.
        """
        if not mode:
            tried = " ".join(f"{name}: {reason}" for name, reason in self.modes.items() if reason)
            return f"No scoring mode could be read on a real prompt. {tried}"
        if mode not in self.likely_modes:
            return (
                "This endpoint returns no log-probabilities for this model; use the mode samples "
                "or direct."
            )
        if mode in self.unusable:
            other = f" Use the mode {self.best_mode}." if self.best_mode else ""
            return f"A real prompt was tried in this mode. {self.modes[mode]}{other}"
        return ""


@dataclass(frozen=True)
class FindingsRow:
    """A capability: its name, whether or how far it is supported, and the probe's note."""

    what: str
    found: str
    note: str


def findings_rows(findings: Findings) -> list[FindingsRow]:
    """Return the findings as table rows, the capabilities that decide the scoring mode first."""
    notes = findings.notes

    def row(what: str, value: object, name: str, note: str = "") -> FindingsRow:
        shown = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
        if name in findings.unknown:
            shown = "not known"
        return FindingsRow(what, str(shown), notes.get(name, note))

    alternatives = f"{findings.logprobs} per token" if findings.logprobs else "none"
    mode = findings.best_mode
    why_mode = notes.get("mode", "") if mode else findings.why_not("")
    return [
        FindingsRow("Best scoring mode", mode or "none", why_mode),
        row("Answers as", findings.answered_model, "answer"),
        row(
            "Log-probabilities",
            alternatives,
            "logprobs",
            "needed for scores by token probabilities",
        ),
        row(
            "Several replies per call",
            f"up to {findings.most_choices}" if findings.most_choices > 1 else "no",
            "most_choices",
            "makes samples cheaper",
        ),
        row("Thinks before it answers", findings.thinks, "thinks"),
        row("Temperature", findings.temperature, "temperature", "needed for samples that differ"),
        row("Parameter for the reply limit", findings.length_parameter, "length_parameter"),
        row("top_p", findings.top_p, "top_p", "sent with samples, where it is taken"),
        row("Seed", findings.seed, "seed"),
        row("Role of instructions", findings.instructions, "instructions"),
        row("Replies by a JSON schema", findings.schema, "schema", "for judges that ask for JSON"),
        row("Echo with log-probabilities", findings.echo, "echo", "needed for GPTScore"),
        *(
            FindingsRow(f"A real prompt, mode {mode}", "not read" if reason else "read", reason)
            for mode, reason in findings.modes.items()
        ),
    ]
