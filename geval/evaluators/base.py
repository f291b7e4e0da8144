"""The interface of evaluators: kinds of judges with settings that score outputs. No Django.

Other packages add evaluators through entry points of the group `geval_site.evaluators` that name
subclasses of `LocalEvaluator`; see docs/evaluators/your-own.md.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from geval.llm.item_texts import Texts
from geval.llm.parsing import Failure, Reason
from geval.llm.prompts import PromptParts
from geval.llm.scoring import Scored
from geval.statistics.scales import Scale

ENTRY_POINTS = "geval_site.evaluators"
# The note by which a run's page counts outputs that were scored as empty.
SCORED_EMPTY = (
    "The output has no words. It has the score that the metric's definition gives to an empty text."
)
Family = Literal["LLM", "Lexical", "Neural", "Other"]
Text = Literal["source", "context", "references"]
Outcome = Scored | Failure


class EvaluatorError(Exception):
    """An error that every item of a run would meet: a missing package, model or file. The message
    says what to do."""


class SettingsError(ValueError):
    """An evaluator rejects settings: messages by the name of the setting."""

    def __init__(self, messages: Mapping[str, str]) -> None:
        super().__init__(" ".join(f"{name}: {message}" for name, message in messages.items()))
        self.messages = dict(messages)


class Settings(BaseModel):
    """An evaluator's settings. Forms, commands and the API are derived from the fields: give each a
    description."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class CriterionPrompt:
    """A criterion as a run asks about it."""

    template: str
    criterion: str
    scale: Scale


@dataclass(frozen=True)
class Item:
    """An output as an evaluator sees it.

    `criterion` and `template` (the question about it) are empty for evaluators whose score applies
    to every criterion. `together` are all criteria of the run, including the item's.
    """

    texts: Texts
    criterion: str = ""
    template: str = ""
    output_id: int = 0
    together: tuple[CriterionPrompt, ...] = ()


@dataclass(frozen=True)
class Corpus:
    """What an evaluator may look at before it scores: all texts of the project, and existing
    scores.

    `scores` maps (judge, criterion) to scores by output id; `ratings` maps a criterion to people's
    mean ratings and `document_of` each output to its document.
    """

    outputs: Sequence[str] = ()
    references: Sequence[str] = ()
    sources: Sequence[str] = ()
    scores: Mapping[tuple[str, str], Mapping[int, float]] = field(default_factory=dict)
    ratings: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    document_of: Mapping[int, int] = field(default_factory=dict)


class Evaluator(ABC):
    """A kind of judge.

    Class attributes describe it: `kind` is its name in commands and the database, `packages` the
    modules that it imports beyond the basic installation, `install` what to install for them,
    `needs` the texts that it requires with any settings, `per_criterion` whether it gives a
    separate score for each criterion, `rates_on_scale` whether its scores are ratings on the
    criterion's scale, `compares_pairs` whether it judges two outputs at a time, and `runs` whether
    it can run at all (imported scores cannot). `chats`, `writes_steps` and `takes_batches` are for
    evaluators that ask an LLM (llm_evaluator.py).
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    family: ClassVar[Family]
    paper: ClassVar[str] = ""
    packages: ClassVar[tuple[str, ...]] = ()
    install: ClassVar[str] = ""
    needs: ClassVar[frozenset[Text]] = frozenset()
    per_criterion: ClassVar[bool] = False
    rates_on_scale: ClassVar[bool] = False
    compares_pairs: ClassVar[bool] = False
    chats: ClassVar[bool] = False
    writes_steps: ClassVar[bool] = False
    takes_batches: ClassVar[bool] = False
    runs: ClassVar[bool] = True
    Settings: ClassVar[type[Settings]] = Settings

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self.settings: Any = read_settings(type(self), settings or {})

    @classmethod
    def why_not(cls) -> str:
        """Return why it cannot run on this machine, and what to do; empty if it can."""
        missing = [name for name in cls.packages if importlib.util.find_spec(name) is None]
        return f"not installed ({', '.join(missing)} missing): {cls.install}" if missing else ""

    @property
    def only_pairs_people_compared(self) -> bool:
        """Whether it judges only the pairs that people have compared."""
        return False

    @property
    def asks_together(self) -> bool:
        """Whether one request asks about all criteria of a run, so that an output's items share its
        cost."""
        return False

    def needed(self) -> frozenset[Text]:
        """Return the texts that it needs with its settings."""
        return self.needs

    def template(self, parts: PromptParts, steps: str | None = None) -> str:
        """Return what it will ask about a criterion, frozen into the run; for evaluators with
        `per_criterion`.

        Raises:
            PromptError: it cannot ask about this criterion; the message says why.
        """
        raise NotImplementedError

    def has_steps(self, criterion: str) -> bool:
        """Return whether it has its own evaluation steps for a criterion."""
        return False

    def missing_text(self, texts: Texts) -> Failure | None:
        """Return why an item cannot be scored: a text that its document lacks, or an empty
        output."""
        for name in sorted(self.needed()):
            given = (
                any(text.strip() for text in texts.references)
                if name == "references"
                else getattr(texts, name)
            )
            if not given or (isinstance(given, str) and not given.strip()):
                return Failure(
                    Reason.NO_TEXT,
                    f"{self.title} needs the {name} of a document; this one has none.",
                )
        if not texts.output.strip():
            return Failure(
                Reason.EMPTY_OUTPUT, f"The output is empty; {self.title} is not defined for it."
            )
        return None


class LocalEvaluator(Evaluator):
    """An evaluator that computes on the worker's machine, in separate processes.

    `chunk` is how many items are scored at a time, `many_processes` whether every core may have a
    copy of it.
    """

    chunk: ClassVar[int] = 200
    many_processes: ClassVar[bool] = True
    looks_at: ClassVar[frozenset[str]] = frozenset()

    def looks_at_now(self) -> frozenset[str]:
        """Return which parts of the `Corpus` it needs before scoring, with its settings."""
        return self.looks_at

    def score_of_empty(self) -> float | None:
        """Return the score of an output without words, by the metric's definition; None if that has
        none."""
        return None

    def load(self) -> None:
        """Load models and data; called once in each process.

        Raises:
            EvaluatorError: something is missing or of the wrong kind.
        """

    def look(self, corpus: Corpus) -> None:
        """Read the corpus before the first item; called once after `load`, if `looks_at_now` names
        anything."""

    @abstractmethod
    def score(self, items: Sequence[Item]) -> list[Outcome]:
        """Return the outcome of each item, in order."""

    def score_readable(self, items: Sequence[Item]) -> list[Outcome]:
        """Call `score` for items with all texts; the others fail, or are scored as empty
        outputs."""
        beforehand: list[Outcome | None] = [self._beforehand(item.texts) for item in items]
        readable = [index for index, outcome in enumerate(beforehand) if outcome is None]
        outcomes = self.score([items[index] for index in readable]) if readable else []
        for index, outcome in zip(readable, outcomes, strict=True):
            beforehand[index] = outcome
        return [outcome for outcome in beforehand if outcome is not None]

    def _beforehand(self, texts: Texts) -> Outcome | None:
        """Return the outcome of an item that lacks a text; None if it has all of them."""
        lacks = self.missing_text(texts)
        worst = self.score_of_empty()
        if lacks is None or lacks.reason != Reason.EMPTY_OUTPUT or worst is None:
            return lacks
        return Scored.plain(worst, SCORED_EMPTY)


def read_settings(evaluator: type[Evaluator], given: Mapping[str, Any]) -> Settings:
    """Build an evaluator's settings from names and values.

    Raises:
        SettingsError: an unknown name or an invalid value.
    """
    try:
        return evaluator.Settings.model_validate(dict(given))
    except ValidationError as error:
        settings = ", ".join(evaluator.Settings.model_fields) or "none"
        raise SettingsError(
            {
                ".".join(map(str, problem["loc"])) or "settings": (
                    f"{evaluator.title} has no such setting (there are: {settings})."
                    if problem["type"] == "extra_forbidden"
                    else f"{problem['msg'].removeprefix('Value error, ')}."
                )
                for problem in error.errors()
            }
        ) from None


def new_settings(
    evaluator: type[Evaluator], given: Mapping[str, Any], before: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the settings of a judge that is created or changed.

    A setting that was added later has a default that changes nothing for existing judges, and a
    separate value (`new`) for new ones.

    Args:
        given: values by the settings' names.
        before: the settings of the existing judge, which it keeps unless they are given.
    """
    later = {
        name: new_default(info)
        for name, info in evaluator.Settings.model_fields.items()
        if not info.is_required() and new_default(info) != info.default
    }
    if before is not None:
        later = {name: before[name] for name in later if name in before}
    return {**later, **given}


def new_default(info: FieldInfo) -> Any:
    """Return a setting's value for a new judge that does not give it."""
    extra = info.json_schema_extra
    return extra.get("new", info.default) if isinstance(extra, dict) else info.default


def mean(values: Iterable[float]) -> float:
    """Return the mean of values, of which there is at least one."""
    listed = list(values)
    return sum(listed) / len(listed)
