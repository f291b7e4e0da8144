"""From rows to records, all or nothing: rows are staged, checked against each other and the project, and then merged.

Rows stream through temporary tables by COPY, so that memory holds keys and never texts. Everything happens in one
transaction; if there is a fault anywhere, nothing stays. What is there already is left alone and counted as unchanged.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import connection, transaction

from annotations.models import Annotator
from evaluations.changes import note_change
from evaluations.corpus.preferences import PreferenceStage
from evaluations.corpus.readers import InputFile, Unnamed, read_rows
from evaluations.corpus.replies import ReplyStage
from evaluations.corpus.rows import (
    Fault,
    Faults,
    JudgeScoreRow,
    OutputRow,
    PreferenceRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
)
from evaluations.corpus.staging import StagingTable, Tally
from evaluations.judging.criteria import use_preset
from evaluations.judging.parsing import parse_first_digit
from evaluations.judging.presets import presets_for
from evaluations.models import Criterion, EvaluationRun, Judge, JudgeKind, Project, RunState, System
from evaluations.scales import usual_scale_for

RUNS_HERE = "{} is a judge that runs here; give imported scores another judge's name"


@dataclass
class LoadResult:
    """What a load did; `unreadable` counts raw replies without a rating, which have no part in scores."""

    documents: Tally = field(default_factory=Tally)
    outputs: Tally = field(default_factory=Tally)
    ratings: Tally = field(default_factory=Tally)
    preferences: Tally = field(default_factory=Tally)
    scores: Tally = field(default_factory=Tally)
    replies: Tally = field(default_factory=Tally)
    unreadable: int = 0

    @property
    def changed(self) -> bool:
        tallies = (self.documents, self.outputs, self.ratings, self.preferences, self.scores, self.replies)
        return any(tally.created for tally in tallies)

    def as_json(self) -> dict[str, dict[str, int]]:
        return {kind: tally for kind, tally in asdict(self).items() if kind != "unreadable"}


@dataclass(frozen=True)
class About:
    """What is said of a load beside its files.

    `judge` and `criterion` stand where a file names none; `version` and `source` are kept with the judges it makes;
    `first_digit` reads raw replies by the rule of published releases instead of ours.
    """

    judge: str = "imported"
    criterion: str = ""
    version: str = ""
    source: str = ""
    first_digit: bool = False


@transaction.atomic
def load_files(project: Project, files: Sequence[InputFile], *, about: About = About()) -> LoadResult:
    """Load files into a project, in whatever order they are given.

    Raises:
        LoadError: at least one fault; it lists the first hundred of all files, and nothing was written.
    """
    Project.objects.select_for_update().get(pk=project.pk)
    faults = Faults()
    load = _Load(project, faults, about)
    scores_only: list[tuple[InputFile, Iterable[Row]]] = []
    for file in files:
        stem = file.name.rsplit("/", 1)[-1].removesuffix(".gz").removesuffix(".zip").rsplit(".", 1)[0]
        rows = iter(read_rows(file, faults, unnamed=Unnamed(about.judge, about.criterion, stem or "system")))
        first = next(rows, None)
        if first is None:
            continue
        if isinstance(first, OutputRow):
            load.take(file.name, first)
            load.take_all(file.name, rows)
        else:
            scores_only.append((file, _chain(first, rows)))
    for file, held_back in scores_only:
        load.take_all(file.name, held_back)
    result = load.merge()
    faults.raise_if_any()
    if result.changed:
        note_change(project.pk)
    with connection.cursor() as cursor:
        # Statistics of a table that has just grown a hundredfold would mislead the planner until autovacuum comes by.
        for table in (
            "evaluations_document",
            "evaluations_candidateoutput",
            "annotations_rating",
            "annotations_preference",
            "evaluations_score",
        ):
            if result.changed:
                cursor.execute(f"ANALYZE {table}")
    return result


def _chain(first: Row, rest: Iterable[Row]) -> Iterable[Row]:
    yield first
    yield from rest


@dataclass(frozen=True)
class _Staged:
    """Where a document or output was first seen, and digests of its texts."""

    number: int
    digests: tuple[bytes, ...]
    place: str


@dataclass
class _Seen:
    """A criterion in the files: its record, whether this load made it, and the extremes of what was given on it."""

    criterion: Criterion
    is_new: bool
    ratings: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


class _Load:
    """The state of one load: keys seen so far, and the staging tables."""

    def __init__(self, project: Project, faults: Faults, about: About) -> None:
        self.project = project
        self.about = about
        self.faults = faults
        self.file_numbers: dict[str, int] = {}
        self.documents: dict[str, _Staged] = {}
        self.outputs: dict[tuple[str, str], _Staged] = {}
        self.known_outputs = self._known_outputs()
        self.known_sources = self._known_sources()
        self.systems = {system.name: system.pk for system in project.systems.all()}
        self.seen = {c.name.lower(): _Seen(c, is_new=False) for c in project.criteria.all()}
        self.scales = {name: seen.criterion.scale for name, seen in self.seen.items()}
        self.annotators = {annotator.name: annotator for annotator in project.annotators.all()}
        self.judges = {judge.name: judge for judge in project.judges.all()}
        self.import_runs: dict[str, int] = {}
        place = {"file": "int", "line": "int"}
        self.document_table = StagingTable(
            "stage_document",
            place | {"doc_id": "text", "source": "text", "context": "text", "refs": "jsonb"},
        )
        self.output_table = StagingTable(
            "stage_output",
            place | {"number": "int", "doc_id": "text", "system": "bigint", "body": "text"},
        )
        score_columns = place | {
            "output": "bigint",
            "criterion": "bigint",
            "rater": "bigint",
            "score": "float8",
        }
        self.rating_table = StagingTable("stage_rating", score_columns)
        self.score_table = StagingTable("stage_score", score_columns)
        self.preferences = PreferenceStage()
        self.replies = ReplyStage()

    def take_all(self, file: str, rows: Iterable[Row]) -> None:
        for row in rows:
            self.take(file, row)

    def take(self, file: str, row: Row) -> None:
        """Stage a row, or add what is wrong with it to the faults."""
        number = self.file_numbers.setdefault(file, len(self.file_numbers))
        if isinstance(row, OutputRow):
            self._take_output(file, number, row)
        elif isinstance(row, PreferenceRow):
            self._take_preference(file, number, row)
        elif isinstance(row, RepliesRow):
            self._take_replies(file, number, row)
        else:
            self._take_score(file, number, row)

    # Outputs

    def _take_output(self, file: str, file_number: int, row: OutputRow) -> None:
        doc_id = row.doc_id or self._doc_id_of(row.source)
        place = f"{file}:{row.line}"
        digests = tuple(_digest(text) for text in (row.source, row.context, "\0".join(row.references)))
        earlier = self.documents.get(doc_id)
        if earlier is None:
            self.documents[doc_id] = _Staged(len(self.documents), digests, place)
            references = _json_list(row.references)
            size = len(row.source) + len(row.context) + len(references)
            self.document_table.add((file_number, row.line, doc_id, row.source, row.context, references), size)
        else:
            for column, there, here in zip(("source", "context", "references"), earlier.digests, digests, strict=True):
                if there != here:
                    message = f"document {doc_id} has another {column} at {earlier.place}; a document has one"
                    self.faults.add(file, row.line, column, message)
                    return
        output = _Staged(len(self.outputs), (_digest(row.output),), place)
        twice = self.outputs.setdefault((doc_id, row.system_id), output)
        if twice is output:
            system = self._system(row.system_id)
            self.output_table.add((file_number, row.line, output.number, doc_id, system, row.output), len(row.output))
        elif twice.digests != output.digests:
            message = f"system {row.system_id} has another output for document {doc_id} at {twice.place}"
            self.faults.add(file, row.line, "output", message)

    def _doc_id_of(self, source: str) -> str:
        """The document with this source: one that is there, or a name made from the text itself."""
        digest = hashlib.md5(source.encode(), usedforsecurity=False).hexdigest()
        return self.known_sources.setdefault(digest, f"doc-{digest[:12]}")

    def _system(self, name: str) -> int:
        if name not in self.systems:
            self.systems[name] = System.objects.create(project=self.project, name=name).pk
        return self.systems[name]

    # Ratings and scores

    def _take_score(self, file: str, file_number: int, row: ScoreRow) -> None:
        doc_id = row.doc_id or self._doc_id_of(row.source)
        key = (doc_id, row.system_id)
        output = self._output(key)
        if output is None:
            message = f"no output of system {row.system_id} for document {doc_id}; load the outputs first, or along"
            self.faults.add(file, row.line, "doc_id, system_id", message)
            return
        if isinstance(row, RatingRow):
            criterion = self._criterion(row.criterion)
            scale = self.scales.get(row.criterion.lower())
            if scale is None:
                _widen(criterion.ratings, row.score)
            elif not scale.holds(row.score):
                message = (
                    f"score {row.score:g} is outside {criterion.criterion.name}'s scale {scale}; change it or the scale"
                )
                self.faults.add(file, row.line, row.column, message)
                return
            annotator = self._annotator(row.rater, is_mean=row.is_mean)
            if annotator is None:
                message = f"{row.rater!r} is the name of a mean of several people here; name the person otherwise"
                self.faults.add(file, row.line, "annotator", message)
                return
            self.rating_table.add((file_number, row.line, output, criterion.criterion.pk, annotator, row.score))
        elif isinstance(row, JudgeScoreRow):
            run = self._import_run(row.rater)
            if run is None:
                self.faults.add(file, row.line, "judge", RUNS_HERE.format(row.rater))
                return
            criterion_id = None
            if row.criterion:
                seen = self._criterion(row.criterion)
                _widen(seen.scores, row.score)
                criterion_id = seen.criterion.pk
            self.score_table.add((file_number, row.line, output, criterion_id, run, row.score))

    def _take_replies(self, file: str, file_number: int, row: RepliesRow) -> None:
        doc_id = row.doc_id or self._doc_id_of(row.source)
        output, run = self._output((doc_id, row.system_id)), self._import_run(row.judge)
        if output is None:
            message = f"no output of system {row.system_id} for document {doc_id}; load the outputs first, or along"
            self.faults.add(file, row.line, "doc_id, system_id", message)
        elif run is None:
            self.faults.add(file, row.line, "judge", RUNS_HERE.format(row.judge))
        else:
            self.replies.add(file_number, row, output, self._criterion(row.criterion).criterion.pk, run)

    def _take_preference(self, file: str, file_number: int, row: PreferenceRow) -> None:
        """Both outputs are known by number or by negative id, as in scores; which is "a" is decided when ids are."""
        places = []
        for system in (row.first, row.second):
            names = [f"{row.doc_id}__{row.turn}", row.doc_id] if row.turn else [row.doc_id]
            if row.turn not in ("", "1"):
                names = names[:1]  # a later turn is another text than the first
            key = next((key for key in ((n, system) for n in names) if self._output(key) is not None), None)
            if key is None:
                message = f"no output of system {system} for document {names[0]}; load the outputs first, or along"
                self.faults.add(file, row.line, "doc_id, system", message)
                return
            places.append(self._output(key))
        criterion = self._criterion(row.criterion).criterion.pk if row.criterion else None
        annotator = self._annotator(row.annotator, is_mean=False)
        if annotator is None:
            message = f"{row.annotator!r} is the name of a mean of several people here; name the person otherwise"
            self.faults.add(file, row.line, "annotator", message)
            return
        self.preferences.add(file_number, row, places, criterion, annotator)

    def _output(self, key: tuple[str, str]) -> int | None:
        """Outputs of this load are known by number until they are merged, older ones by the negative of their id."""
        staged = self.outputs.get(key)
        if staged:
            return staged.number
        return -self.known_outputs[key] if key in self.known_outputs else None

    def _criterion(self, name: str) -> _Seen:
        seen = self.seen.get(name.lower())
        if seen is None:
            criterion = Criterion.objects.create(project=self.project, name=name, position=len(self.seen))
            seen = self.seen[name.lower()] = _Seen(criterion, is_new=True)
        return seen

    def _annotator(self, name: str, *, is_mean: bool) -> int | None:
        kind = Annotator.Kind.MEAN if is_mean else Annotator.Kind.PERSON
        annotator = self.annotators.get(name)
        if annotator is None:
            annotator = Annotator.objects.create(project=self.project, name=name, kind=kind)
            self.annotators[name] = annotator
        return annotator.pk if annotator.kind == kind else None

    def _import_run(self, name: str) -> int | None:
        if name not in self.import_runs:
            judge = self.judges.get(name)
            if judge is None:
                settings = {"version": self.about.version, "source": self.about.source}
                judge = Judge.objects.create(
                    project=self.project, name=name, kind=JudgeKind.IMPORTED, settings=settings
                )
                self.judges[name] = judge
            if judge.kind != JudgeKind.IMPORTED:
                return None
            run, _ = EvaluationRun.objects.get_or_create(
                project=self.project,
                judge=judge,
                defaults={"state": RunState.DONE, "parameters": {"kind": JudgeKind.IMPORTED}},
            )
            self.import_runs[name] = run.pk
        return self.import_runs[name]

    # What is there

    def _known_outputs(self) -> dict[tuple[str, str], int]:
        with connection.cursor() as cursor:
            cursor.execute(
                """SELECT d.doc_id, s.name, o.id FROM evaluations_candidateoutput o
                   JOIN evaluations_document d ON d.id = o.document_id JOIN evaluations_system s ON s.id = o.system_id
                   WHERE d.project_id = %s""",
                [self.project.pk],
            )
            return {(doc_id, system): pk for doc_id, system, pk in cursor.fetchall()}

    def _known_sources(self) -> dict[str, str]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT md5(source), doc_id FROM evaluations_document WHERE project_id = %s ORDER BY id DESC",
                [self.project.pk],
            )
            return dict(cursor.fetchall())

    # Merging

    def merge(self) -> LoadResult:
        """Check the staged rows against the project and put them in; faults found here are added to the others."""
        tables = (self.document_table, self.output_table, self.rating_table, self.score_table)
        for table in (*tables, self.preferences.table, self.replies.table):
            table.flush()
        result = LoadResult()
        self._merge_documents(result.documents)
        self._merge_outputs(result.outputs)
        self._merge_scores(
            result.ratings,
            self.rating_table,
            "annotations_rating",
            ("output_id", "criterion_id", "annotator_id"),
            "score",
        )
        self._merge_scores(
            result.scores,
            self.score_table,
            "evaluations_score",
            ("output_id", "criterion_id", "run_id"),
            "value",
        )
        self.preferences.merge(result.preferences, conflicts=self._conflicts)
        self._finish_new_criteria()
        names = {number: name for name, number in self.file_numbers.items()}
        read = parse_first_digit if self.about.first_digit else None
        self.replies.merge(result.replies, faults=self.faults, files=names, read=read)
        result.unreadable = self.replies.unreadable
        return result

    def _merge_documents(self, tally: Tally) -> None:
        self._conflicts(
            """SELECT s.file, s.line, s.doc_id,
                      CASE WHEN s.source <> d.source THEN 'source' WHEN s.context <> d.context THEN 'context'
                           ELSE 'references' END
               FROM stage_document s
               JOIN evaluations_document d ON d.project_id = %s AND d.doc_id = s.doc_id
               WHERE (s.source, s.context, s.refs) IS DISTINCT FROM (d.source, d.context, d.references)""",
            [self.project.pk],
            lambda doc_id, column: (column, f"document {doc_id} is loaded already with another {column}"),
        )
        tally.created = self._execute(
            """INSERT INTO evaluations_document (project_id, doc_id, source, context, "references")
               SELECT %s, doc_id, source, context, refs FROM stage_document ORDER BY file, line
               ON CONFLICT (project_id, doc_id) DO NOTHING""",
            [self.project.pk],
        )
        tally.unchanged = self.document_table.count - tally.created

    def _merge_outputs(self, tally: Tally) -> None:
        self._execute(
            """ALTER TABLE stage_output ADD document bigint, ADD output bigint;
               UPDATE stage_output s SET document = d.id FROM evaluations_document d
               WHERE d.project_id = %s AND d.doc_id = s.doc_id""",
            [self.project.pk],
        )
        self._conflicts(
            """SELECT s.file, s.line, s.doc_id, y.name FROM stage_output s
               JOIN evaluations_candidateoutput o ON o.document_id = s.document AND o.system_id = s.system
               JOIN evaluations_system y ON y.id = s.system WHERE o.text <> s.body""",
            [],
            lambda doc_id, name: (
                "output",
                f"system {name}'s output for document {doc_id} is loaded already with another text",
            ),
        )
        tally.created = self._execute(
            """INSERT INTO evaluations_candidateoutput (document_id, system_id, text)
               SELECT document, system, body FROM stage_output ORDER BY file, line
               ON CONFLICT (document_id, system_id) DO NOTHING"""
        )
        tally.unchanged = self.output_table.count - tally.created

    def _merge_scores(
        self, tally: Tally, table: StagingTable, target: str, keys: tuple[str, str, str], value: str
    ) -> None:
        """Insert what is new; only if something was not, look whether it is the same or contradicts."""
        if not table.count:
            return
        columns = ", ".join(keys)
        resolved = f"""SELECT s.file, s.line, coalesce(o.id, -s.output) AS output_id, s.criterion AS {keys[1]},
                              s.rater AS {keys[2]}, s.score
                       FROM {table.name} s
                       LEFT JOIN (stage_output t JOIN evaluations_candidateoutput o
                                  ON o.document_id = t.document AND o.system_id = t.system)
                         ON t.number = s.output AND s.output >= 0"""
        self._execute(f"CREATE INDEX ON stage_output (number); ANALYZE stage_output; ANALYZE {table.name}")
        tally.created = self._execute(
            f"""INSERT INTO {target} ({columns}, {value})
                SELECT {columns}, score FROM ({resolved}) AS r ORDER BY file, line
                ON CONFLICT ({columns}) DO NOTHING"""
        )
        tally.unchanged = table.count - tally.created
        if tally.unchanged:
            self._conflicts(
                f"""SELECT r.file, r.line, r.score, e.{value} FROM ({resolved}) AS r
                    JOIN {target} e ON e.output_id = r.output_id AND e.{keys[2]} = r.{keys[2]}
                     AND e.criterion_id IS NOT DISTINCT FROM r.criterion_id
                    WHERE e.{value} <> r.score""",
                [],
                lambda here, there: (
                    "score",
                    f"score {here:g} contradicts {there:g}, which this output already has from there on this criterion",
                ),
            )

    def _finish_new_criteria(self) -> None:
        """Give criteria that the files brought the scale their ratings show, and a preset's wording if one fits."""
        new = {
            seen.criterion.name: seen for seen in self.seen.values() if seen.is_new and (seen.ratings or seen.scores)
        }
        scales = {name: usual_scale_for(seen.ratings or seen.scores) for name, seen in new.items()}
        presets = presets_for(scales, among=[seen.criterion.name for seen in self.seen.values()])
        for name, seen in new.items():
            criterion, scale = seen.criterion, scales[name]
            criterion.scale_min, criterion.scale_max = scale.lowest, scale.highest
            criterion.scale_step = scale.step
            if name in presets:
                use_preset(criterion, presets[name])
            criterion.save()

    def _execute(self, query: str, parameters: Sequence[Any] | None = None) -> int:
        with connection.cursor() as cursor:
            for statement in query.split(";"):
                cursor.execute(statement, parameters if parameters and "%s" in statement else None)
            return int(cursor.rowcount)

    def _conflicts(self, query: str, parameters: Sequence[Any], explain: Any) -> None:
        names = {number: name for name, number in self.file_numbers.items()}
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({query}) AS c ORDER BY 1, 2", parameters or None)
            for file, line, *found in cursor.fetchall():
                column, message = explain(*found)
                self.faults.add(names[file], line, column, message)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _json_list(texts: Sequence[str]) -> str:
    import orjson

    return orjson.dumps(list(texts)).decode()


def _widen(extremes: list[float], value: float) -> None:
    """Keep the lowest and the highest value of all that were given, and no others."""
    if not extremes:
        extremes.extend((value, value))
    elif value < extremes[0]:
        extremes[0] = value
    elif value > extremes[1]:
        extremes[1] = value


__all__ = ["Fault", "LoadResult", "Tally", "load_files"]
