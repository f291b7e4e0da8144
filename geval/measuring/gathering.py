"""Convert rows of files to the arrays from which a report is computed."""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, groupby

import numpy as np

from geval.files import contradictions
from geval.files.fields import top_in
from geval.files.rows import (
    JudgeScoreRow,
    NotApplicableRow,
    OutputRow,
    PreferenceRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
    ShareRow,
)
from geval.files.value_summary import (
    CutTexts,
    RaterNotes,
    ValueSummary,
    guess_of_values,
    note_on_two_values,
    notes_on_names,
)
from geval.files.word_ratings import WordNotes, remedy_of_words
from geval.llm.presets import ready_scales
from geval.measuring.inputs import InputError
from geval.measuring.series import RatingSeries, ScoreSeries
from geval.reports.data import DocumentName, ReportData, in_order
from geval.reports.human_scores import HumanScores, Rater, Sampled, human_scores_of
from geval.reports.leaderboard import ComparedSystems
from geval.reports.pairwise import PairVerdict
from geval.reports.rubric_totals import fill_totals_of_judge, fill_totals_of_people
from geval.statistics.arrays import Outputs
from geval.statistics.bias import Family
from geval.statistics.expert_bar import USUAL_BAR, ExpertBar
from geval.statistics.labels import most_frequent_point
from geval.statistics.repeatability import scores_of_repeats, share_that_repeats
from geval.statistics.rubrics import Rubric, RubricItem
from geval.statistics.scales import (
    FARTHEST,
    Scale,
    ScaleGuess,
    parted_guess,
    usual_scale_for,
)
from geval.statistics.shares import ShareEstimate
from geval.statistics.types import Consensus, FloatArray, tie_close_values
from geval.texts.lengths import count_words
from geval.texts.numbers import counted
from geval.texts.sentences import did_you_mean, listed

# The kind of systems, which files do not state.
OTHER = "other"
# Of a judge's replies, at most this share may be off the scale.
MOST_OFF_SCALE = 0.1
# The scale of criteria with comparisons only; a site's default, on which no number depends.
WITHOUT_VALUES = Scale(1, 5)


@dataclass(frozen=True)
class Criterion:
    """A criterion of files: its position from 1, its name and its scale."""

    pk: int
    name: str
    scale: Scale
    bar: ExpertBar = USUAL_BAR


@dataclass(frozen=True)
class ImportedJudge:
    """A judge whose scores were computed elsewhere."""

    pk: int
    name: str
    model: str = ""
    family: str = ""
    is_stand_in: bool = False
    compares_pairs: bool = False

    @property
    def label(self) -> str:
        return self.name


@dataclass
class _Values:
    """Ratings, or a judge's scores, on a criterion: with indexes of outputs and raters. `stated`
    are the probabilities with which outputs were chosen, by index."""

    output: "array[int]" = field(default_factory=lambda: array("i"))
    rater: "array[int]" = field(default_factory=lambda: array("i"))
    value: "array[float]" = field(default_factory=lambda: array("d"))
    seen: ValueSummary = field(default_factory=ValueSummary)
    stated: dict[int, float] = field(default_factory=dict)

    def note_strays(self, guess: ScaleGuess, name: str) -> Iterator[str]:
        """Return a note about ratings off the scale of the others, which may be typing errors."""
        if guess.off:
            strays = sum(self.seen.counts[score] for score in guess.off)
            yield contradictions.stray(
                guess.off[0],
                guess,
                name,
                others=self.seen.total - strays,
                wider=f"pass the scale {usual_scale_for(self.seen.range)}",
            )


@dataclass
class _Replies:
    """The number of a judge's replies on a criterion, how many have no rating, and why the first of
    these has none."""

    total: int = 0
    unread: int = 0
    why: str = ""
    off_scale: int = 0


class Gatherer:
    """Collects rows. Documents, systems, raters, judges and criteria are numbered in order of first
    occurrence, in which a site stores them."""

    def __init__(self) -> None:
        self.documents: dict[str, int] = {}
        self.systems: dict[str, int] = {}
        self.outputs: dict[tuple[int, int], int] = {}
        self.texts: dict[int, str] = {}
        self.raters: dict[str, Rater] = {}
        self.judges: dict[str, int] = {}
        self.criteria: dict[str, str] = {}  # by lower-case name
        self.ratings: dict[str, _Values] = {}
        self.scores: dict[tuple[str, int], _Values] = {}
        self.preferences: list[PreferenceRow] = []
        self.replies: list[RepliesRow] = []
        self.replies_of: dict[tuple[str, str], _Replies] = {}
        # By criterion and judge, and output.
        self.distributions: dict[tuple[str, int], dict[int, Mapping[float, float]]] = {}
        self.strays: list[str] = []
        self.words = WordNotes()
        self.cut_texts = CutTexts()
        self.rater_notes = RaterNotes()
        # Sessions of documents by index: from their outputs, and from other rows.
        self.sessions: dict[int, str] = {}
        self.sessions_beside: dict[int, str] = {}
        # Outputs to which a criterion does not apply, by criterion and judge; "" for people.
        # Criterion and judge, "" for people -> output -> who said so.
        self.not_applicable: dict[tuple[str, str], dict[int, set[str]]] = {}
        # Groups of documents by index.
        self.groups: dict[int, str] = {}

    def add(self, row: Row) -> None:
        """Add a row; turns of conversations are ignored, as no number depends on them."""
        if isinstance(row, OutputRow):
            index = self._of(row)
            self.texts[index] = row.output
            self.cut_texts.add(row, "the outputs")
            self._add_session(self.sessions, row)
            if row.group:
                self._add_group(row)
        elif isinstance(row, RatingRow | JudgeScoreRow):
            if row.word:
                self.words.add(row)
            if isinstance(row, RatingRow):
                self._add_rating(row)
            else:
                self._add_score(row)
        elif isinstance(row, NotApplicableRow):
            judge = row.rater if row.by_judge else ""
            said = self.not_applicable.setdefault((row.criterion.lower(), judge), {})
            said.setdefault(self._of(row), set()).add(row.rater)
        elif isinstance(row, PreferenceRow):
            # Its turn is recognised by the names of outputs, which may still follow.
            self.preferences.append(row)
            if row.by_judge:
                self._judge(row.annotator)
            else:
                self._rater(row.annotator)
            if row.criterion:
                self._criterion(row.criterion)
        elif isinstance(row, RepliesRow):
            # Parsed later, when the criterion's scale is known.
            self.replies.append(row)
            self._of(row)
            self._judge(row.judge)
            self._criterion(row.criterion)

    def _output(self, document: str, system: str) -> int:
        index = (
            self.documents.setdefault(document, len(self.documents)),
            self.systems.setdefault(system, len(self.systems)),
        )
        return self.outputs.setdefault(index, len(self.outputs))

    def _of(self, row: OutputRow | ScoreRow | RepliesRow | NotApplicableRow) -> int:
        return self._output(row.doc_id or row.source, row.system_id)

    def _add_session(self, sessions: dict[int, str], row: OutputRow | ScoreRow) -> None:
        document = self.documents[row.doc_id or row.source]
        earlier = sessions.get(document)
        if earlier and row.session and earlier != row.session:
            raise InputError(
                f"Line {row.line}: document {row.doc_id or row.source} is a turn of"
                f" {row.session}, and of {earlier} before; a document has only one session_id."
            )
        sessions[document] = row.session or earlier or ""

    def _add_group(self, row: OutputRow | ScoreRow) -> None:
        document = self.documents[row.doc_id or row.source]
        earlier = self.groups.setdefault(document, row.group)
        if earlier != row.group:
            raise InputError(
                f"Line {row.line}: document {row.doc_id or row.source} is in group {row.group},"
                f" and in {earlier} before; a document has only one group."
            )

    def documents_in_order(self) -> list[DocumentName]:
        """Return the documents in a report's order. The session comes from
        ratings and scores if a document has no output in any file, or if no output states a
        session.

        Raises:
            InputError: they contradict the outputs of a document.
        """
        by_outputs = self.sessions if any(self.sessions.values()) else {}
        for name, index in self.documents.items():
            beside, session = self.sessions_beside.get(index), by_outputs.get(index)
            if beside and session is not None and session != beside:
                raise InputError(
                    f"Document {name} is a turn of {beside} beside its ratings or scores, and of"
                    f" {session or 'no session'} beside its outputs: give both the same session_id."
                )
        sessions = self.sessions_beside | by_outputs
        return in_order(
            DocumentName(index, name, sessions.get(index, ""), self.groups.get(index, ""))
            for name, index in self.documents.items()
        )

    def _criterion(self, name: str) -> str:
        self.criteria.setdefault(name.lower(), name)
        return name.lower()

    def _rater(self, name: str, *, is_mean: bool = False) -> Rater:
        return self.raters.setdefault(name, Rater(len(self.raters) + 1, name, is_mean=is_mean))

    def number_of_rater(self, name: str) -> int:
        return self._rater(name).pk

    def _judge(self, name: str) -> int:
        return self.judges.setdefault(name, len(self.judges) + 1)

    def pairs_of(self, row: PreferenceRow) -> tuple[int, int]:
        """Return the outputs of a comparison. A first turn may have the name of its question."""
        named = f"{row.doc_id}__{row.turn}" if row.turn else row.doc_id
        systems = [self.systems.get(system, -1) for system in (row.first, row.second)]
        is_there = all(
            (self.documents.get(named, -1), system) in self.outputs for system in systems
        )
        if row.turn == "1" and not is_there:
            named = row.doc_id
        return self._output(named, row.first), self._output(named, row.second)

    def _add_rating(self, row: RatingRow) -> None:
        rater = self._rater(row.rater, is_mean=row.is_mean)
        values = self.ratings.setdefault(self._criterion(row.criterion), _Values())
        index = self._of(row)
        if row.session:
            self._add_session(self.sessions_beside, row)
        if row.group:
            self._add_group(row)
        if row.probability is not None:
            values.stated[index] = row.probability
        values.output.append(index)
        values.rater.append(rater.pk - 1)
        values.value.append(row.score)
        values.seen.add(row.score)
        self.rater_notes.add(row)
        values.seen.top = top_in(row.word) or values.seen.top

    def _add_score(self, row: JudgeScoreRow) -> None:
        judge = self._judge(row.rater)
        about = self._criterion(row.criterion) if row.criterion else ""
        values = self.scores.setdefault((about, judge), _Values())
        values.output.append(self._of(row))
        if row.session:
            self._add_session(self.sessions_beside, row)
        if row.group:
            self._add_group(row)
        values.value.append(row.score)
        values.seen.add(row.score)

    def add_series(self, several: Sequence[RatingSeries | ScoreSeries]) -> None:
        """Add the series of a table, all at once, as outputs are numbered by its lines."""
        first = several[0].numbers
        counts = np.zeros(len(first.documents), dtype=bool)
        for each in several:
            counts[each.numbers.line] = True
        document, system = (
            [numbers.setdefault(name, len(numbers)) for name in compress(names, counts)]
            for numbers, names in ((self.documents, first.documents), (self.systems, first.systems))
        )
        pairs = zip(document, system, strict=True)
        output = np.zeros(len(counts), dtype=np.int32)
        output[counts] = [self.outputs.setdefault(pair, len(self.outputs)) for pair in pairs]
        for each in several:
            about = self._criterion(each.criterion) if each.criterion else ""
            own = each.numbers
            if isinstance(each, RatingSeries):
                rater = self._rater(each.rater).pk - 1
                values = self.ratings.setdefault(about, _Values())
                values.rater.frombytes(np.full(len(own.line), rater, dtype=np.int32).tobytes())
                self.rater_notes.seen_of(each.criterion, each.rater).add_all(own.value)
            else:
                values = self.scores.setdefault((about, self._judge(each.rater)), _Values())
            values.output.frombytes(output[own.line].tobytes())
            values.value.frombytes(own.value.tobytes())
            values.seen.add_all(own.value)

    def read_replies(self, criteria: Sequence[Criterion]) -> None:
        """Read the scores in judges' raw replies; replies without a rating are counted and give no
        score, as on a site.

        Raises:
            InputError: replies contradict a score that is given separately, or many are on another
                scale.
        """
        if not self.replies:
            return
        from geval.llm.released_replies import score_replies  # noqa: PLC0415 - rarely needed
        from geval.llm.scoring import Scored  # noqa: PLC0415

        scales = {criterion.name.lower(): criterion.scale for criterion in criteria}
        by_themselves = {
            key: dict(zip(values.output, values.value, strict=True))
            for key, values in self.scores.items()
        }
        for row in self.replies:
            about = row.criterion.lower()
            scored = score_replies(row.replies, scale=scales[about], criterion=row.criterion)
            outcome, unread = scored.outcome, scored.unread + scored.off_scale
            count = self.replies_of.setdefault((about, row.judge), _Replies())
            count.total += len(row.replies)
            count.unread += unread
            count.off_scale += scored.off_scale
            if unread and not count.why:
                count.why = (
                    outcome.note.partition(": ")[2]
                    if isinstance(outcome, Scored)
                    else outcome.detail
                )
            if isinstance(outcome, Scored):
                key, index = (about, self._judge(row.judge)), self._of(row)
                self.distributions.setdefault(key, {})[index] = outcome.distribution
                by_itself = by_themselves.get(key, {}).get(index)
                if by_itself is None:
                    values = self.scores.setdefault(key, _Values())
                    values.output.append(index)
                    values.value.append(outcome.value)
                elif not contradictions.are_same(outcome.value, by_itself):
                    document = row.doc_id or row.source
                    message = contradictions.of_scores(outcome.value, by_itself)
                    raise InputError(
                        f"Replies of {row.judge} to the output of {row.system_id} for"
                        f" {document}: {message}."
                    )
        for (about, judge), count in self.replies_of.items():
            # The rest alone would be another question: those few scores that happen to fit.
            if count.off_scale > MOST_OFF_SCALE * count.total:
                raise InputError(
                    f"{count.off_scale} of {count.total} replies of {judge} on"
                    f" {self.criteria[about]} are off its scale {scales[about]} ({count.why}). Put"
                    " the judge's numbers alone into a column: they may have a scale of their own."
                )

    def notes(self, scales: Mapping[str, Scale], stated: Collection[str]) -> Iterator[str]:
        """Return notes on words that were read as numbers, on ratings and scores off their scale,
        and on replies that could not be read.

        Args:
            scales: of criteria, by lower-case name.
            stated: the names of those that somebody stated.
        """
        for criterion, scale in scales.items():
            if not scale.is_ordered:
                self.words.forget(criterion)
                labels = list(scale.labels)
                ask = "one of them is a pass" if len(labels) == 2 else "they have one"
                yield (
                    f"Words on {self.criteria[criterion]} are labels without an order:"
                    f" {listed(labels)}. If {ask}, {remedy_of_words(len(labels))}."
                )
            elif criterion in self.ratings and criterion not in stated:
                yield from note_on_two_values(
                    self.criteria[criterion],
                    self.ratings[criterion].seen,
                    lambda *points: remedy_of_words(len(points)),
                )
            if scale.points == (0, 1) and scale.is_ordered:
                yield from self._notes_on_shares(criterion)
        yield from self.words
        for kind, names in (
            ("raters", self.raters), ("systems", self.systems), ("judges", self.judges),
        ):  # fmt: skip
            yield from notes_on_names(kind, names, ())
        yield from self.rater_notes
        yield from self.cut_texts
        yield from self.strays
        for (about, number), values in self.scores.items():
            counts = values.seen.counts
            if counts and (guess := parted_guess(counts, scales.get(about))):
                whose = f"{self.criteria.get(about, about)} by {list(self.judges)[number - 1]}"
                yield from values.note_strays(guess, whose)
        for (about, judge), count in self.replies_of.items():
            if count.unread:
                yield (
                    f"{count.unread} of {count.total} replies of {judge} on"
                    f" {self.criteria[about]} have no rating: {count.why}"
                )

    def _notes_on_shares(self, criterion: str) -> Iterator[str]:
        """Return notes on ratings between fail and pass, and on negative scores beside them."""
        seen = self.ratings[criterion].seen if criterion in self.ratings else ValueSummary()
        between = sum(count for value, count in seen.counts.items() if 0 < value < 1)
        if between:
            yield (
                f"{counted(between, 'rating')} on {self.criteria[criterion]} between 0 and 1: from"
                " 0.5 on these count as passes, the rest as fails. If they are on a scale of more"
                ' points, state its step: scale=(0, 1, 0.25) (--scale "0-1 step 0.25").'
            )
        for (about, number), values in self.scores.items():
            negative = sum(count for value, count in values.seen.counts.items() if value < 0)
            if about == criterion and negative:
                yield (
                    f"{counted(negative, 'score')} of {list(self.judges)[number - 1]} on"
                    f" {self.criteria[criterion]} below 0 count as fails. Where these stand for no"
                    " score, empty the cells."
                )


@dataclass(frozen=True)
class Gathered:
    """The content of files as a report's input. `texts` are the outputs' texts, "" where there is
    none; `compared` are people's comparisons by the criterion's index, None for overall, and
    `verdicts` those of judges, by the judge's index; `notes` say what could not be read; `repeats`
    have on which share of outputs a judge that scored them again gave the same score, by criterion
    and judge;
    `distributions` of judges' replies are by the indexes of criterion and judge, and output."""

    data: ReportData
    criteria: tuple[Criterion, ...]
    judges: tuple[ImportedJudge, ...]
    texts: tuple[str, ...]
    compared: Mapping[int | None, Sequence[ComparedSystems]] = field(default_factory=dict)
    verdicts: Mapping[int | None, Mapping[int, Sequence[PairVerdict]]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    repeats: Mapping[tuple[int, int], ShareEstimate] = field(default_factory=dict)
    distributions: Mapping[tuple[int, int], Mapping[int, Mapping[float, float]]] = field(
        default_factory=dict
    )


# The weights of items, which are criteria, by the name of their rubric.
Rubrics = Mapping[str, Mapping[str, float]]


def gathered(
    rows: Iterable[Row], scales: Mapping[str, Scale], rubrics: Rubrics | None = None
) -> Gathered:
    """Return the arrays for rows.

    Args:
        scales: scales of criteria by lower-case name; others are guessed from the ratings, and
            those of rubrics are 1-5.
        rubrics: the rubrics whose totals are criteria, too.

    Raises:
        InputError: an item of a rubric is no criterion of pass or fail.
    """
    gatherer = Gatherer()
    kinds = (RatingSeries, ScoreSeries)
    for _, several in groupby(rows, lambda row: isinstance(row, kinds)):
        together = list(several)
        if series := [row for row in together if isinstance(row, kinds)]:
            gatherer.add_series(series)
        else:
            for row in together:
                gatherer.add(row)
    preferred = [(row, *gatherer.pairs_of(row)) for row in gatherer.preferences]
    documents = gatherer.documents_in_order()
    order, outputs = _in_order(gatherer, [document.pk for document in documents])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    criteria = tuple(_criteria(gatherer, scales))
    gatherer.read_replies(criteria)
    given_rubrics = rubrics or {}
    of_rubrics = tuple(_items(name, items, criteria) for name, items in given_rubrics.items())
    totals = tuple(
        Criterion(pk, name, scales.get(name.lower(), WITHOUT_VALUES))
        for pk, name in enumerate(given_rubrics, start=len(criteria) + 1)
    )
    criteria += totals
    given = [gatherer.texts.get(index) for index in order.tolist()]
    texts = tuple(text or "" for text in given)
    systems = tuple(gatherer.systems)
    data = ReportData(
        document_ids=np.array([document.pk + 1 for document in documents], dtype=np.int64),
        system_ids=np.arange(1, len(systems) + 1),
        doc_ids=tuple(document.name for document in documents),
        sessions=tuple(document.session for document in documents),
        groups=tuple(document.group for document in documents),
        are_groups_given=any(gatherer.groups.values()),
        system_names=systems,
        system_kinds=(OTHER,) * len(systems),
        system_families=tuple(Family.of("", name) for name in systems),
        outputs=outputs,
        output_ids=np.arange(1, len(order) + 1),
        words=_words(given),
        rubrics=tuple(
            Rubric(each.pk, each.scale, items)
            for each, items in zip(totals, of_rubrics, strict=True)
        ),
    )
    raters = list(gatherer.raters.values())
    for criterion in criteria:
        values = gatherer.ratings.get(criterion.name.lower(), _Values())
        human = human_scores_of(
            place[np.asarray(values.output)],
            np.asarray(values.rater),
            np.asarray(values.value),
            outputs=len(order),
            raters=raters,
        )
        if not criterion.scale.is_ordered:
            most = most_frequent_point(human.ratings, criterion.scale)
            human = human.scored(Consensus(most))
        data.humans[criterion.pk] = _weighing(human, values.stated, place)
        _fill_not_applicable(data, gatherer, criterion, place)
    repeats = _fill_judges(data, gatherer, criteria, place)
    judges = tuple(ImportedJudge(pk, name) for name, pk in gatherer.judges.items())
    _fill_totals(data, gatherer, criteria)
    by_people = [each for each in preferred if not each[0].by_judge]
    by_judges = [each for each in preferred if each[0].by_judge]
    return Gathered(
        data,
        criteria,
        judges,
        texts,
        _compared(by_people, gatherer, criteria),
        _verdicts(by_judges, gatherer, criteria),
        tuple(gatherer.notes({each.name.lower(): each.scale for each in criteria}, scales)),
        repeats,
        {
            (each.pk, judge): {int(place[index]): shares for index, shares in by_output.items()}
            for each in criteria
            for (about, judge), by_output in gatherer.distributions.items()
            if about == each.name.lower()
        },
    )


def _items(
    rubric: str, items: Mapping[str, float], criteria: Sequence[Criterion]
) -> tuple[RubricItem, ...]:
    """Return the items of a rubric, by the names of their criteria."""
    named = {criterion.name.lower(): criterion for criterion in criteria}
    if rubric.lower() in named:
        raise InputError(
            f"The total of the rubric {rubric} is computed from its items"
            f" ({', '.join(items) or 'none'}), but there are ratings or scores of it. Remove these,"
            " or choose another name."
        )
    if len({name.lower() for name in items}) != len(items):
        raise InputError(f"The rubric {rubric} has an item twice; name each once.")
    if not items:
        raise InputError(f"The rubric {rubric} has no items. Name criteria of pass or fail.")
    for name, weight in items.items():
        if name.lower() not in named:
            near = did_you_mean(name.lower(), list(named))
            raise InputError(
                f"The rubric {rubric} has an item {name!r}, which is no criterion.{near} There are:"
                f" {', '.join(each.name for each in criteria)}."
            )
        scale = named[name.lower()].scale
        if not scale.is_ordered or len(scale.points) != 2:
            raise InputError(
                f"The item {name} of the rubric {rubric} is not pass or fail, but on {scale}. If it"
                " is, pass its scale, such as 0-1; or leave it out."
            )
        if isinstance(weight, bool) or not 0 < weight <= FARTHEST:
            raise InputError(f"The weight of {name} is a number above 0, not {weight!r}.")
    return tuple(
        RubricItem(named[name.lower()].pk, named[name.lower()].scale, weight)
        for name, weight in items.items()
    )


def _fill_totals(data: ReportData, gatherer: Gatherer, criteria: Sequence[Criterion]) -> None:
    """Compute the totals of rubrics, also of judges that scored any of their items by name."""
    names = {criterion.pk: criterion.name.lower() for criterion in criteria}
    numbers = gatherer.judges
    scored = gatherer.scores.keys() | {
        (about, numbers[judge]) for about, judge in gatherer.not_applicable if judge in numbers
    }
    for rubric in data.rubrics:
        fill_totals_of_people(data, rubric)
        for judge in numbers.values():
            if any((names[item.pk], judge) in scored for item in rubric.items):
                fill_totals_of_judge(data, rubric, judge)


def _fill_not_applicable(
    data: ReportData, gatherer: Gatherer, criterion: Criterion, place: np.ndarray
) -> None:
    """Add who answered "n/a" on a criterion; a judge may have done so on every criterion."""
    for (about, judge), outputs in gatherer.not_applicable.items():
        indexes, said = place[[*outputs]], np.zeros(len(place), dtype=np.int64)
        said[indexes] = [len(raters) for raters in outputs.values()]
        if not judge and about == criterion.name.lower():
            pairs = [
                (index, gatherer.number_of_rater(rater))
                for index, names in zip(indexes.tolist(), outputs.values(), strict=True)
                for rater in names
            ]
            human = data.humans[criterion.pk]
            data.humans[criterion.pk] = replace(human, said_na=np.array(pairs, dtype=np.int64))
        elif judge in gatherer.judges and about in ("", criterion.name.lower()):
            key = criterion.pk, gatherer.judges[judge]
            data.not_applicable[key] = data.not_applicable.get(key, False) | (said > 0)


def _weighing(human: HumanScores, stated: Mapping[int, float], place: np.ndarray) -> HumanScores:
    """Return the ratings with weights from stated probabilities, as on a site."""
    if not stated:
        return human
    indexes = place[np.fromiter(stated, dtype=np.int64)]
    probability = np.where(np.isnan(human.mean), 0.0, 1.0)
    probability[indexes] = list(stated.values())
    top = np.zeros(len(place), dtype=bool)
    top[indexes] = probability[indexes] == 0
    return Sampled(probability, top).weighing(human)


def _compared(
    preferred: Iterable[tuple[PreferenceRow, int, int]],
    gatherer: Gatherer,
    criteria: Sequence[Criterion],
) -> dict[int | None, list[ComparedSystems]]:
    """Return people's comparisons by criterion. The output that occurred first is the first of its
    pair in all comparisons."""
    numbers = {criterion.name.lower(): criterion.pk for criterion in criteria}
    outputs = list(gatherer.outputs)
    kept: dict[int | None, dict[tuple[int, int, int], ComparedSystems]] = {}
    for row, *pair in preferred:
        is_turned = pair[0] > pair[1]
        left = row.first_was_left
        if is_turned and left is not None:
            left = not left
        rater = gatherer.raters[row.annotator].pk
        first, second = sorted(pair)
        (document, one_system), (_, other_system) = outputs[first], outputs[second]
        kept.setdefault(numbers.get(row.criterion.lower()), {})[first, second, rater] = (
            ComparedSystems(
                document + 1,
                one_system + 1,
                other_system + 1,
                -row.value if is_turned else row.value,
                left,
                rater,
            )
        )
    return {pk: [*rows.values()] for pk, rows in kept.items()}


def _verdicts(
    preferred: Iterable[tuple[PreferenceRow, int, int]],
    gatherer: Gatherer,
    criteria: Sequence[Criterion],
) -> dict[int | None, dict[int, list[PairVerdict]]]:
    """Return judges' choices by criterion and judge, as a site stores them: a pair shown in both
    orders has the mean of both, and the share of preference for the output shown first."""
    numbers = {criterion.name.lower(): criterion.pk for criterion in criteria}
    outputs = list(gatherer.outputs)
    # The first output's share, by whether it was shown first.
    shares: dict[tuple[int | None, int, int, int], dict[bool, float]] = {}
    verdicts: dict[int | None, dict[int, list[PairVerdict]]] = {}
    for row, *pair in preferred:
        share = 0.5 if not row.value else float(row.value > 0)
        is_turned = pair[0] > pair[1]
        is_first_shown = row.first_was_left in (True, None)
        first, second = sorted(pair)
        about = numbers.get(row.criterion.lower()), gatherer.judges[row.annotator], first, second
        if isinstance(row, ShareRow):
            (document, one_system), (_, other_system) = outputs[first], outputs[second]
            given = 1 - row.share if is_turned else row.share
            verdicts.setdefault(about[0], {}).setdefault(about[1], []).append(
                PairVerdict(
                    document + 1, one_system + 1, other_system + 1, given, row.tie, row.left
                )
            )
            continue
        value = 1 - share if is_turned else share
        shares.setdefault(about, {})[is_first_shown != is_turned] = value
    for (criterion, judge, first, second), by_order in sorted(
        shares.items(), key=lambda item: item[0][1:]
    ):
        (document, one_system), (_, other_system) = outputs[first], outputs[second]
        won = list(by_order.values())
        by_first_shown = [
            share if was_shown_first else 1 - share for was_shown_first, share in by_order.items()
        ]
        verdicts.setdefault(criterion, {}).setdefault(judge, []).append(
            PairVerdict(
                document + 1,
                one_system + 1,
                other_system + 1,
                sum(won) / len(won),
                won.count(0.5) / len(won),
                sum(by_first_shown) / 2 if len(won) > 1 else None,
            )
        )
    return verdicts


def _words(texts: Sequence[str | None]) -> FloatArray:
    """Return the number of words of each text; NaN if no text was given, or all are empty."""
    if not any(texts):
        return np.full(len(texts), np.nan)
    return np.array([np.nan if text is None else count_words(text) for text in texts])


def _in_order(gatherer: Gatherer, documents: Sequence[int]) -> tuple[np.ndarray, Outputs]:
    """Order outputs by document, then by system, as in a report."""
    place = np.empty(len(documents), dtype=np.int64)
    place[list(documents)] = np.arange(len(documents))
    keys = np.array(list(gatherer.outputs), dtype=np.int64).reshape(-1, 2)
    keys[:, 0] = place[keys[:, 0]]
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    document, system = keys[order].T
    return order, Outputs(document, system, len(gatherer.documents), len(gatherer.systems))


def _criteria(gatherer: Gatherer, scales: Mapping[str, Scale]) -> Iterator[Criterion]:
    for pk, (key, name) in enumerate(gatherer.criteria.items(), start=1):
        scale = scales.get(key)
        if scale is None:
            ratings = gatherer.ratings[key].seen if key in gatherer.ratings else ValueSummary()
            scores = ValueSummary()
            for (about, _judge), values in gatherer.scores.items():
                if about == key:
                    scores.extend(values.seen)
            if ratings.total or scores.total:
                ready = ready_scales(name, among=gatherer.criteria.values())
                guess = guess_of_values(ratings, scores, ready=ready)
                scale = guess.scale
                if key in gatherer.ratings:
                    gatherer.strays += gatherer.ratings[key].note_strays(guess, name)
            elif any(row.criterion.lower() == key for row in gatherer.replies):
                raise InputError(
                    f"On which scale are the replies on {name}? Ratings would show it, but there"
                    f" are none: pass the scale of {name}, such as 1-5."
                )
            else:
                scale = WITHOUT_VALUES
        yield Criterion(pk, name, scale)


def _fill_judges(
    data: ReportData, gatherer: Gatherer, criteria: Sequence[Criterion], place: np.ndarray
) -> dict[tuple[int, int], ShareEstimate]:
    """Fill in judges' scores; a score without a criterion applies to every criterion that has none
    of its own. Return on which share of outputs judges repeated their scores, by the numbers of
    criterion and judge."""
    repeats: dict[tuple[int, int], ShareEstimate] = {}
    for criterion in criteria:
        for judge in gatherer.judges.values():
            scores: FloatArray = np.full(len(place), np.nan)
            for about in ("", criterion.name.lower()):
                values = gatherer.scores.get((about, judge))
                if values is None:
                    continue
                at, value = place[np.asarray(values.output)], np.asarray(values.value)
                own, again = scores_of_repeats(at, value, len(place), criterion.scale)
                scores = np.where(np.isnan(own), scores, own)
                if again.any():
                    repeats[criterion.pk, judge] = share_that_repeats(
                        data.units, at, value, criterion.scale
                    )
            if not np.isnan(scores).all():
                data.judges[criterion.pk, judge] = tie_close_values(scores)
    return repeats
