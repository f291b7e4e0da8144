"""Criteria whose answers are labels without an order: the verdict on each judge by the labels of an
expert, or by those that most people gave, with the confusion table. Arrays in, results out.

A judge *agrees as required* if its kappa, and the share that it finds of each label, are shown to
be at least the criterion's bar; *spot checks* take kappa alone. Both take a judge that reads: its
kappa is shown to be above 0, and above that of each null judge. Each end errs in half of 5 %, and
less where the best of several judges is chosen (Bonferroni).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from geval.reports.data import ReportData
from geval.reports.downloads.json_values import with_interval
from geval.reports.expert_words import ONE_EXPERT, with_brackets
from geval.reports.verdicts.expert import Required
from geval.reports.verdicts.verdict import Verdict
from geval.statistics.agreement import coincidences
from geval.statistics.expert_bar import ExpertBar
from geval.statistics.jackknife import LeftOut
from geval.statistics.labels import (
    LabelFigures,
    are_labels,
    confused_by_people,
    label_figures,
    label_kappa_lead,
    label_numbers,
    missing_as_wrong_labels,
    most_frequent_label,
    null_labels,
)
from geval.statistics.resampling import Interval
from geval.statistics.thresholds import (
    EXPERT_LABELS,
    PASS_FAIL_OUTPUTS,
    VERDICT_ALPHA,
    VERDICT_ERROR,
    VERDICT_OUTPUTS,
)
from geval.statistics.types import Estimate, FloatArray
from geval.texts.numbers import counted, shown, thin, whole_percent
from geval.texts.sentences import listed
from geval.texts.subjects import CriterionLike, JudgeLike

# People's labels that are confused most are named up to this many.
MOST_CONFUSED = 3
# A label given at most so often may be another one misspelled that has been given so often.
MISSPELLED, USUAL, ALIKE = 2, 10, 0.8
# A confusion table of more labels does not fit in a terminal.
MOST_COLUMNS = 8


@dataclass(frozen=True)
class LabelJudge:
    """A judge's labels beside people's. `ahead` are the intervals of how much higher its kappa is
    than null judges', by title, `missing` counts labelled outputs without its label, `documents`
    those with both, and `filled` has the figures with wrong labels where some are missing (None
    where enough are there)."""

    pk: int
    judge: str
    labels: tuple[str, ...]
    figures: LabelFigures
    ahead: dict[str, Interval]
    alpha: Estimate
    missing: int
    documents: int
    compared: int
    filled: LabelFigures | None = None
    least: float = ExpertBar.kappa

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The confusion table for pages: a row for each label of people, whose counts are with the
        cell's name in addresses, "" where labels are equal or there is no output."""
        figures = self.figures
        return [
            {
                "label": label,
                "counts": [
                    (count, f"{row}-{column}" if count and row != column else "")
                    for column, count in enumerate(counts, start=1)
                ],
                "recall": share,
            }
            for row, (label, counts, share) in enumerate(
                zip(self.labels, figures.counts, figures.recall, strict=True), start=1
            )
        ]

    @property
    def error(self) -> float:
        """The error of one end."""
        return VERDICT_ERROR / max(2, self.compared)

    @property
    def judged_by(self) -> LabelFigures:
        """The figures by which it has its verdict."""
        return self.filled or self.figures

    @property
    def kappa(self) -> Required:
        of = self.judged_by
        return Required(of.kappa, "label", of.outputs, self.error, self.least, EXPERT_LABELS, 0.0)

    @cached_property
    def finds(self) -> tuple[Required, ...]:
        """What is required of each label that people gave: the share that the judge finds."""
        counts = [sum(row) for row in self.judged_by.counts]
        return tuple(
            Required(share, label, count, self.error, self.least, PASS_FAIL_OUTPUTS, 0.0)
            for label, share, count in zip(self.labels, self.judged_by.recall, counts, strict=True)
            if count
        )

    @property
    def weakest(self) -> Required | None:
        """The label that it finds least; None where people gave no label."""
        return min(self.finds, key=lambda side: side.figure.estimate.value or 0.0, default=None)

    @property
    def unshown(self) -> tuple[Required, ...]:
        """The labels of which it is not shown to find enough, the weakest first."""
        weak = [side for side in self.finds if side.count < side.fewest or not side.is_shown]
        return tuple(sorted(weak, key=lambda side: side.figure.estimate.value or 0.0))

    @property
    def equals_people(self) -> bool:
        """Whether it gave people's label to each of enough outputs."""
        figures = self.figures
        return figures.outputs >= VERDICT_OUTPUTS and figures.accuracy.estimate.value == 1

    @property
    def rivals(self) -> tuple[str, ...]:
        """The null judges that it is not shown to be better than."""
        return tuple(title for title, lead in self.ahead.items() if (lead.low or 0.0) <= 0)

    @property
    def more(self) -> int | None:
        """How many more labels would show the required kappa; None if no affordable number."""
        missing = EXPERT_LABELS - self.kappa.count
        return missing if missing > 0 else self.kappa.more

    @property
    def only_label(self) -> str:
        """The label that it gives all of enough outputs, of which people label some otherwise;
        empty if there is none."""
        columns = zip(*self.figures.counts, strict=True)
        given = [label for label, n in zip(self.labels, map(sum, columns), strict=True) if n]
        is_enough = self.figures.outputs >= EXPERT_LABELS and self.figures.majority < 1
        return given[0] if is_enough and len(given) == 1 else ""

    @property
    def verdict(self) -> Verdict:
        """The verdict; in doubt, the expert labels."""
        if self.alpha.value is not None and self.alpha.value < VERDICT_ALPHA:
            return Verdict.NO_MEASURE
        kappa = self.kappa
        if kappa.figure.interval.low is None:
            return Verdict.KEEP_EXPERT if self.only_label else Verdict.TOO_EARLY
        if not kappa.is_shown:
            is_near = kappa.beats_chance and kappa.more is not None
            return Verdict.TOO_EARLY if is_near else Verdict.KEEP_EXPERT
        if self.rivals:
            return Verdict.KEEP_EXPERT
        return Verdict.SPOT_CHECKS if self.unshown else Verdict.AGREES

    @property
    def reading(self) -> str:
        """Why it has its verdict and what to do next, in a sentence or two."""
        verdict, kappa = self.verdict, self.kappa
        if verdict == Verdict.NO_MEASURE:
            return (
                f"People do not agree enough to measure a judge by them (Krippendorff's alpha"
                f" {shown(self.alpha)}). Make the definitions of the labels clearer, and label"
                " again."
            )
        if verdict == Verdict.AGREES:
            return f"Kappa and the share found of each label are at least {self.least:.2f}."
        if verdict == Verdict.TOO_EARLY:
            if self.more is None:
                why = kappa.figure.interval.reason
                return f"{why[:1].upper()}{why[1:]}."
            return f"{counted(self.more, 'more label')} needed."
        if verdict == Verdict.SPOT_CHECKS:
            return self._weakest
        if self.only_label:
            return f"It labels every output {self.only_label}."
        if not kappa.beats_chance:
            return "It is not shown to do better than chance."
        if self.filled and replace(self, filled=None).verdict != verdict:
            unlabelled = counted(self.missing, "output")
            return (
                f"Let it label the {unlabelled} that it left out: counted as wrong, less is shown."
            )
        if not kappa.is_shown:
            return f"A kappa of at least {self.least:.2f} is required."
        titles = listed(list(self.rivals))
        return f"{titles[:1].upper()}{titles[1:]} may do as well."

    @property
    def _weakest(self) -> str:
        """What to check: the label that it finds least, and what it calls it instead."""
        weak = self.unshown[0]
        if weak.count < weak.fewest:
            missing = counted(weak.fewest - weak.count, f"more {weak.kind}", f"more {weak.kind}")
            return f"Too few outputs are labelled {weak.kind}: label {missing}."
        row = list(self.judged_by.counts[self.labels.index(weak.kind)])
        own = self.labels.index(weak.kind)
        missed = sum(row) - row[own]
        row[own] = -1
        instead = self.labels[int(np.argmax(row))]
        return (
            f"It misses {thin(missed)} of {thin(weak.count)} {weak.kind}, most as {instead}. Let"
            f" the expert check what it labels {instead}."
        )


@dataclass(frozen=True)
class LabelsResult:
    """A criterion of labels: people's agreement, which labels they confuse with each other (by how
    many pairs of people), and its judges, the best first; those `without_labels` gave numbers, and
    `misspelled` are questions about labels that hardly differ from a common one."""

    pk: int
    criterion: str
    labels: tuple[str, ...]
    outputs: int
    raters: int
    alpha: Estimate
    confused: tuple[tuple[str, str, int], ...]
    judges: tuple[LabelJudge, ...]
    without_labels: tuple[str, ...] = ()
    misspelled: tuple[str, ...] = ()

    @property
    def best(self) -> LabelJudge | None:
        return self.judges[0] if self.judges else None

    @property
    def others(self) -> tuple[LabelJudge, ...]:
        """The judges after the best."""
        return self.judges[1:]

    @property
    def verdict(self) -> Verdict:
        return self.best.verdict if self.best else Verdict.TOO_EARLY

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        name = f"{self.criterion[:1].upper()}{self.criterion[1:]}"
        if self.best is None:
            return f"{name}: no judge has labels."
        who = "your expert" if self.raters == 1 else "people"
        return f"{name}: {_SENTENCES[self.verdict].format(judge=self.best.judge, who=who)}."

    @property
    def note(self) -> str:
        """Which judges are left out, which labels may be misspelled, and whether the best judge has
        people's labels; empty if there is nothing to note."""
        notes = [*self.misspelled]
        if self.without_labels:
            judges = listed(self.without_labels)
            notes.append(
                f"On {self.criterion} the scores of {judges} are not labels, and are left out."
            )
        if self.best and self.best.equals_people:
            whose = "people's" if self.raters > 1 else "the expert's"
            notes.append(
                f"The labels of {self.best.judge} are all {whose}. If they were copied, leave it"
                " out."
            )
        return " ".join(notes)

    def __str__(self) -> str:
        best = self.best
        head = f"{self.criterion}: {self.verdict.label}" + (f" ({best.judge})" if best else "")
        raters = counted(self.raters, "person", "people")
        agreement = (
            f"; they agree with alpha {shown(self.alpha)}" if self.alpha.value is not None else ""
        )
        lines = [head, f"  {counted(self.outputs, 'output')} labelled by {raters}{agreement}"]
        lines += [f"  {self.note}"] if self.note else []
        if best is None:
            return "\n".join(lines)
        figures = best.figures
        lines.append(
            f"  kappa {with_brackets(figures.kappa)}; same label on"
            f" {with_brackets(figures.accuracy)} of {thin(figures.outputs)} (the most common one"
            f" alone {whole_percent(figures.majority)})"
        )
        for label, row, recall, precision in zip(
            self.labels, figures.counts, figures.recall, figures.precision, strict=True
        ):
            lines.append(
                f"  {label}: found {with_brackets(recall)} of {thin(sum(row))}; right where it is"
                f" given {with_brackets(precision)}"
            )
        lines += self._table(figures) if len(self.labels) <= MOST_COLUMNS else []
        if best.missing:
            lines.append(f"  No label of {best.judge} for {counted(best.missing, 'output')}")
        lines += [
            f"  People confuse {first} and {second} ({counted(pairs, 'pair')})"
            for first, second, pairs in self.confused
        ]
        lines.append(f"  {best.reading}")
        lines += [f"  {ONE_EXPERT}"] if self.raters == 1 else []
        lines += [
            f"  {other.judge}: {other.verdict.label}, kappa {with_brackets(other.figures.kappa)}"
            for other in self.judges[1:]
        ]
        return "\n".join(lines)

    def _table(self, figures: LabelFigures) -> list[str]:
        """The confusion table: a row for each label of people."""
        width = max(len(label) for label in self.labels)
        columns = [max(len(label), 4) for label in self.labels]
        cells = "  ".join(
            label.rjust(size) for label, size in zip(self.labels, columns, strict=True)
        )
        lines = [f"  {'people / judge'.ljust(max(width, 14))}  {cells}"]
        for label, row in zip(self.labels, figures.counts, strict=True):
            cells = "  ".join(
                str(cell).rjust(size) for cell, size in zip(row, columns, strict=True)
            )
            lines.append(f"  {label.ljust(max(width, 14))}  {cells}")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the result for JSON."""
        return {
            "criterion": self.criterion,
            "labels": list(self.labels),
            "outputs": self.outputs,
            "raters": self.raters,
            "alpha": self.alpha.value,
            "confused": [list(pair) for pair in self.confused],
            "judges": [self._judge_as_dict(judge) for judge in self.judges],
            "without_labels": list(self.without_labels),
        }

    def _judge_as_dict(self, judge: LabelJudge) -> dict[str, Any]:
        figures = judge.figures
        return {
            "judge": judge.judge,
            "verdict": judge.verdict.label,
            "outputs": figures.outputs,
            "missing": judge.missing,
            "kappa": with_interval(figures.kappa.estimate, figures.kappa.interval),
            "accuracy": with_interval(figures.accuracy.estimate, figures.accuracy.interval),
            "majority": figures.majority,
            "counts": [list(row) for row in figures.counts],
            "by_label": {
                label: {
                    "recall": with_interval(recall.estimate, recall.interval),
                    "precision": with_interval(precision.estimate, precision.interval),
                }
                for label, recall, precision in zip(
                    self.labels, figures.recall, figures.precision, strict=True
                )
            },
        }


_SENTENCES = {
    Verdict.AGREES: "{judge} agrees with {who} as required",
    Verdict.SPOT_CHECKS: "use {judge} with spot checks",
    Verdict.KEEP_EXPERT: "{who} must keep labelling",
    Verdict.NO_MEASURE: "people do not agree enough to measure {judge}",
    Verdict.TOO_EARLY: "it is too early to say",
}


def labels_of(criterion: CriterionLike) -> tuple[str, ...]:
    """Return the names of a criterion's labels without an order, by their numbers; none of another
    criterion."""
    if criterion.scale.is_ordered:
        return ()
    named = sorted(criterion.scale.labels.items(), key=lambda item: item[1])
    return tuple(name for name, _number in named)


def labels_result(
    criterion: CriterionLike, judges: Sequence[JudgeLike], data: ReportData, *, compared: int = 1
) -> LabelsResult:
    """Compute a criterion of labels.

    Args:
        data: people's score of an output is the label that most of them gave.
        compared: from how many judges these were chosen.
    """
    labels, human, scale = labels_of(criterion), data.humans[criterion.pk], criterion.scale
    ratings = replace(human.ratings, value=label_numbers(human.ratings.value, scale))
    people = most_frequent_label(ratings, len(labels))
    units = data.units_on(criterion.pk)
    documents = LeftOut.of(data.units.documents, data.units.group)
    alpha = coincidences(data.units, ratings, documents).alpha("nominal")
    nulls = null_labels(units, people, data.words, len(labels))
    results, others, numbers = [], [], [ratings.value]
    for judge in judges:
        scores = data.judges.get((criterion.pk, judge.pk))
        if scores is None or np.isnan(people + scores).all():
            continue
        if not are_labels(scores, scale):
            others.append(judge.label)
            continue
        given = label_numbers(scores, scale)
        numbers.append(given)
        about = (labels, units, people, given, nulls, alpha, compared, criterion.bar.kappa)
        results.append(_judge_result(judge, *about))
    ordered = sorted(
        results, key=lambda each: (each.verdict.choice, -_number(each.figures.kappa.estimate))
    )
    return LabelsResult(
        criterion.pk,
        criterion.name,
        labels,
        int((~np.isnan(people)).sum()),
        len(human.annotators),
        alpha,
        _confused(ratings, labels),
        tuple(ordered),
        tuple(others),
        tuple(_misspelled(labels, np.concatenate(numbers))),
    )


def _misspelled(labels: Sequence[str], given: FloatArray) -> Iterator[str]:
    """Yield a question about each rare label whose name is nearly that of a common one.

    Args:
        given: the numbers of all given labels, NaN for none.
    """
    counts = np.bincount(given[~np.isnan(given)].astype(int), minlength=len(labels))
    often = zip(labels, counts, strict=True)
    usual = {label.lower(): label for label, count in often if count >= USUAL}
    for label, count in zip(labels, counts.tolist(), strict=True):
        nearest = get_close_matches(label.lower(), usual, n=1, cutoff=ALIKE)
        if 0 < count <= MISSPELLED and nearest:
            times = "once" if count == 1 else "twice"
            yield f"“{label}” was given {times}. Is it “{usual[nearest[0]]}”?"


def _judge_result(
    judge: JudgeLike,
    labels: tuple[str, ...],
    units: Any,
    human: FloatArray,
    scores: FloatArray,
    nulls: Mapping[str, FloatArray],
    alpha: Estimate,
    compared: int,
    least: float,
) -> LabelJudge:
    count = len(labels)
    filled = missing_as_wrong_labels(human, scores, count)
    return LabelJudge(
        judge.pk,
        judge.label,
        labels,
        label_figures(units, human, scores, count),
        {
            title: label_kappa_lead(units, human, scores, null, count)
            for title, null in nulls.items()
        },
        alpha,
        int((~np.isnan(human) & np.isnan(scores)).sum()),
        int(units.documents_with(~np.isnan(human + scores)).sum()),
        compared,
        None if filled is None else label_figures(units, human, filled, count),
        least,
    )


def _number(kappa: Estimate) -> float:
    return -1.0 if kappa.value is None else kappa.value


def _confused(ratings: Any, labels: tuple[str, ...]) -> tuple[tuple[str, str, int], ...]:
    """Return the labels that people gave the same outputs, the most frequent first."""
    pairs = confused_by_people(ratings, len(labels))
    confused = [
        (labels[first], labels[second], int(pairs[first, second]))
        for first in range(len(labels))
        for second in range(first + 1, len(labels))
        if pairs[first, second]
    ]
    return tuple(sorted(confused, key=lambda pair: -pair[2])[:MOST_CONFUSED])
