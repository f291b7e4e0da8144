"""The result of `geval.measure`: verdicts with their numbers, as text, HTML, JSON and tables."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from html import escape
from typing import Any

from geval.files.unused import UnusedColumn, unused_in_lines
from geval.measuring.gathering import Criterion, Gathered, ImportedJudge
from geval.measuring.inputs import InputError
from geval.measuring.matching import unmatched
from geval.reports.at_a_glance import AtAGlance, VerdictRow, at_a_glance
from geval.reports.by_field import (
    FieldError,
    FieldResult,
    agreement_by_field,
    by_field_as_dict,
    values_of_outputs,
)
from geval.reports.cautions import all_cautions
from geval.reports.downloads.report_json import as_json
from geval.reports.expert_words import found_and_kept, with_brackets
from geval.reports.gaps import Gaps, gaps_of
from geval.reports.label_results import LabelsResult
from geval.reports.report import CriterionResult, JudgeResult, Report
from geval.reports.verdicts.verdict import Verdict, exit_code_of
from geval.reports.words import (
    as_closely,
    count_scored,
    expert_note,
    groups_note,
    headline,
    sessions_note,
)
from geval.statistics.labels import LabelFigures
from geval.statistics.pass_fail import PassFail
from geval.statistics.scales import Scale
from geval.statistics.shares import ShareEstimate
from geval.texts.numbers import (
    counted,
    in_brackets,
    label_or_number,
    shown,
    signed,
    thin,
    two_decimals,
    whole_percent,
)
from geval.texts.sentences import excerpt

WORST = 3
# Beside the best judge, so that a criterion stays on one screen; JSON has all.
MOST_OTHERS = 6
# With its indentation a line fits in a terminal.
EXCERPT = 72
NO_TEXTS = (
    "No texts were given, so whether length alone would do as well was not tried: name the column"
    " of outputs (output=…, --output …), or pass a file with them, too."
)


@dataclass(frozen=True)
class Disagreement:
    """An output on which a judge and people differ; `gap` is the judge's score minus the human
    score, in points of the criterion's scale. Labels without an order are words, and their gap is
    1."""

    criterion: str
    judge: str
    document: str
    system: str
    people: float | str
    score: float | str
    gap: float
    text: str
    is_only_system: bool = False

    @property
    def output(self) -> str:
        """The output's description."""
        return self.document if self.is_only_system else f"{self.system} on {self.document}"


@dataclass(frozen=True)
class Caution:
    """What a reader must know about a judge's numbers, or about raters'; `about` names them."""

    criterion: str
    about: str
    text: str


@dataclass(frozen=True)
class CriterionMeasure:
    """A criterion: what the best judge may do, and its numbers. Undefined numbers are None:
    `reason` says why there is no judge, `no_interval` why rho has no interval; `pass_fail` compares
    the judge's verdicts with people's where the scale has two points, and `labels` its labels."""

    criterion: str
    verdict: Verdict
    judge: str | None
    rho: float | None
    interval: tuple[float, float] | None
    no_interval: str
    one_rater: float | None
    share_of_one_rater: float | None
    best_null: str
    best_null_rho: float | None
    alpha: float | None
    outputs: int
    raters: int
    reason: str
    pass_fail: PassFail | None = None
    labels: LabelFigures | None = None

    @property
    def accuracy(self) -> float | None:
        """Pass or fail, or labels: the share of outputs with the same one."""
        if self.labels:
            return self.labels.accuracy.estimate.value
        return _shares_of(self.pass_fail).get("accuracy")

    @property
    def kappa(self) -> float | None:
        """Pass or fail, or labels: Cohen's kappa."""
        if self.labels:
            return self.labels.kappa.estimate.value
        return _shares_of(self.pass_fail).get("kappa")

    @property
    def sensitivity(self) -> float | None:
        """Pass or fail: the share of people's fails that the judge fails."""
        return _shares_of(self.pass_fail).get("sensitivity")

    @property
    def specificity(self) -> float | None:
        """Pass or fail: the share of people's passes that the judge passes."""
        return _shares_of(self.pass_fail).get("specificity")


@dataclass(frozen=True)
class Measurement:
    """Which judge may rate which criteria, from ratings and scores.

    `str()` is one screen of text; a notebook shows the verdicts with drawings of their intervals.
    `unused` lists the columns of files that were not used, and `fields` has the documents' values
    of fields by which to measure.
    """

    report: Report
    gathered: Gathered
    unused: tuple[UnusedColumn, ...] = ()
    fields: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @cached_property
    def criteria(self) -> tuple[CriterionMeasure, ...]:
        """Each criterion, the strongest verdict first."""
        results = {result.criterion: result for result in self.report.criteria}
        ordered = [_measure_of(row, results[row.criterion]) for row in self._glance.rows]
        measures = [*ordered, *map(_measure_of_labels, self.labels)]
        return tuple(sorted(measures, key=lambda measure: measure.verdict.place))

    @property
    def labels(self) -> tuple[LabelsResult, ...]:
        """The criteria of labels without an order."""
        return self.report.labels

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of all criteria, which holds for each of them."""
        verdicts = [criterion.verdict for criterion in self.criteria]
        return max(verdicts, key=lambda verdict: verdict.place, default=Verdict.TOO_EARLY)

    @property
    def exit_code(self) -> int:
        """0 if a judge is usable on every criterion, 1 if not on some, 2 if undecided."""
        return exit_code_of([criterion.verdict for criterion in self.criteria])

    @cached_property
    def _glance(self) -> AtAGlance:
        return at_a_glance(self.report)

    def criteria_named(self, name: str) -> tuple[CriterionMeasure, ...]:
        """Return the criterion with a name; all for an empty name.

        Raises:
            InputError: there is none.
        """
        chosen = [
            each for each in self.criteria if not name or each.criterion.lower() == name.lower()
        ]
        if not chosen:
            names = ", ".join(each.criterion for each in self.criteria) or "none"
            raise InputError(
                f"There is no criterion {name!r} with ratings and scores (there are: {names})."
            )
        return tuple(chosen)

    def ordered_criteria(self, name: str) -> tuple[CriterionMeasure, ...]:
        """Return the same, of criteria whose scale has an order.

        Raises:
            InputError: there is none of that name, or it has labels without an order.
        """
        chosen = self.criteria_named(name)
        names = {row.criterion for row in self._glance.rows}
        ordered = tuple(each for each in chosen if each.criterion in names)
        if not ordered:
            raise InputError(
                f"The labels of {chosen[0].criterion} have no order; this needs ratings, or words"
                " with order=[…]."
            )
        return ordered

    def _row_of(self, criterion: str | None) -> VerdictRow:
        name = self.ordered_criteria(criterion or "")[0].criterion
        return next(row for row in self._glance.rows if row.criterion == name)

    def judge_named(self, name: str) -> ImportedJudge:
        """Return the judge with a name.

        Raises:
            InputError: there is none.
        """
        judges = {judge.name: judge for judge in self.gathered.judges}
        if name not in judges:
            raise InputError(f"There is no judge {name!r} (there are: {', '.join(judges)}).")
        return judges[name]

    @cached_property
    def cautions(self) -> tuple[Caution, ...]:
        """Return cautions about numbers that seem to contradict each other or to promise too much,
        for all judges."""
        return tuple(
            Caution(result.criterion, about, text)
            for result in self.report.criteria
            for about, text in all_cautions(result)
        )

    @cached_property
    def by_field(self) -> tuple[FieldResult, ...]:
        """The best judge of each criterion by the values of each field."""
        return tuple(
            self.agreement_by(name, pk, judge)
            for name in self.fields
            for pk, judge in self._best_judges()
        )

    def _best_judges(self) -> list[tuple[int, int]]:
        """Return the numbers of the criteria that have a judge, and of the best of each."""
        ordered = [(row.pk, row.judge.pk) for row in self._glance.rows if row.judge]
        return ordered + [(each.pk, each.best.pk) for each in self.labels if each.best]

    def agreement_by(self, name: str, criterion: int, judge: int) -> FieldResult:
        """Return a judge on a criterion, both by number, by a field's values.

        Raises:
            InputError: the field has too many values.
        """
        about = next(each for each in self.gathered.criteria if each.pk == criterion)
        of = next(each for each in self.gathered.judges if each.pk == judge)
        options = self.report.options
        data = self.gathered.data.selected(options)
        try:
            return agreement_by_field(data, about, of, name, self.values_of(name), options)
        except FieldError as error:
            raise InputError(str(error)) from None

    def values_of(self, name: str) -> tuple[str, ...]:
        """Return each output's value of a field, "" for none.

        Raises:
            InputError: the field was not named.
        """
        if name not in self.fields:
            raise InputError(f"There is no field {name!r} here; measure with by={name!r}.")
        return values_of_outputs(self.gathered.data, name, self.fields[name])

    def disagreements(
        self, most: int = WORST, *, criterion: str | None = None, judge: str | None = None
    ) -> list[Disagreement]:
        """Return the outputs on which a judge and people differ most, the largest gap first.

        Args:
            criterion: by default all of them, with `most` of each.
            judge: by default the best one of each criterion.

        Raises:
            InputError: there is no such criterion or judge.
        """
        names = {each.criterion for each in self.criteria_named(criterion or "")}
        best = {row.criterion: row.judge.name if row.judge else "" for row in self._glance.rows}
        best |= {row.criterion: row.judge for row in self._glance.of_labels}
        criteria = {each.name: each for each in self.gathered.criteria}
        return [
            disagreement
            for name, best_judge in best.items()
            if name in names
            for disagreement in self._disagreements_on(criteria[name], judge or best_judge, most)
        ]

    def _disagreements_on(self, criterion: Criterion, judge: str, most: int) -> list[Disagreement]:
        gaps = self._gaps(criterion, judge)
        largest = [index for index in gaps.order[:most].tolist() if gaps.gap[index]]
        return [self._disagreement(criterion, judge, gaps, index) for index in largest]

    def _gaps(self, criterion: Criterion, judge: str) -> Gaps:
        pk = self.judge_named(judge).pk if judge else 0
        return gaps_of(self.gathered.data, criterion, pk, by="gap")

    def _disagreement(self, criterion: Criterion, judge: str, gaps: Gaps, at: int) -> Disagreement:
        scale, place = criterion.scale, int(gaps.at[at])
        people, score = float(gaps.people[at]), float(gaps.scores[at])
        document, system = self.gathered.data.name_of(place)
        return Disagreement(
            criterion.name,
            judge,
            document,
            system,
            scale.label_at(people) or people,
            scale.label_at(score) or score,
            float(gaps.gap[at]),
            self.gathered.texts[place],
            is_only_system=len(self.gathered.data.system_names) == 1,
        )

    def to_json(self) -> str:
        """Return everything, in the form of `report --format json`."""
        return as_json(self.report)

    def to_whole_json(self) -> str:
        """Return the same with `unused`, what of the files was not used, and `by_field`, if
        anything."""
        beside: dict[str, Any] = {}
        if self.unused:
            beside["unused"] = [asdict(column) for column in self.unused]
        if self.fields:
            beside["by_field"] = [by_field_as_dict(result) for result in self.by_field]
        if not beside:
            return self.to_json()
        return json.dumps(self.to_dict() | beside, indent=2, ensure_ascii=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as `to_json`, as a dictionary."""
        content: dict[str, Any] = json.loads(self.to_json())
        return content

    def to_records(self) -> list[dict[str, Any]]:
        """Return a row for each criterion and judge, without pandas."""
        of_labels = [
            {
                "criterion": result.criterion,
                "judge": judge.judge,
                "is_best": judge is result.best,
                "verdict": judge.verdict.label,
                "outputs": judge.figures.outputs,
                "missing": judge.missing,
                "accuracy": judge.figures.accuracy.estimate.value,
                "kappa": judge.figures.kappa.estimate.value,
            }
            for result in self.labels
            for judge in result.judges
        ]
        ordered = [
            record for result in self.report.criteria for record in _records(result, self.report)
        ]
        return ordered + of_labels

    def to_frame(self) -> Any:
        """Return the same rows as a pandas data frame.

        Raises:
            ImportError: pandas is not installed; `to_records` needs none.
        """
        import pandas as pd  # noqa: PLC0415 (not everybody has it)

        return pd.DataFrame(self.to_records())

    def plot(self, criterion: str | None = None) -> "Picture":
        """Draw the forest plot of a criterion: one rater, the judges and null judges on one axis.
        By default of the criterion with the strongest verdict.

        Raises:
            InputError: there is no such criterion.
        """
        from geval.measuring.pictures import forest_of  # noqa: PLC0415

        return Picture(forest_of(self._glance.axis, self._row_of(criterion)))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on what was not tested, which names never meet, what could not be read, and
        what is grouped."""
        texts = () if any(self.gathered.texts) else (NO_TEXTS,)
        sessions = (sessions_note(self.report),) if self.report.sessions else ()
        groups = (groups_note(self.report),) if self.report.groups else ()
        others = (f"{line[:1].upper()}{line[1:]}." for line in unused_in_lines(self.unused))
        return (
            *texts,
            *unmatched(self.gathered),
            *self.gathered.notes,
            *sessions,
            *groups,
            *others,
        )

    @property
    def headline(self) -> str:
        """Return what a judge may rate, in a sentence or two."""
        sentences = headline(self.report.criteria, self.labels)
        return " ".join(sentences) or "Too early to say what a judge may rate."

    def __str__(self) -> str:
        if not self._glance.rows and not any(each.judges for each in self.labels):
            nothing = (
                "No criterion has both ratings and scores, so nothing can be measured. Name the"
                " columns of both: human and judge."
            )
            return "\n\n".join([nothing, *unmatched(self.gathered), *self.gathered.notes])
        parts = [self.headline, ""]
        results = {result.pk: result for result in self.report.criteria}
        measures = {measure.criterion: measure for measure in self.criteria}
        for row in self._glance.rows:
            measure = measures[row.criterion]
            parts += _lines_of(row, measure, results[row.pk])
            parts += [
                f"  {answers}"
                for answers in self.report.not_applicable
                if row.judge
                and (answers.criterion, answers.judge) == (row.criterion, row.judge.name)
            ]
            parts += [
                f"  {answers}"
                for answers in self.report.not_applicable_to_people
                if answers.criterion == row.criterion
            ]
            if row.judge:
                others = {each.judge for each in results[row.pk].judges} - {row.judge.name}
                parts += [
                    f"  Caution: {caution.text}"
                    for caution in self.cautions
                    if caution.criterion == row.criterion and caution.about not in others
                ]
        for of_labels in self.labels:
            parts += [str(of_labels)]
        for result in self.by_field:
            parts += ["", str(result)]
        for note in filter(None, (expert_note(self.report), *self.notes)):
            parts += ["", note]
        rows = self._glance.rows
        names = [row.criterion for row in rows] + [row.criterion for row in self._glance.of_labels]
        first = names[0] if names else ""
        gaps = self.disagreements(criterion=first) if first else []
        parts += ["", f"Largest disagreements, {first}:"] if gaps else []
        scale = next((each.scale for each in self.gathered.criteria if each.name == first), None)
        parts += [
            f"  {'' if isinstance(gap.people, str) else signed(gap.gap):>6}  people"
            f" {_answer(gap.people, scale)},"
            f" {gap.judge} {_answer(gap.score, scale)}: {gap.output}"
            + (f"\n          {excerpt(gap.text, EXCERPT)}" if gap.text else "")
            for gap in gaps
        ]
        return "\n".join([*parts, *(["", f"Next: {next_step(rows)}"] if rows else [])])

    # In a notebook or a shell, a result is read, not its fields.
    __repr__ = __str__

    def _repr_html_(self) -> str:
        from geval.measuring.pictures import forest_of  # noqa: PLC0415

        rows = "".join(
            f"<tr><th>{escape(row.criterion)}</th><td>{escape(row.verdict.label)}</td>"
            f"<td>{escape(row.judge.name if row.judge else '–')}</td>"
            f"<td>{_shares_of_row(row) or forest_of(self._glance.axis, row)}</td>"
            f"<td>{escape(row.reading)}</td></tr>"
            for row in self._glance.rows
        ) + "".join(
            f"<tr><th>{escape(each.criterion)}</th><td>{escape(each.verdict.label)}</td>"
            f"<td>{escape(each.best.judge)}</td><td>kappa"
            f" {escape(with_brackets(each.best.figures.kappa))}</td>"
            f"<td>{escape(each.best.reading)}</td></tr>"
            for each in self.labels
            if each.best
        )
        are_ranks = any(not row.shares for row in self._glance.rows)
        of = "rho beside one rater" if are_ranks else "Agreement"
        head = "".join(
            f"<th>{name}</th>" for name in ("Criterion", "Verdict", "Best judge", of, "Why")
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, which a notebook draws."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg


def _shares_of_row(row: VerdictRow) -> str:
    """Return what is required of a judge by labels, as HTML; empty for correlations."""
    return "<br>".join(
        escape(f"{share.name} {share.value} {share.interval}".rstrip()) for share in row.shares
    )


def next_step(rows: Sequence[VerdictRow]) -> str:
    """Return the next thing to do, for the first criterion that needs something."""
    for row in rows:
        judge = row.judge.name if row.judge else "the judge"
        if row.level_to_try:
            return (
                f"on {row.criterion}, documents have one output each; pass"
                f" level={row.level_to_try!r}."
            )
        if row.verdict == Verdict.TOO_EARLY and (row.shares or not row.missing_outputs):
            return row.caution if row.shares else row.reading
        if row.verdict == Verdict.KEEP_EXPERT and not row.is_held_back:
            return f"read the outputs on which {judge} and your expert differ on {row.criterion}."
        if row.shares and row.caution:
            return f"on {row.criterion}, {row.caution[:1].lower()}{row.caution[1:]}"
        if row.verdict == Verdict.NO_MEASURE and row.has_reversed_rater:
            return row.caution
        if row.verdict == Verdict.NO_MEASURE:
            return f"make the definition of {row.criterion} clearer, and rate again."
        if row.missing_outputs:
            return f"rate {row.missing_outputs} more outputs on {row.criterion}."
        if row.spot_checks:
            return f"let people check {row.spot_checks} new outputs on {row.criterion}."
        if row.verdict == Verdict.KEEP_PEOPLE:
            return f"read the outputs on which {judge} and people differ most on {row.criterion}."
    return "let the judge score outputs that nobody rated."


def _measure_of(row: VerdictRow, result: CriterionResult) -> CriterionMeasure:
    best = result.best
    ends = result.interval_of(best).ends if best else None
    nulls = [null for null in result.shown_nulls if null.correlation.value is not None]
    null = max(nulls, key=lambda each: each.correlation.value or -1.0, default=None)
    return CriterionMeasure(
        criterion=row.criterion,
        verdict=row.verdict,
        judge=best.judge if best else None,
        rho=best.shown(result.options).value if best else None,
        interval=(float(ends[0]), float(ends[1])) if ends else None,
        no_interval=best.analysis.shown.reason if best and not ends else "",
        one_rater=result.ceiling.value,
        share_of_one_rater=result.share_of_ceiling(best) if best else None,
        best_null=null.title if null else "",
        best_null_rho=null.correlation.value if null else None,
        alpha=result.agreement.alpha["interval"].value,
        outputs=result.rated_outputs,
        raters=len(result.annotators),
        reason=row.reading,
        pass_fail=best.analysis.passing if best else None,
    )


def _measure_of_labels(result: LabelsResult) -> CriterionMeasure:
    best = result.best
    return CriterionMeasure(
        criterion=result.criterion,
        verdict=result.verdict,
        judge=best.judge if best else None,
        rho=None,
        interval=None,
        no_interval="labels have no order",
        one_rater=None,
        share_of_one_rater=None,
        best_null="",
        best_null_rho=None,
        alpha=result.alpha.value,
        outputs=result.outputs,
        raters=result.raters,
        reason=best.reading if best else "",
        labels=best.figures if best else None,
    )


def _lines_of(row: VerdictRow, measure: CriterionMeasure, result: CriterionResult) -> list[str]:
    judge = row.judge
    head = f"{row.criterion}: {row.verdict.label}" + (f" ({judge.name})" if judge else "")
    numbers = []
    if judge:
        ends = judge.interval or (measure.no_interval and f"(no interval: {measure.no_interval})")
        passing = result.best.analysis.passing if result.best else None
        if not passing:
            numbers.append(f"rho {judge.value} {ends}".rstrip())
        elif not row.passing:
            # With several raters the verdict goes by what one of them reaches, below.
            numbers.append(found_and_kept(passing))
        numbers += [f"{share.name} {share.value} {share.interval}".rstrip() for share in row.shares]
    if row.rater and result.best and not row.passing:
        # Both with the mean of the other raters; rho is with the mean of all, which is easier.
        place = shown(result.evidence(result.best).in_place)
        rater = f"one rater {row.rater.value} {row.rater.interval}".rstrip()
        numbers.append(f"in a rater's place {place}, {rater}")
    if measure.best_null_rho is not None and not row.passing:
        numbers.append(
            f"best that reads nothing {two_decimals(measure.best_null_rho)} ({measure.best_null})"
        )
    agreement = (
        "" if measure.alpha is None else f"; raters agree with alpha {two_decimals(measure.alpha)}"
    )
    raters = counted(measure.raters, "person", "people")
    about = f"{row.total_of}; " if row.total_of else ""
    counts = f"{about}{counted(row.outputs, 'output')} rated by {raters}{agreement}"
    lines = [head, f"  {'; '.join(numbers)}", f"  {counts}"]
    if result.best and result.best.repeats:
        lines.append(f"  {_changes(result.best.judge, result.best.repeats)}")
    if measure.pass_fail:
        lines.append(f"  {_verdicts_of(measure.pass_fail)}")
    # The reading of the strongest verdict has the second criterion already.
    sentences = (row.caution, as_closely(result)) if row.caution else (row.reading,)
    lines += [f"  {' '.join(filter(None, sentences))}"] if any(sentences) else []
    scored = count_scored(result.evidence(result.best)) if result.best else ""
    lines += [f"  {scored}."] if scored and scored not in "".join(sentences) else []
    others = (judge for judge in result.judges if judge is not result.best)
    ordered = sorted(others, key=result.compared_by, reverse=True)[:MOST_OTHERS]
    return lines + [_line_of(judge, result) for judge in ordered]


def _answer(value: float | str, scale: Scale | None) -> str:
    """Return a rating or score as on pass or fail, or as it is."""
    if scale and scale.is_pass_fail and value in scale.points:
        return "pass" if value == scale.highest else "fail"
    return label_or_number(value)


def _changes(judge: str, repeats: ShareEstimate) -> str:
    """Return on how many outputs a judge that scored them again gave another score."""
    same = repeats.estimate.value
    if same is None:
        return f"{judge} scored no output twice"
    ends = repeats.interval.ends
    between = f" [{whole_percent(1 - ends[1])}, {whole_percent(1 - ends[0])}]" if ends else ""
    outputs = counted(repeats.outputs, "output")
    return f"{judge} changes its answer on {whole_percent(1 - same)}{between} of {outputs}"


def _verdicts_of(verdicts: PassFail) -> str:
    """Return how a judge's verdicts match people's, beside what always saying the same would."""
    alike = verdicts.both_pass + verdicts.both_fail
    parts = [
        f"same verdict on {thin(alike)} of {thin(verdicts.outputs)}"
        f" ({whole_percent(alike / verdicts.outputs)}; the most common one alone"
        f" {whole_percent(verdicts.majority.share)})",
        f"passes {verdicts.false_pass} of {verdicts.false_pass + verdicts.both_fail} that people"
        " fail",
        f"fails {verdicts.false_fail} of {verdicts.false_fail + verdicts.both_pass} that they pass",
    ]
    if verdicts.kappa.estimate.value is not None:
        interval = in_brackets(verdicts.kappa.interval)
        parts.append(f"kappa {two_decimals(verdicts.kappa.estimate.value)} {interval}".rstrip())
    return "; ".join(parts)


def _line_of(judge: JudgeResult, result: CriterionResult) -> str:
    """Return another judge's verdict and agreement."""
    analysis = judge.analysis
    if analysis.passing:
        agreement = found_and_kept(analysis.passing)
    elif result.has_expert:
        agreement = f"weighted kappa {with_brackets(analysis.kappa)}"
    else:
        agreement = (
            f"rho {shown(judge.shown(result.options))} {in_brackets(result.interval_of(judge))}"
        )
    line = f"  {judge.judge}: {result.verdict_on(judge).label}, {agreement}".rstrip()
    scored = count_scored(result.evidence(judge))
    return f"{line}; {scored}" if scored else line


def _shares_of(verdicts: PassFail | None) -> dict[str, float | None]:
    """Return the figures of pass or fail; none on other scales."""
    if verdicts is None:
        return {}
    return {name: share.estimate.value for name, share in verdicts.by_name.items()}


def _records(result: CriterionResult, report: Report) -> list[dict[str, Any]]:
    options = report.options
    return [
        {
            "criterion": result.criterion,
            "judge": judge.judge,
            "is_best": result.best is not None and judge.pk == result.best.pk,
            "verdict": result.verdict_on(judge).label,
            options.coefficient: judge.shown(options).value,
            "low": result.interval_of(judge).low,
            "high": result.interval_of(judge).high,
            "one_rater": result.ceiling.value,
            "share_of_one_rater": result.share_of_ceiling(judge),
            "documents": judge.correlations.documents,
            "outputs": judge.correlations.pairs,
            "missing": judge.missing,
            **_shares_of(judge.analysis.passing),
        }
        for judge in result.judges
    ]


def refuse_other(measured: object) -> None:
    """Refuse what `geval.measure` did not return.

    Raises:
        TypeError: it is something else, such as the name of a file.
    """
    if not isinstance(measured, Measurement):
        kind = type(measured).__name__
        raise TypeError(f"Pass what geval.measure returns, not {kind}: geval.measure(…) first.")
