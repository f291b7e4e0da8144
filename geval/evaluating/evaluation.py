"""The result of `geval.evaluate`: a score for each output, and the scores' agreement with
people."""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from geval.evaluating.judging import JudgingResult, JudgingTask, Outcome
from geval.evaluating.outputs import JudgedOutput
from geval.files.rows import (
    JudgeScoreRow,
    NotApplicableRow,
    OutputRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
)
from geval.llm.advice import advise
from geval.llm.parsing import Failure, Reason
from geval.measuring.measurement import Measurement
from geval.measuring.measuring import measure_rows
from geval.statistics.correlation import Coefficient, Level
from geval.statistics.scales import NOT_APPLICABLE, Scale
from geval.texts.numbers import two_decimals
from geval.texts.spreadsheets import csv_line

# Columns that an upload recognises.
SCORE_COLUMNS = ("doc_id", "system_id", "criterion", "judge", "score")


@dataclass(frozen=True)
class OutputScore:
    """A judge's score of an output.

    `score` is on the criterion's scale; None where `reason` and `detail` say why there is none.
    `distribution` has the probability of each point, `coverage` is the points' total probability
    before normalising, and `entropy` is in bits; `repeat` counts how often the output was asked
    about, "" where that was once. `not_applicable` is the share of "n/a", which is the answer, and
    `score` None, where it has more than half.
    """

    document: str
    system: str
    criterion: str
    judge: str
    score: float | None
    distribution: Mapping[float, float]
    coverage: float | None
    entropy: float | None
    note: str = ""
    reason: str = ""
    detail: str = ""
    repeat: str = ""
    not_applicable: float = 0.0


@dataclass(frozen=True)
class Usage:
    """What judging used: calls, tokens (with cached input and reasoning output tokens), and stored
    answers from earlier."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    reused: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0


@dataclass(frozen=True)
class Evaluation:
    """The scores of outputs on a criterion. `steps` are the evaluation steps that were used, and
    `template` the prompt without texts. `mode` is "" where the judge's `kind` has only one."""

    judge: str
    criterion: str
    scale: Scale
    kind: str
    mode: str
    steps: str
    template: str
    scores: tuple[OutputScore, ...]
    usage: Usage
    advice: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def failures(self) -> list[OutputScore]:
        """The outputs without a score, each with its reason."""
        return [score for score in self.scores if score.reason]

    @property
    def has_ratings(self) -> bool:
        """Whether people rated this criterion in the judged data."""
        wanted = self.criterion.lower()
        return any(
            isinstance(row, RatingRow) and row.criterion.lower() == wanted for row in self.rows
        )

    @cached_property
    def measurement(self) -> Measurement:
        """Measure the scores against the ratings in the source.

        Raises:
            InputError: the source contains no ratings.
        """
        return self.measure()

    def measure(
        self, *, level: Level | None = None, coefficient: Coefficient = "spearman"
    ) -> Measurement:
        """As `measurement`, at another level or with another coefficient. Other judges with scores
        in the source only count as those from which this one may have been chosen."""
        rows = [
            row
            for row in self._rows_on_criterion()
            if not isinstance(row, JudgeScoreRow | RepliesRow)
        ]
        others = {row.rater for row in self.rows if isinstance(row, JudgeScoreRow)}
        others |= {row.judge for row in self.rows if isinstance(row, RepliesRow)}
        return measure_rows(
            [*rows, *self._score_rows()],
            self._scale_of_people(),
            level=level,
            coefficient=coefficient,
            compared=len(others | {self.judge}),
        )

    @property
    def with_others(self) -> Measurement:
        """As `measurement`, with the other judges that have scores in the source."""
        rows = [*self._rows_on_criterion(), *self._score_rows()]
        return measure_rows(rows, self._scale_of_people())

    def _scale_of_people(self) -> dict[str, Scale]:
        """Return the judge's scale as that of the criterion, where people's ratings are on it."""
        ratings = [row.score for row in self._rows_on_criterion() if isinstance(row, RatingRow)]
        if ratings and not self.scale.spans(min(ratings), max(ratings)):
            return {}
        return {self.criterion.lower(): self.scale}

    def _rows_on_criterion(self) -> list[Row]:
        """Return the rows of the source, without ratings and scores of other criteria."""
        wanted = self.criterion.lower()
        return [
            row
            for row in self.rows
            if not isinstance(row, RatingRow | JudgeScoreRow | NotApplicableRow)
            or row.criterion.lower() == wanted
        ]

    def _score_rows(self) -> list[JudgeScoreRow | NotApplicableRow]:
        answered: dict[tuple[str, str], list[bool]] = {}
        for score in self.scores:
            if not score.reason:
                answers = answered.setdefault((score.document, score.system), [])
                answers.append(score.score is None)
        without = [key for key, are in answered.items() if sum(are) * 2 > len(are)]
        return [
            *(NotApplicableRow(0, *key, self.criterion, self.judge, True) for key in without),
            *self._numbers(frozenset(without)),
        ]

    @cached_property
    def labels(self) -> dict[float, str]:
        """The names of labels without an order, by the numbers that scores have; empty for other
        scales."""
        if self.scale.is_ordered:
            return {}
        return {point: name for name, point in self.scale.labels.items()}

    def _numbers(self, without: Collection[tuple[str, str]]) -> list[JudgeScoreRow]:
        return [
            JudgeScoreRow(
                0,
                score.document,
                score.system,
                self.criterion,
                self.judge,
                score.score,
                repeat=score.repeat,
            )
            for score in self.scores
            if score.score is not None and (score.document, score.system) not in without
        ]

    def to_records(self) -> list[dict[str, Any]]:
        """Return a row for each output, without pandas; `label` names a score that is one."""
        return [
            asdict(score) | ({"label": self._written(score.score)} if self.labels else {})
            for score in self.scores
        ]

    def _written(self, score: float | None) -> str | float | None:
        """Return a score as files have it: a label by its name."""
        return score if score is None else self.labels.get(score, score)

    def to_frame(self) -> Any:
        """Return the same rows as a pandas data frame.

        Raises:
            ImportError: pandas is not installed; `to_records` needs none.
        """
        import pandas as pd  # noqa: PLC0415 (not everybody has it)

        return pd.DataFrame(self.to_records())

    def to_json(self) -> str:
        """Return scores, settings and usage."""
        content = {
            "judge": self.judge,
            "criterion": self.criterion,
            "scale": self.scale.written,
            **({"labels": [*self.labels.values()]} if self.labels else {}),
            "kind": self.kind,
            "mode": self.mode,
            "steps": self.steps,
            "usage": asdict(self.usage),
            "scores": self.to_records(),
        }
        return json.dumps(content, ensure_ascii=False, indent=2)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write the scores as a file that a site and `geval.measure` read."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            repeats = any(each.repeat for each in self.scores)
            file.write(csv_line((*SCORE_COLUMNS, "repeat") if repeats else SCORE_COLUMNS))
            for each in self.scores:
                if not each.reason:
                    score = NOT_APPLICABLE if each.score is None else self._written(each.score)
                    line = (each.document, each.system, each.criterion, each.judge, score)
                    file.write(csv_line((*line, each.repeat) if repeats else line))

    def to_tables(self) -> dict[str, list[dict[str, Any]]]:
        """Return outputs, people's ratings and the judge's scores as rows for uploads.

        Raises:
            ValueError: outputs are turns of conversations, whose file can be uploaded unchanged.
        """
        outputs = [row for row in self.rows if isinstance(row, OutputRow)]
        if any(row.conversation or row.turns for row in outputs):
            raise ValueError("These are conversations: upload their file, then push nothing else.")
        return {
            "outputs": [
                {
                    "doc_id": row.doc_id or row.source,
                    "system_id": row.system_id,
                    "source": row.source,
                    "output": row.output,
                    **({"context": row.context} if row.context else {}),
                    **({"session_id": row.session} if row.session else {}),
                    **({"references": list(row.references)} if row.references else {}),
                }
                for row in outputs
            ],
            "ratings": [
                self._score_record(row, "annotator")
                for row in self.rows
                if isinstance(row, RatingRow)
                or (isinstance(row, NotApplicableRow) and not row.by_judge)
            ],
            "scores": [self._score_record(row, "judge") for row in self._score_rows()],
        }

    def _score_record(self, row: ScoreRow | NotApplicableRow, whose: str) -> dict[str, Any]:
        score: Any = NOT_APPLICABLE if isinstance(row, NotApplicableRow) else row.score
        if isinstance(score, float) and row.criterion.lower() == self.criterion.lower():
            score = self._written(score)
        return {
            "doc_id": row.doc_id or row.source,
            "system_id": row.system_id,
            "criterion": row.criterion,
            whose: row.rater,
            "score": score,
            **({"repeat": repeat} if (repeat := getattr(row, "repeat", "")) else {}),
        }

    @property
    def summary(self) -> str:
        """Return how many outputs have a score, how they were scored, and the usage."""
        values = [score.score for score in self.scores if score.score is not None]
        about = [f"{self.scale}", self.mode or self.kind]
        if self.labels:
            counts = Counter(self.labels[value] for value in values)
            about = [about[1], *(f"{name} {count}" for name, count in counts.most_common())]
        elif values:
            about.append(f"mean {two_decimals(sum(values) / len(values))}")
        others = len(self.scores) - len(self.failures) - len(values)
        beside = f" and called it not applicable to {others}" if others else ""
        usage = self.usage
        return (
            f"{self.judge} scored {len(values)} of {len(self.scores)} outputs on {self.criterion}"
            f"{beside} ({', '.join(about)}): {usage.calls:,} calls,"
            f" {usage.prompt_tokens:,} tokens in, {usage.completion_tokens:,} out"
            f"{f', {usage.reused:,} answers from earlier' if usage.reused else ''}."
        )

    def __str__(self) -> str:
        parts = [self.summary, *self.advice]
        if self.has_ratings and any(score.score is not None for score in self.scores):
            parts += ["", str(self.measurement)]
        return "\n".join(parts)

    # In a notebook or a shell, a result is read, not its fields.
    __repr__ = __str__

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{escape(line)}</p>" for line in (self.summary, *self.advice))
        return lines + (self.measurement._repr_html_() if self.has_ratings else "")


def evaluation_of(
    judge: str,
    asked: JudgingTask,
    outputs: Sequence[JudgedOutput],
    judged: JudgingResult,
    usage: Usage,
    rows: Sequence[Row],
) -> Evaluation:
    """Build the evaluation from the outcomes of outputs in the same order."""
    parts = asked.parts
    scores = tuple(
        _score_of(judge, parts.criterion, output, outcome)
        for output, outcome in zip(outputs, judged.outcomes, strict=True)
    )
    return Evaluation(
        judge=judge,
        criterion=parts.criterion,
        scale=parts.scale,
        kind=asked.evaluator.kind,
        mode=judged.settings.mode,
        steps=judged.steps,
        template=judged.template,
        scores=scores,
        usage=usage,
        advice=tuple(_advice(judged)),
        rows=tuple(rows),
    )


def _score_of(judge: str, criterion: str, output: JudgedOutput, outcome: Outcome) -> OutputScore:
    about = (output.document, output.system, criterion, judge)
    repeat = output.repeat
    if isinstance(outcome, Failure):
        why = (str(outcome.reason), outcome.detail, repeat)
        return OutputScore(*about, None, {}, None, None, "", *why)
    entropy = outcome.entropy if outcome.distribution else None
    numbers = (outcome.number, dict(outcome.distribution), outcome.coverage, entropy)
    share = outcome.not_applicable
    return OutputScore(*about, *numbers, outcome.note, repeat=repeat, not_applicable=share)


def _advice(judged: JudgingResult) -> list[str]:
    """Return for each reason why outputs have no score their number and what to do."""
    reasons = Counter(
        Reason(outcome.reason) for outcome in judged.outcomes if isinstance(outcome, Failure)
    )
    return [
        f"{count} without a score: {advise(reason, judged.settings, modes=()).cause}"
        for reason, count in reasons.most_common()
    ]
