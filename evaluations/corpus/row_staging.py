"""Stage rows in temporary tables, or report their errors. Only keys are held in memory, not
texts."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import orjson

from annotations.models import Annotator
from evaluations.corpus.load_statements import CreatedRows, StagingTable
from evaluations.corpus.replies import ReplyStage
from evaluations.corpus.stages import PairPlace, PreferenceStage, ProbabilityStage, VerdictStage
from evaluations.models import Criterion, EvaluationRun, Judge, JudgeKind, Project, RunState, System
from geval.files import contradictions
from geval.files.fields import top_in
from geval.files.limits import file_limits
from geval.files.rater_names import is_mean
from geval.files.rows import (
    Columns,
    ConversationRow,
    FileErrors,
    JudgeScoreRow,
    LoadOptions,
    NotApplicableRow,
    OutputRow,
    PreferenceRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
    name_of_source,
)
from geval.files.unused import Unused
from geval.files.value_summary import (
    CutTexts,
    RaterNotes,
    ValueSummary,
    note_on,
    note_on_two_values,
    notes_on_names,
)
from geval.files.word_ratings import UnknownWords, WordError, WordNotes, WordRatings
from geval.statistics.repeatability import scores_of_repeats
from geval.statistics.scales import Scale, usual_scale_for
from geval_site.sql import fetch_rows

DOCUMENT_COLUMNS = ("source", "context", "references", "conversation", "session_id")
# What rows may leave out and a later one adds.
FILLED_LATER = ("context", "references")
NO_OUTPUT = "no output of system {} for document {}; load the outputs first, or in the same upload"
RUNS_HERE = "{} is a judge that runs here; use a different judge name for imported scores"
NO_PERSON = (
    "“{}” is the name of both a person and a mean of people in this project; use a different one"
)
SEVERAL_AUTHORS = (
    "the preferences are by {} and by {}, and cannot all be verdicts of the judge {}; load those of"
    " people and of each judge separately, or name judges in a column judge"
)


class TooManyRowsError(Exception):
    """There are more rows than the site accepts at once."""

    def __init__(self, file: str, line: int) -> None:
        super().__init__(
            f"more than {file_limits().rows:,} rows, which is the limit (GEVAL_ROW_LIMIT); split"
            " the files"
        )
        self.file = file
        self.line = line


@dataclass(frozen=True)
class _Staged:
    """Where a document or output first occurred, and digests of its texts."""

    number: int
    digests: tuple[bytes, ...]
    place: str


@dataclass
class SeenCriterion:
    """A criterion in the files: its record, whether this load created it, its values, and the range
    of ratings that seem to be on another scale."""

    criterion: Criterion
    is_new: bool
    ratings: ValueSummary = field(default_factory=ValueSummary)
    scores: ValueSummary = field(default_factory=ValueSummary)
    off: tuple[float, ...] = ()
    has_replies: bool = False


@dataclass(frozen=True)
class MixedScores:
    """A judge's scores on a criterion (None: every criterion) that seem to be on two scales: the
    narrower scale, and one that spans all scores."""

    judge: str
    run: int
    criterion: int | None
    criterion_name: str
    narrow: Scale
    wide: Scale
    scores: int

    @property
    def name(self) -> str:
        """The name under which the user confirms the scale."""
        return f"{self.judge} on {self.criterion_name or 'every criterion'}"


class RowStager:
    """The state of one load: keys seen so far, and the staging tables."""

    def __init__(self, project: Project, errors: FileErrors, about: LoadOptions) -> None:
        self.project = project
        self.about = about
        self.columns: dict[str, Columns] = {}
        self.errors = errors
        self.created = CreatedRows()
        self.rows = 0
        self.most_rows = file_limits().rows
        self.file_numbers: dict[str, int] = {}
        self.documents: dict[str, _Staged] = {}
        self.outputs: dict[tuple[str, str], _Staged] = {}
        self.known_outputs = self._known_outputs()
        self.known_sources = self._known_sources()
        self.systems = {system.name: system.pk for system in project.systems.all()}
        self.seen = {c.name.lower(): SeenCriterion(c, is_new=False) for c in project.criteria.all()}
        self.rubrics = {
            rubric.name.lower(): rubric.why_items
            for rubric in project.criteria.exclude(items=None).distinct()
        }
        self.stated_scales = {n.lower(): Scale(*scale[:3]) for n, scale in about.scales.items()}
        self.scales = self.stated_scales | dict(self._existing_scales())
        self.annotators = {annotator.name: annotator for annotator in project.annotators.all()}
        self.judges = {judge.name: judge for judge in project.judges.all()}
        self.import_runs: dict[str, int] = {}
        self.conversations: set[str] = set()
        self.conversation_table = StagingTable("stage_conversation", "digest text, turns jsonb")
        self.document_table = StagingTable(
            "stage_document",
            "file int, line int, doc_id text, source text, context text, refs jsonb,"
            " metadata jsonb, conversation text, turns_before int, session text",
        )
        # Metadata of further rows of a document, where it differs from the first row's.
        self.metadata_table = StagingTable("stage_metadata", "doc_id text, metadata jsonb")
        self.filled_table = StagingTable("stage_filled", "doc_id text, context text, refs jsonb")
        # Sources of documents that an earlier row has another source of, perhaps by white space.
        self.other_sources = StagingTable(
            "stage_other_source", "file int, line int, doc_id text, source text"
        )
        self.metadata_rows = Unused()
        # Outputs with errors of their own; rows about them cause no second error.
        self.refused_outputs: set[tuple[str, str]] = set()
        self.has_unread_rows = False
        self.output_table = StagingTable(
            "stage_output",
            "file int, line int, number int, doc_id text, system bigint, body text, turns jsonb",
        )
        score_columns = (
            "file int, line int, output bigint, criterion bigint, rater bigint, score float8"
        )
        self.rating_table = StagingTable("stage_rating", f"{score_columns}, comment text")
        self.score_table = StagingTable("stage_score", score_columns)
        # Criterion and judge -> output -> repeat -> place and score.
        self.repeated: dict[
            tuple[int | None, int], dict[int, dict[str, tuple[tuple[int, int], float | None]]]
        ] = {}
        self.probabilities = ProbabilityStage()
        self.preferences = PreferenceStage()
        self.verdicts = VerdictStage()
        self.verdicts_of = ""
        self.refused_authors: set[str] = set()
        self.replies = ReplyStage()
        self.mixed_scores: list[MixedScores] = []
        self.words = WordRatings()
        self.unknown_words = UnknownWords()
        self.word_notes = WordNotes()
        self.cut_texts = CutTexts()
        self.rater_notes = RaterNotes()
        self.not_applicable = 0
        self.names_before = {kind: set(names) for kind, names in self._names().items()}
        self.sources_alike = 0

    @property
    def tables(self) -> dict[StagingTable, str]:
        """The staging tables, with the columns by which each is looked up."""
        return {
            self.conversation_table: "",
            self.document_table: "doc_id",
            self.metadata_table: "doc_id",
            self.filled_table: "doc_id",
            self.other_sources: "doc_id",
            self.output_table: "doc_id",
            self.rating_table: "",
            self.score_table: "",
            self.probabilities.table: "",
            self.preferences.table: "",
            self.verdicts.table: "",
            self.replies.table: "file, line",
        }

    @property
    def notes(self) -> list[str]:
        """What the user should know of the load, in sentences."""
        alike = [
            note
            for kind, names in self._names().items()
            for note in notes_on_names(kind, names, self.names_before[kind])
        ]
        spaces = note_on(
            self.sources_alike,
            ("row has", "rows have"),
            "a document's text that differs from an earlier row's by white space alone; the earlier"
            " one is kept.",
        )
        off_scale = note_on(
            self.replies.off_scale,
            ("raw reply is", "raw replies are"),
            "off its criterion's scale, and in no score.",
        )
        not_applicable = note_on(
            self.not_applicable,
            ("answer is", "answers are"),
            "“not applicable” or “cannot assess”: not stored, and in no figure. To store them,"
            " allow this answer on the criterion's page and load the file again.",
        )
        again = note_on(
            sum(map(len, self.repeated.values())),
            ("output was", "outputs were"),
            "scored several times by a judge: the vote, or the mean, is kept. How steady the judge"
            " is can be measured from the file, with geval-site check.",
        )
        two_values = [
            note
            for seen in self.seen.values()
            if seen.is_new and seen.criterion.name.lower() not in self.stated_scales
            for note in note_on_two_values(
                seen.criterion.name,
                seen.ratings,
                lambda low, high: f"set the scale to {Scale(low, high, high - low).written}",
            )
        ]
        return [
            *self.word_notes, *alike, *self.rater_notes, *self.cut_texts, *spaces, *off_scale,
            *again, *not_applicable, *two_values,
        ]  # fmt: skip

    def _names(self) -> dict[str, Collection[str]]:
        return {"raters": self.annotators, "systems": self.systems, "judges": self.judges}

    def confirms_scale(self, scores: MixedScores) -> bool:
        """Whether the user confirmed a scale that spans all scores of a judge."""
        confirmed = self.scales.get(scores.name.lower())
        return confirmed is not None and confirmed.spans(scores.wide.lowest, scores.wide.highest)

    @property
    def file_names(self) -> dict[int, str]:
        return {number: name for name, number in self.file_numbers.items()}

    def stage_all(self, file: str, rows: Iterable[Row]) -> None:
        for row in rows:
            self.stage(file, row)

    def stage(self, file: str, row: Row) -> None:
        """Stage a row, or collect its errors."""
        number = self.file_numbers.setdefault(file, len(self.file_numbers))
        self.rows += 1
        if self.rows > self.most_rows:
            raise TooManyRowsError(file, row.line)
        if isinstance(row, ConversationRow):
            self._stage_conversation(row)
        elif isinstance(row, OutputRow):
            self._stage_output(file, number, row)
        elif isinstance(row, PreferenceRow):
            self._stage_preference(file, number, row)
        elif refusal := self.rubrics.get(row.criterion.lower()):
            self.errors.add(file, row.line, "criterion", refusal)
        elif isinstance(row, RepliesRow):
            self._stage_replies(file, number, row)
        elif isinstance(row, NotApplicableRow):
            self._stage_not_applicable(file, number, row)
        else:
            self._stage_score(file, number, row)

    # Outputs

    def _stage_conversation(self, row: ConversationRow) -> None:
        if row.digest not in self.conversations:
            self.conversations.add(row.digest)
            self.conversation_table.add((row.digest, row.turns), len(row.turns))

    def _stage_output(self, file: str, file_number: int, row: OutputRow) -> None:
        doc_id = row.doc_id or self._doc_id_of(row.source)
        place = f"{file}:{row.line}"
        content = (
            orjson.dumps(row.metadata, option=orjson.OPT_SORT_KEYS).decode()
            if row.metadata
            else "{}"
        )
        self.cut_texts.add(row, file)
        digests = tuple(
            _digest(text)
            for text in (
                row.source,
                row.context,
                "\0".join(row.references),
                f"{row.conversation} {row.turns_before}",
                row.session,
                content,
            )
        )
        for name in row.metadata:
            self.metadata_rows.add(file, name)
        earlier = self.documents.get(doc_id)
        if earlier is None:
            self.documents[doc_id] = _Staged(len(self.documents), digests, place)
            references = _json_list(row.references)
            size = len(row.source) + len(row.context) + len(references)
            document = (file_number, row.line, doc_id, row.source, row.context, references, content,
                        row.conversation or None, row.turns_before, row.session)  # fmt: skip
            self.document_table.add(document, size + len(content))
        else:
            *theirs, their_metadata = earlier.digests
            *ours, our_metadata = digests
            for column, existing, here in zip(DOCUMENT_COLUMNS, theirs, ours, strict=True):
                is_filled = column in FILLED_LATER and NOTHING in (existing, here)
                if existing != here and column == "source":
                    source = (file_number, row.line, doc_id, row.source)
                    self.other_sources.add(source, len(row.source))
                elif existing != here and not is_filled:
                    message = contradictions.SOURCES.format(doc_id, column, earlier.place)
                    self.errors.add(file, row.line, column, message)
                    self.refused_outputs.add((doc_id, row.system_id))
                    return
            self._fill(doc_id, earlier, row, digests)
            if their_metadata != our_metadata:
                self.metadata_table.add((doc_id, content), len(content))
        output = _Staged(len(self.outputs), (_digest(row.output), _digest(row.turns)), place)
        twice = self.outputs.setdefault((doc_id, row.system_id), output)
        if twice is output:
            system = self._system(row.system_id)
            self.output_table.add(
                (
                    file_number, row.line, output.number, doc_id, system, row.output,
                    row.turns or "[]",
                ),
                len(row.output) + len(row.turns),
            )  # fmt: skip
        elif twice.digests != output.digests:
            message = contradictions.OUTPUTS.format(row.system_id, doc_id, twice.place)
            self.errors.add(file, row.line, "output", message)

    def _fill(
        self, doc_id: str, earlier: _Staged, row: OutputRow, digests: tuple[bytes, ...]
    ) -> None:
        """Stage the context and references that a document lacked in earlier rows."""
        places = [DOCUMENT_COLUMNS.index(column) for column in FILLED_LATER]
        new = [n for n in places if earlier.digests[n] == NOTHING != digests[n]]
        if new:
            whole = tuple(
                digests[n] if n in new else digest for n, digest in enumerate(earlier.digests)
            )
            self.documents[doc_id] = replace(earlier, digests=whole)
            references = _json_list(row.references)
            self.filled_table.add(
                (doc_id, row.context, references), len(row.context) + len(references)
            )

    def _doc_id_of(self, source: str) -> str:
        """Return the document with this source: an existing one, or a name derived from the
        text."""
        digest = hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()
        if digest not in self.known_sources:
            self.known_sources[digest] = name_of_source(source)
        return self.known_sources[digest]

    def _system(self, name: str) -> int:
        if name not in self.systems:
            self.systems[name] = System.objects.create(project=self.project, name=name).pk
            self.created.note(System._meta.db_table, self.systems[name])
        return self.systems[name]

    # Ratings and scores

    def _stage_score(self, file: str, file_number: int, row: ScoreRow) -> None:
        doc_id = row.doc_id or self._doc_id_of(row.source)
        key = (doc_id, row.system_id)
        output = self._output(key)
        if output is None:
            self._note_missing_output(file, row.line, key)
            return
        scale = self.scales.get(row.criterion.lower())
        try:
            row = self.words.read(row, file, scale, self.unknown_words)
        except WordError as error:
            self.errors.add(file, row.line, error.column, str(error))
            return
        if row.word and not (scale and not scale.is_ordered):
            self.word_notes.add(row)
        if isinstance(row, RatingRow):
            criterion = self._criterion(row.criterion)
            if scale is not None and not scale.holds(row.score):
                self._report_outside(file, row, criterion, scale)
                return
            annotator = self._annotator(row.rater, file, row.line, is_mean=row.is_mean)
            if annotator is None:
                return
            self.rater_notes.add(row)
            criterion.ratings.add(row.score)
            if row.word:
                criterion.ratings.top = top_in(row.word) or criterion.ratings.top
            self.rating_table.add(
                (
                    file_number, row.line, output, criterion.criterion.pk, annotator, row.score,
                    row.comment,
                ),
                len(row.comment),
            )  # fmt: skip
            if row.probability is not None:
                self.probabilities.table.add(
                    (file_number, row.line, output, criterion.criterion.pk, row.probability)
                )
        elif isinstance(row, JudgeScoreRow):
            run = self._import_run(row.rater, file, row.line)
            if run is None:
                return
            criterion_id = None
            if row.criterion:
                seen = self._criterion(row.criterion)
                seen.scores.add(row.score)
                criterion_id = seen.criterion.pk
            place = (file_number, row.line, output, criterion_id, run)
            self._add_score(file, place, row.score, row.repeat, row.column)

    def _stage_not_applicable(self, file: str, file_number: int, row: NotApplicableRow) -> None:
        """Stage an answer that is no number where its criterion allows it; count it elsewhere."""
        key = (row.doc_id or self._doc_id_of(row.source), row.system_id)
        output, seen = self._output(key), self.seen.get(row.criterion.lower())
        if output is None:
            self._note_missing_output(file, row.line, key)
        elif seen is None or not seen.criterion.allows_not_applicable:
            self.not_applicable += 1
        elif not row.by_judge:
            if annotator := self._annotator(row.rater, file, row.line, is_mean=is_mean(row.rater)):
                place = (file_number, row.line, output, seen.criterion.pk, annotator)
                self.rating_table.add((*place, None, row.comment), len(row.comment))
        elif run := self._import_run(row.rater, file, row.line):
            place = (file_number, row.line, output, seen.criterion.pk, run)
            self._add_score(file, place, None, row.repeat, "score")

    def _add_score(
        self,
        file: str,
        place: tuple[int, int, int, int | None, int],
        score: float | None,
        repeat: str,
        column: str,
    ) -> None:
        """Stage a judge's score, None for "n/a"; one of several of an output is collected until
        all of them are there."""
        file_number, line, output, criterion, run = place
        if not repeat:
            self.score_table.add((*place, score))
            return
        repeats = self.repeated.setdefault((criterion, run), {}).setdefault(output, {})
        _place, earlier = repeats.setdefault(repeat, ((file_number, line), score))
        if score is None or earlier is None:
            is_same = score is earlier
        else:
            is_same = contradictions.are_same(earlier, score)
        if not is_same:
            self.errors.add(file, line, column, contradictions.of_scores(score, earlier))

    def stage_repeats(self) -> None:
        """Stage the vote, or the mean, of the scores that a judge gave an output several times;
        "n/a" by a majority. Labels of which two are as frequent give none."""
        scales = {seen.criterion.pk: seen.criterion.scale for seen in self.seen.values()}
        for (criterion, run), by_output in self.repeated.items():
            several = [list(repeats.values()) for repeats in by_output.values()]
            numbers = [[s for _place, s in scores if s is not None] for scores in several]
            number = np.repeat(np.arange(len(several)), [len(scores) for scores in numbers])
            value = np.array([score for scores in numbers for score in scores])
            scale = scales.get(criterion) if criterion else None
            combined, _again = scores_of_repeats(number, value, len(several), scale)
            for at, (output, scores) in enumerate(zip(by_output, several, strict=True)):
                (file_number, line), _score = scores[0]
                is_number = 2 * len(numbers[at]) >= len(scores)
                score = float(combined[at]) if is_number else None
                if score is not None and np.isnan(score):
                    continue
                self.score_table.add((file_number, line, output, criterion, run, score))

    def _report_outside(self, file: str, row: RatingRow, seen: SeenCriterion, scale: Scale) -> None:
        """Report a rating outside its criterion's scale, which may be wider if it was a guess."""
        name, is_guess = seen.criterion.name, seen.criterion.scale_is_guess and not seen.is_new
        message = contradictions.OUTSIDE.format(row.score, name, scale)
        if is_guess and row.criterion.lower() not in self.stated_scales:
            seen.off = tuple(sorted({*seen.off, row.score}))
            wider = usual_scale_for((scale.lowest, scale.highest, *seen.off))
            message = contradictions.OUTSIDE_GUESS.format(row.score, name, scale, wider)
        self.errors.add(file, row.line, row.column, message)

    def _stage_replies(self, file: str, file_number: int, row: RepliesRow) -> None:
        doc_id = row.doc_id or self._doc_id_of(row.source)
        output = self._output((doc_id, row.system_id))
        if output is None:
            self._note_missing_output(file, row.line, (doc_id, row.system_id))
        elif (run := self._import_run(row.judge, file, row.line)) is not None:
            seen = self._criterion(row.criterion)
            seen.has_replies = True
            self.replies.add(file_number, row, output, seen.criterion.pk, run)

    def _stage_preference(self, file: str, file_number: int, row: PreferenceRow) -> None:
        """Stage a preference. Which output is "a" is decided once ids are known."""
        outputs = []
        for system in (row.first, row.second):
            names = [f"{row.doc_id}__{row.turn}", row.doc_id] if row.turn else [row.doc_id]
            if row.turn not in ("", "1"):
                names = names[:1]  # a later turn's text differs from the first's
            key = next(
                (key for key in ((n, system) for n in names) if self._output(key) is not None), None
            )
            if key is None:
                self._note_missing_output(file, row.line, (names[0], system))
                return
            outputs.append(self._output(key))
        criterion = self._criterion(row.criterion).criterion.pk if row.criterion else None
        place = (file_number, row.line, outputs[0], outputs[1], criterion)
        if row.by_judge or self.about.verdicts_by:
            self._stage_verdict(file, row, place)
        elif annotator := self._annotator(row.annotator, file, row.line, is_mean=False):
            self.preferences.add(place, row, annotator)

    def _stage_verdict(self, file: str, row: PreferenceRow, place: PairPlace) -> None:
        """Stage a judge's choice. If one judge is named for the whole load, its rows must have a
        single author; otherwise people's choices would be attributed to the judge."""
        if self.about.verdicts_by:
            first = self.verdicts_of or row.annotator
            if row.annotator != first:
                if row.annotator not in self.refused_authors:
                    self.refused_authors.add(row.annotator)
                    message = SEVERAL_AUTHORS.format(first, row.annotator, self.about.verdicts_by)
                    self.errors.add(file, row.line, "annotator", message)
                return
            self.verdicts_of = first
        run = self._import_run(self.about.verdicts_by or row.annotator, file, row.line)
        if run is not None:
            self.verdicts.add(place, row, run)

    def _note_missing_output(self, file: str, line: int, key: tuple[str, str]) -> None:
        """Report that the output of a row does not exist, unless the output's own row had an error
        or could not be read: then that error is the cause."""
        if key not in self.refused_outputs and not self.has_unread_rows:
            doc_id, system = key
            self.errors.add(file, line, "doc_id, system_id", NO_OUTPUT.format(system, doc_id))

    def _output(self, key: tuple[str, str]) -> int | None:
        """Return the number of an output of this load, or the negative id of an existing output."""
        staged = self.outputs.get(key)
        if staged:
            return staged.number
        return -self.known_outputs[key] if key in self.known_outputs else None

    def _criterion(self, name: str) -> SeenCriterion:
        seen = self.seen.get(name.lower())
        if seen is None:
            criterion = Criterion.objects.create(
                project=self.project, name=name, position=len(self.seen)
            )
            seen = self.seen[name.lower()] = SeenCriterion(criterion, is_new=True)
            self.created.note(Criterion._meta.db_table, criterion.pk)
        return seen

    def _annotator(self, name: str, file: str, line: int, *, is_mean: bool) -> int | None:
        """Return the id of a rater; another kind of rater with this name is an error."""
        kind = Annotator.Kind.MEAN if is_mean else Annotator.Kind.PERSON
        annotator = self.annotators.get(name)
        if annotator is None:
            annotator = Annotator.objects.create(project=self.project, name=name, kind=kind)
            self.annotators[name] = annotator
            self.created.note(Annotator._meta.db_table, annotator.pk)
        if annotator.kind == kind:
            return annotator.pk
        self.errors.add(file, line, "annotator", NO_PERSON.format(name))
        return None

    def _import_run(self, name: str, file: str, line: int) -> int | None:
        """Return the run of a judge's imported scores; a judge that runs here is an error."""
        if name not in self.import_runs:
            judge = self.judges.get(name)
            if judge is None:
                settings = {"version": self.about.version, "source": self.about.source}
                judge = Judge.objects.create(
                    project=self.project, name=name, kind=JudgeKind.IMPORTED, settings=settings
                )
                self.judges[name] = judge
                self.created.note(Judge._meta.db_table, judge.pk)
            if judge.kind != JudgeKind.IMPORTED:
                self.errors.add(file, line, "judge", RUNS_HERE.format(name))
                return None
            run, _ = EvaluationRun.objects.get_or_create(
                project=self.project,
                judge=judge,
                defaults={"state": RunState.DONE, "parameters": {"kind": JudgeKind.IMPORTED}},
            )
            self.import_runs[name] = run.pk
        return self.import_runs[name]

    # Existing records

    def _existing_scales(self) -> Iterator[tuple[str, Scale]]:
        """Yield the scales of existing criteria. Only a guess can be replaced by a statement."""
        for name, seen in self.seen.items():
            scale = seen.criterion.scale
            stated = self.stated_scales.get(name, scale)
            is_free = seen.criterion.scale_is_guess and stated.spans(scale.lowest, scale.highest)
            if (stated.lowest, stated.highest) != (scale.lowest, scale.highest) and not is_free:
                message = contradictions.HAS_SCALE.format(seen.criterion.name, scale, stated)
                self.errors.add("scale", 0, "", message)
            yield name, stated if is_free else scale

    def _known_outputs(self) -> dict[tuple[str, str], int]:
        rows = fetch_rows(
            """SELECT d.doc_id, s.name, o.id FROM evaluations_candidateoutput o
               JOIN evaluations_document d ON d.id = o.document_id JOIN evaluations_system s
                   ON s.id = o.system_id
               WHERE d.project_id = %s""",
            [self.project.pk],
        )
        return {(doc_id, system): pk for doc_id, system, pk in rows}

    def _known_sources(self) -> dict[str, str]:
        rows = fetch_rows(
            "SELECT md5(source), doc_id FROM evaluations_document WHERE project_id = %s ORDER"
            " BY id DESC",
            [self.project.pk],
        )
        return dict(rows)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


NOTHING = _digest("")


def _json_list(texts: Sequence[str]) -> str:
    return orjson.dumps(list(texts)).decode()
