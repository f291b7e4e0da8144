"""The view of a report, read from and written to a query string."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args
from urllib.parse import urlencode

from geval.statistics.consensus import HumanScore
from geval.statistics.correlation import Coefficient, Level
from geval.statistics.resampling import Over
from geval.texts.numbers import whole_number

# How much worse than an annotator a judge may be: compared with experts, skilled annotators, a
# crowd.
Epsilon = Literal["0.2", "0.15", "0.1"]
WORDS = {
    "level": get_args(Level),
    "coefficient": get_args(Coefficient),
    "over": get_args(Over),
    "epsilon": get_args(Epsilon),
    "human_score": get_args(HumanScore),
}
MEAN: HumanScore = "mean"
ADJUDICATED: HumanScore = "adjudicated"
# The human scores to compare judges with: names in a list of choices, and in a sentence.
HUMAN_SCORES: dict[HumanScore, tuple[str, str]] = {
    "mean": ("mean of ratings", "the mean human rating"),
    "median": ("median of ratings", "the median human rating"),
    "severity-adjusted": (
        "ratings adjusted for severity",
        "human ratings adjusted for annotators' severity",
    ),
    "dawid-skene": ("Dawid-Skene", "human scores by Dawid and Skene's model"),
    "adjudicated": (
        "adjudicators' decisions",
        "adjudicators' decisions where there are any, and the mean human rating elsewhere",
    ),
}
HUMAN_SCORE_HELP = "what judges are compared with: " + ", ".join(
    f"{word} ({name})" if word != name else word for word, (name, _said) in HUMAN_SCORES.items()
)
# The kind of annotator that a judge replaces, by epsilon.
EPSILON_FOR = {"0.2": "experts", "0.15": "skilled people", "0.1": "crowds"}
EPSILON_HELP = "of the annotator test: " + ", ".join(
    f"{value} for {people}" for value, people in EPSILON_FOR.items()
)
# What stands in for words of earlier versions.
REMOVED_WORDS: Mapping[str, HumanScore] = {"mace": "dawid-skene"}
NO_ROUNDS: Mapping[int, str] = {}
NO_SESSIONS = (
    "No document belongs to a session, so there is no session level: name the session of each"
    " document in a column session_id."
)
LISTS = ("annotators", "systems", "judges", "criteria")


@dataclass(frozen=True)
class ReportOptions:
    """A view of a report.

    Empty lists mean all; `documents` is a substring of doc_id. `over` says what is left out for
    intervals and swapped for significance; `epsilon` is the annotator test's; `human_score` is what
    judges are compared with. `round` is the only campaign whose answers count, and `round_name` its
    name; 0: each person's newest answer counts.
    """

    level: Level = "summary"
    coefficient: Coefficient = "spearman"
    over: Over = "documents"
    epsilon: Epsilon = "0.2"
    human_score: HumanScore = MEAN
    annotators: tuple[int, ...] = ()
    systems: tuple[int, ...] = ()
    judges: tuple[int, ...] = ()
    criteria: tuple[int, ...] = ()
    documents: str = ""
    round: int = 0
    round_name: str = ""
    # The level of a view that names none: another one where documents have one output each.
    usual_level: Level = "summary"

    @property
    def pairs(self) -> list[tuple[str, Any]]:
        """The form fields for this view, without defaults."""
        pairs: list[tuple[str, Any]] = []
        for field in fields(self):
            value = getattr(self, field.name)
            usual = self.usual_level if field.name == "level" else field.default
            if value != usual and field.name not in ("round_name", "usual_level"):
                pairs.extend(
                    (field.name, single)
                    for single in (value if isinstance(value, tuple) else (value,))
                )
        return pairs

    @property
    def query(self) -> str:
        """The query string, without defaults."""
        return urlencode(self.pairs)

    @property
    def second(self) -> Coefficient:
        """The coefficient next to the chosen one in the paper's table."""
        return "spearman" if self.coefficient == "kendall" else "kendall"

    @property
    def has_usual_human_score(self) -> bool:
        """Whether judges are compared with the mean of each person's newest rating."""
        return self.human_score == MEAN and not self.round

    @property
    def human_score_name(self) -> str:
        """What judges are compared with, as a choice is named."""
        return HUMAN_SCORES[self.human_score][0] + self._in_round

    @property
    def human_score_in_words(self) -> str:
        """What judges are compared with, in a sentence."""
        return HUMAN_SCORES[self.human_score][1] + self._in_round

    @property
    def _in_round(self) -> str:
        return f" in the round “{self.round_name}”" if self.round else ""

    @property
    def human_score_label(self) -> str:
        """What judges are compared with, at an axis."""
        return self.human_score_in_words.removeprefix("the ")

    def shows(self, criterion: int, judge: int | None = None) -> bool:
        """Return whether the view has this criterion, and this judge's numbers on it."""
        return (not self.criteria or criterion in self.criteria) and (
            judge is None or not self.judges or judge in self.judges
        )

    @property
    def is_filtered(self) -> bool:
        """Whether it leaves out annotators, systems or documents."""
        return bool(self.annotators or self.systems or self.documents)


def read_options(
    query: Mapping[str, Any],
    *,
    known: Mapping[str, Iterable[int]],
    rounds: Mapping[int, str] = NO_ROUNDS,
    usual_level: Level = "summary",
) -> tuple[ReportOptions, list[str]]:
    """Read the options in a query string; also return messages about invalid parts, which get their
    defaults.

    Args:
        query: several values of one name are a list, or what `getlist` of Django's QueryDict gives.
        known: the existing ids of annotators, systems, judges and criteria.
        rounds: the names of campaigns whose answers can be selected, by id.
        usual_level: the level of a query that names none.
    """
    chosen: dict[str, Any] = {"level": usual_level, "usual_level": usual_level}
    errors = []
    for name, allowed in WORDS.items():
        word = query.get(name) or ""
        if word in allowed:
            chosen[name] = word
        elif word:
            errors.append(
                f"{name} is {', '.join(allowed[:-1])} or {allowed[-1]}, not {str(word)[:40]!r}."
                + instead_of(word)
            )
    for name in LISTS:
        existing = set(known[name])
        written = [value for value in _all(query, name) if value]
        numbers = [whole_number(value, default=-1) for value in written]
        ids = tuple(number for number in numbers if number in existing)
        lost = [
            value for value, number in zip(written, numbers, strict=True) if number not in existing
        ]
        if lost:
            errors.append(
                f"There is no {name[:-1] if name != 'criteria' else 'criterion'} {lost[0][:40]!r}"
                " here."
            )
        chosen[name] = ids
    if asked := str(query.get("round") or ""):
        number = whole_number(asked, default=-1)
        if number in rounds:
            chosen |= {"round": number, "round_name": rounds[number]}
        else:
            errors.append(f"There is no round {asked[:40]!r} here.")
    chosen["documents"] = str(query.get("documents") or "").replace("\0", "").strip()[:200]
    return ReportOptions(**chosen), errors


def instead_of(word: object) -> str:
    """Return a sentence, after a blank, about a word of earlier versions; empty for another one."""
    now = REMOVED_WORDS.get(str(word))
    return f" {word} was removed: use {now}." if now else ""


def _all(query: Mapping[str, Any], name: str) -> list[str]:
    getlist = getattr(query, "getlist", None)
    return [str(value) for value in (getlist(name) if getlist else query.get(name, ()))]
