"""Merge staged rows: new ones are inserted, existing ones stay, contradictions are errors."""

from collections.abc import Sequence
from typing import Any

from evaluations.corpus.load_statements import OUTPUT_IDS, StagingTable, Steps, planned_for
from evaluations.corpus.removing import (
    DOCUMENT_HAS_DEPENDENTS,
    OUTPUT_HAS_DEPENDENTS,
    count_dependents,
    describe_dependents,
)
from evaluations.corpus.row_staging import MixedScores, RowStager, SeenCriterion
from evaluations.corpus.scale_guesses import guess_of, mixed_scores, other_scale
from evaluations.models import CandidateOutput, LockedDocuments
from evaluations.models.improving import withheld_documents
from geval.files import contradictions
from geval.files.load_results import LoadResult, LoadTally
from geval.files.mapping import column_of_rating
from geval.files.rows import LoadOptions
from geval.llm.parsing import parse_first_digit
from geval.llm.presets import presets_for
from geval.statistics.locked_rule import GROUP
from geval.statistics.scales import ROUNDING, Scale, ScaleGuess, usual_scale_for
from geval_site.sql import execute_sql, fetch_rows

DIFFERENT = "{} already exists with a different {}"
DRAWN = (
    "document {} is drawn with the locked documents, so its {} cannot change; load it as another"
    " document"
)
LOCKED = "document {} is locked until the last look, so its ratings cannot be changed from here"
IN_USE = (
    "{} already exists with a different {} and cannot be replaced because {}; use a different "
    "doc_id"
)
# A document loaded as plain text may get turns from a later file; what a file leaves out stays.
_PLACE_DIFFERS = """(s.of IS NOT NULL AND d.conversation_id IS NOT NULL
    AND (s.of, s.turns_before) <> (d.conversation_id, d.turns_before))"""
_SESSION_DIFFERS = "(s.session <> '' AND d.session <> '' AND s.session <> d.session)"
# White space may differ; an empty field states nothing, and can be filled later.
_WORDS = r"btrim(regexp_replace({}.source, '\s+', ' ', 'g'))"
_SOURCE_DIFFERS = f"(s.source <> d.source AND {_WORDS.format('s')} <> {_WORDS.format('d')})"
_CONTEXT_DIFFERS = "(s.context <> '' AND d.context <> '' AND s.context <> d.context)"
_REFERENCES_DIFFER = """(s.refs <> '[]'::jsonb AND d.references <> '[]'::jsonb
    AND s.refs <> d.references)"""
DIFFERS = f"""({_SOURCE_DIFFERS} OR {_CONTEXT_DIFFERS} OR {_REFERENCES_DIFFER}
    OR {_PLACE_DIFFERS} OR {_SESSION_DIFFERS})"""
# Ignore the numbers of turns: earlier versions stored none.
_SAID = """(SELECT jsonb_agg(e.turn - 'number' ORDER BY e.place)
           FROM jsonb_array_elements({}.turns) WITH ORDINALITY AS e (turn, place))"""
_OUTPUT_DIFFERS = f"""(o.text <> s.body OR (o.turns <> s.turns AND s.turns <> '[]'::jsonb
    AND {_SAID.format("o")} IS DISTINCT FROM {_SAID.format("s")}))"""
# A turn that exists under another number, because it was loaded when tool messages did not count.
_HAS_OTHER_NUMBER = """SELECT s.file, s.line, s.doc_id, d.doc_id, s.session
    FROM stage_document s JOIN evaluations_document d
        ON d.project_id = %s AND d.conversation_id = s.of AND d.turns_before = s.turns_before
            AND d.session = s.session
    WHERE s.session <> '' AND d.doc_id <> s.doc_id
        AND substr(s.doc_id, length(s.session) + 1) ~ '^#[0-9]+$'
        AND substr(d.doc_id, length(s.session) + 1) ~ '^#[0-9]+$'
        AND starts_with(s.doc_id, s.session) AND starts_with(d.doc_id, s.session)"""
OTHER_NUMBER = (
    "{} already exists as {}: session {} was loaded when messages of tools had no numbers; load it"
    " under another session_id, and its ratings by that one's numbers"
)
_ADDS = """(s.of IS NOT NULL AND d.conversation_id IS NULL)
    OR (s.session <> '' AND d.session = '') OR (s.context <> '' AND d.context = '')
    OR (s.refs <> '[]'::jsonb AND d.references = '[]'::jsonb)"""
# Metadata fields that exist on both sides with different values.
CONTRADICTS = """EXISTS (SELECT 1 FROM jsonb_each(s.metadata) AS e
                         WHERE jsonb_exists(d.metadata, e.key)
                             AND d.metadata -> e.key <> e.value)"""


class Merge:
    """Merges the staged rows of one load; errors are added to those from staging."""

    def __init__(self, load: RowStager, steps: Steps) -> None:
        self.load = load
        self.about: LoadOptions = load.about
        self.project = load.project
        self.steps = steps

    def merge(self) -> LoadResult:
        load, result = self.load, LoadResult()
        for table, index in load.tables.items():
            table.finish(index=index)
        with planned_for(sum(table.count for table in load.tables)):
            self._merge_rows(result)
        self._finish_new_criteria()
        self._confirm_scales()
        self.steps.begin("raw replies")
        read = parse_first_digit if self.about.first_digit else None
        load.replies.merge(
            result.replies, load.created, errors=load.errors, files=load.file_names, read=read
        )
        result.unreadable = load.replies.unreadable
        return result

    def _merge_rows(self, result: LoadResult) -> None:
        load = self.load
        self.steps.begin("documents and outputs")
        self._merge_conversations()
        self._drop_varying_metadata()
        self._fill_documents()
        self._compare_sources()
        self._merge_documents(result.documents)
        self._merge_outputs(result.outputs)
        self.steps.begin("ratings")
        for name, seen in load.seen.items():
            if not seen.is_new and name not in {
                confirmed.lower() for confirmed in self.about.scales
            }:
                self._report_narrower_scale(seen)
        rating_keys = ("output_id", "criterion_id", "annotator_id")
        hidden = withheld_documents(self.project.pk)
        self._merge_scores(
            result.ratings, load.rating_table, "annotations_rating", rating_keys, "score", hidden
        )
        load.probabilities.merge(errors=load.errors, files=load.file_names)
        self.steps.begin("scores")
        for scores in mixed_scores(load):
            self._note_mixed_scores(scores)
        score_keys = ("output_id", "criterion_id", "run_id")
        self._merge_scores(
            result.scores, load.score_table, "evaluations_score", score_keys, "value"
        )
        self.steps.begin("preferences")
        load.preferences.merge(
            result.preferences, load.created, conflicts=self._conflicts, hidden=hidden
        )
        if self.about.open_only and hidden:
            self._refuse_locked(hidden)
        load.verdicts.merge(result.verdicts, load.created, conflicts=self._conflicts)

    def _merge_conversations(self) -> None:
        execute_sql(
            """INSERT INTO evaluations_conversation (project_id, digest, turns)
               SELECT %s, digest, turns FROM stage_conversation
               ON CONFLICT (project_id, digest) DO NOTHING""",
            [self.project.pk],
        )
        execute_sql("ALTER TABLE stage_document ADD of bigint")
        execute_sql(
            """UPDATE stage_document s SET of = c.id FROM evaluations_conversation c
               WHERE c.project_id = %s AND c.digest = s.conversation""",
            [self.project.pk],
        )

    def _drop_varying_metadata(self) -> None:
        """Drop metadata that varies within a document: it describes the outputs, or is a rater's
        comment. It is listed as unused."""
        load = self.load
        if not load.metadata_table.count:
            return
        selected = fetch_rows(
            """SELECT DISTINCT key FROM (
                   SELECT e.key FROM (
                       SELECT doc_id, metadata FROM stage_metadata UNION ALL
                       SELECT doc_id, metadata FROM stage_document
                           WHERE doc_id IN (SELECT doc_id FROM stage_metadata)
                   ) AS m, jsonb_each(m.metadata) AS e
                   GROUP BY m.doc_id, e.key HAVING count(DISTINCT e.value) > 1
               ) AS varying"""
        )
        varying = [key for (key,) in selected]
        execute_sql(
            """UPDATE stage_document s SET metadata = m.given || s.metadata FROM (
                   SELECT doc_id, jsonb_object_agg(e.key, e.value) AS given
                   FROM stage_metadata, jsonb_each(metadata) AS e GROUP BY doc_id
               ) AS m WHERE m.doc_id = s.doc_id"""
        )
        execute_sql(
            "UPDATE stage_document SET metadata = metadata - %s::text[]"
            " WHERE jsonb_exists_any(metadata, %s::text[])",
            [varying, varying],
        )
        for (file, key), rows in load.metadata_rows.rows.items():
            if key in varying:
                is_column = key in load.columns.get(file, {})
                load.errors.unused.add(file, key if is_column else f"metadata.{key}", rows)

    def _fill_documents(self) -> None:
        """Add to staged documents what only later rows have."""
        if self.load.filled_table.count:
            execute_sql(
                """UPDATE stage_document s SET context = coalesce(nullif(s.context, ''), f.context),
                    refs = CASE s.refs WHEN '[]'::jsonb THEN coalesce(f.refs, s.refs)
                        ELSE s.refs END
                   FROM (SELECT doc_id, max(context) AS context,
                             (array_agg(refs) FILTER (WHERE refs <> '[]'::jsonb))[1] AS refs
                         FROM stage_filled GROUP BY doc_id) AS f WHERE f.doc_id = s.doc_id"""
            )

    def _compare_sources(self) -> None:
        """Report rows whose document has another source in an earlier row; white space may
        differ."""
        table = self.load.other_sources
        if not table.count:
            return
        files, total = self.load.file_names, self.load.errors.total
        self._conflicts(
            f"""SELECT s.file, s.line, s.doc_id, d.file, d.line FROM {table.name} s
                JOIN stage_document d ON d.doc_id = s.doc_id WHERE {_SOURCE_DIFFERS}""",
            None,
            lambda doc_id, file, line: (
                "source",
                contradictions.SOURCES.format(doc_id, "source", f"{files[file]}:{line}"),
            ),
        )
        self.load.sources_alike = table.count - (self.load.errors.total - total)

    def _merge_documents(self, tally: LoadTally) -> None:
        load, replace = self.load, self.about.replace
        fixed = f"{DIFFERS} AND {DOCUMENT_HAS_DEPENDENTS}"
        self._conflicts(
            f"""SELECT s.file, s.line, s.doc_id, d.id,
                       CASE WHEN {_SOURCE_DIFFERS} THEN 'source'
                           WHEN {_CONTEXT_DIFFERS} THEN 'context'
                            WHEN {_REFERENCES_DIFFER} THEN 'references'
                            WHEN {_PLACE_DIFFERS} THEN 'conversation'
                            WHEN {_SESSION_DIFFERS} THEN 'session_id' ELSE 'metadata' END
                FROM stage_document s
                JOIN evaluations_document d ON d.project_id = %s AND d.doc_id = s.doc_id
                WHERE {fixed if replace else f"({DIFFERS} OR {CONTRADICTS})"}""",
            [self.project.pk],
            lambda doc_id, pk, column: (
                column,
                self._explain_difference(f"document {doc_id}", column, document=pk),
            ),
        )
        self._conflicts(
            _HAS_OTHER_NUMBER,
            [self.project.pk],
            lambda doc_id, other, session: (
                "session_id",
                OTHER_NUMBER.format(f"document {doc_id}", other, session),
            ),
        )
        self._refuse_other_draw()
        # Unless texts are to be replaced, different texts are errors, so nothing of this load is
        # kept.
        tally.changed = execute_sql(
            f"""UPDATE evaluations_document d
                SET source = CASE WHEN {_SOURCE_DIFFERS} THEN s.source ELSE d.source END,
                       context = coalesce(nullif(s.context, ''), d.context),
                       "references" = coalesce(nullif(s.refs, '[]'::jsonb), d.references),
                       metadata = d.metadata || s.metadata,
                       conversation_id = coalesce(s.of, d.conversation_id),
                       turns_before = CASE WHEN s.of IS NULL THEN d.turns_before
                           ELSE s.turns_before END,
                       session = coalesce(nullif(s.session, ''), d.session)
                FROM stage_document s WHERE d.project_id = %s AND d.doc_id = s.doc_id
                 AND (NOT d.metadata @> s.metadata OR {_ADDS}
                      {f"OR {DIFFERS}" if replace else ""})""",
            [self.project.pk],
        )
        # In the order of the files: pages list documents and outputs by id.
        tally.created = load.created.insert(
            "evaluations_document",
            """INSERT INTO evaluations_document (project_id, doc_id, source, context, "references",
                metadata, conversation_id, turns_before, session)
               SELECT %s, doc_id, source, context, refs, metadata, of, turns_before, session
                   FROM stage_document
                   ORDER BY file, line, turns_before
               ON CONFLICT (project_id, doc_id) DO NOTHING""",
            [self.project.pk],
        )
        tally.unchanged = load.document_table.count - tally.created - tally.changed

    def _refuse_other_draw(self) -> None:
        """Report documents that would change the unit by which they are locked: one that was seen
        could become locked, or the other way round."""
        lock = LockedDocuments.objects.filter(project=self.project, unlocked_at=None).first()
        if lock is None:
            return
        group = f"AND s.metadata -> '{GROUP}' IS DISTINCT FROM d.metadata -> '{GROUP}'"
        self._conflicts(
            f"""WITH here AS (
                SELECT doc_id, session, metadata FROM evaluations_document WHERE project_id = %s),
            new AS (SELECT * FROM stage_document WHERE doc_id NOT IN (SELECT doc_id FROM here))
                SELECT s.file, s.line, s.doc_id, s.session <> '' AND s.session <> d.session
                FROM stage_document s JOIN here d ON d.doc_id = s.doc_id
                WHERE (s.session <> '' AND s.session <> d.session)
                    OR (%s AND jsonb_exists(s.metadata, '{GROUP}') {group})
                UNION ALL
                SELECT s.file, s.line, s.doc_id, false FROM new s
                WHERE %s AND s.session <> '' AND EXISTS (
                    SELECT FROM (SELECT * FROM here UNION ALL
                        SELECT doc_id, session, metadata FROM new) d
                    WHERE d.session = s.session AND d.doc_id <> s.doc_id {group})""",
            [self.project.pk, lock.by_group, lock.by_group],
            lambda doc_id, is_session: (
                "session_id" if is_session else GROUP,
                DRAWN.format(doc_id, "session" if is_session else "group"),
            ),
        )

    def _merge_outputs(self, tally: LoadTally) -> None:
        load, replace = self.load, self.about.replace
        execute_sql("ALTER TABLE stage_output ADD document bigint")
        execute_sql(
            """UPDATE stage_output s SET document = d.id FROM evaluations_document d
               WHERE d.project_id = %s AND d.doc_id = s.doc_id""",
            [self.project.pk],
        )
        execute_sql("ANALYZE stage_output")
        self._conflicts(
            f"""SELECT s.file, s.line, s.doc_id, y.name, o.id FROM stage_output s
                JOIN evaluations_candidateoutput o ON o.document_id = s.document
                    AND o.system_id = s.system
                JOIN evaluations_system y ON y.id = s.system
                WHERE {_OUTPUT_DIFFERS} {f"AND {OUTPUT_HAS_DEPENDENTS}" if replace else ""}""",
            [],
            lambda doc_id, name, pk: (
                "output",
                self._explain_difference(
                    f"system {name}'s output for document {doc_id}", "text", outputs=[pk]
                ),
            ),
        )
        if replace:
            tally.changed = execute_sql(
                f"""UPDATE evaluations_candidateoutput o SET text = s.body, turns = s.turns
                   FROM stage_output s WHERE o.document_id = s.document AND o.system_id = s.system
                       AND {_OUTPUT_DIFFERS}"""
            )
        tally.created = load.created.insert(
            "evaluations_candidateoutput",
            """INSERT INTO evaluations_candidateoutput (document_id, system_id, text, turns)
               SELECT document, system, body, turns FROM stage_output
                   ORDER BY file, line, number
               ON CONFLICT (document_id, system_id) DO NOTHING""",
        )
        tally.unchanged = load.output_table.count - tally.created - tally.changed
        execute_sql(f"DROP TABLE IF EXISTS {OUTPUT_IDS}")
        execute_sql(
            f"""CREATE TEMPORARY TABLE {OUTPUT_IDS} ON COMMIT DROP AS
                SELECT s.number, o.id FROM stage_output s JOIN evaluations_candidateoutput o
                    ON o.document_id = s.document AND o.system_id = s.system"""
        )
        execute_sql(f"CREATE INDEX ON {OUTPUT_IDS} (number)")
        execute_sql(f"ANALYZE {OUTPUT_IDS}")

    def _explain_difference(
        self, subject: str, column: str, *, document: int = 0, outputs: Sequence[int] = ()
    ) -> str:
        """Say why a different text is not loaded: replacing was not requested, or is impossible."""
        if not self.about.replace or self.load.errors.total >= self.load.errors.most:
            return DIFFERENT.format(subject, column)
        ids = outputs or list(
            CandidateOutput.objects.filter(document=document).values_list("pk", flat=True)
        )
        return IN_USE.format(subject, column, describe_dependents(count_dependents(ids)))

    def _refuse_locked(self, hidden: Sequence[int]) -> None:
        """Report every rating, score or preference of locked documents as an error."""
        rated = (
            (self.load.rating_table, "s.output"),
            (self.load.preferences.table, "s.first"),
        )
        for table, output in rated:
            if table.count:
                self._conflicts(
                    f"""SELECT s.file, s.line, d.doc_id FROM {table.name} s
                        LEFT JOIN {OUTPUT_IDS} i ON i.number = {output}
                        JOIN evaluations_candidateoutput o ON o.id = coalesce(i.id, -{output})
                        JOIN evaluations_document d ON d.id = o.document_id
                        WHERE d.id = ANY(%s)""",
                    [list(hidden)],
                    lambda doc_id: ("doc_id", LOCKED.format(doc_id)),
                )

    def _merge_scores(
        self,
        tally: LoadTally,
        table: StagingTable,
        target: str,
        keys: tuple[str, str, str],
        value: str,
        hidden: Sequence[int] = (),
    ) -> None:
        """Insert new rows, and if some already exist, check for contradictions. Rows of `hidden`
        documents are not compared, because the error would reveal a withheld rating."""
        if not table.count:
            return
        columns = ", ".join(keys)
        more = ", comment" if table is self.load.rating_table else ""
        resolved = f"""SELECT s.file, s.line, coalesce(o.id, -s.output) AS output_id,
                              s.criterion AS {keys[1]}, s.rater AS {keys[2]}, s.score{more}
                       FROM {table.name} s LEFT JOIN {OUTPUT_IDS} o ON o.number = s.output"""
        tally.created = self.load.created.insert(
            target,
            f"""INSERT INTO {target} ({columns}, {value}{more})
                SELECT {columns}, score{more} FROM ({resolved}) AS r ORDER BY file, line
                ON CONFLICT ({columns}) DO NOTHING""",
        )
        tally.unchanged = table.count - tally.created
        if tally.unchanged:
            self._conflicts(
                # Materialised, so that no plan compares rows by a part of the key first.
                f"""WITH r AS MATERIALIZED ({resolved})
                    SELECT r.file, r.line, r.score, e.{value} FROM r
                    JOIN {target} e ON e.output_id = r.output_id AND e.{keys[2]} = r.{keys[2]}
                     AND e.criterion_id IS NOT DISTINCT FROM r.criterion_id
                    WHERE (abs(e.{value} - r.score)
                        > {contradictions.SAME:g} * greatest(abs(e.{value}), abs(r.score))
                        OR (e.{value} IS NULL) <> (r.score IS NULL))
                     AND NOT EXISTS (SELECT FROM evaluations_candidateoutput o
                         WHERE o.id = e.output_id AND o.document_id = ANY(%s::bigint[]))""",
                [list(hidden)],
                lambda here, there: ("score", contradictions.of_scores(here, there)),
            )

    def _finish_new_criteria(self) -> None:
        """Give new criteria a scale for their ratings, and a preset's wording if one matches."""
        new = {
            seen.criterion.name: seen
            for seen in self.load.seen.values()
            if seen.is_new and (seen.ratings.total or seen.scores.total or seen.has_replies)
        }
        scales = {name: self._scale_of(name, seen) for name, seen in new.items()}
        presets = presets_for(
            scales, among=[seen.criterion.name for seen in self.load.seen.values()]
        )
        for name, seen in new.items():
            criterion, scale = seen.criterion, scales[name]
            criterion.scale_min, criterion.scale_max = scale.lowest, scale.highest
            criterion.scale_step = scale.step
            criterion.scale_is_guess = name.lower() not in self.load.scales
            if name in presets:
                criterion.use_preset(presets[name])
            criterion.save()

    def _confirm_scales(self) -> None:
        """Store the scales of existing criteria that were guesses and are confirmed now."""
        for name, seen in self.load.seen.items():
            criterion, stated = seen.criterion, self.load.stated_scales.get(name)
            if stated and not seen.is_new and criterion.scale_is_guess:
                criterion.scale_min, criterion.scale_max = stated.lowest, stated.highest
                criterion.scale_step, criterion.scale_is_guess = stated.step, False
                criterion.save()

    def _scale_of(self, name: str, seen: SeenCriterion) -> Scale:
        """Return the confirmed scale, or the guess from the values. Ratings off the guessed scale
        are errors, because they may be typing errors."""
        if name.lower() in self.load.scales:
            return self.load.scales[name.lower()]
        among = [other.criterion.name for other in self.load.seen.values()]
        replies = self.load.replies.sample(seen.criterion.pk)
        guess = guess_of(seen, among, replies)
        if guess.off:
            self._report_strays(name, seen, guess)
        return guess.scale

    def _report_strays(self, name: str, seen: SeenCriterion, guess: ScaleGuess) -> None:
        """Report each rating off the guessed scale as an error that says how to continue."""
        wider, scale = usual_scale_for(seen.ratings.range), guess.scale
        seen.off = guess.off
        strays = self._ratings(seen, "NOT score BETWEEN %s AND %s", scale)
        others = seen.ratings.total - len(strays)
        for file, line, column, score in strays:
            message = contradictions.stray(
                score, guess, name, others=others, wider=f"confirm that the scale is {wider}"
            )
            self.load.errors.add(file, line, column, message)

    def _report_narrower_scale(self, seen: SeenCriterion) -> None:
        """Report ratings on a narrower scale than the project's existing ratings as errors."""
        narrow, criterion = other_scale(seen), seen.criterion
        if narrow is None:
            return
        ratings = self._ratings(seen, "score BETWEEN %s AND %s", narrow)
        seen.off = (min(score for *_, score in ratings), max(score for *_, score in ratings))
        for file, line, column, score in ratings:
            self.load.errors.add(
                file,
                line,
                column,
                f"{score:g} seems to be on {narrow}, where the project's ratings of"
                f" {criterion.name} are on {criterion.scale}; bring it to that scale, or confirm"
                f" that it is on {criterion.scale}",
            )

    def _note_mixed_scores(self, scores: MixedScores) -> None:
        """Report each score off the narrower of two scales as an error; if only existing scores are
        off it, each score on it."""
        self.load.mixed_scores.append(scores)
        which = "NOT score BETWEEN %s AND %s"
        off = self._scores(scores, which)
        for file, line, column, score in off or self._scores(scores, which.removeprefix("NOT ")):
            others = f"the other scores of {scores.name}"
            problem = (
                f"is on another scale than {others} that seem to be on {scores.narrow}"
                if off
                else f"seems to be on {scores.narrow}, unlike {others}"
            )
            self.load.errors.add(
                file,
                line,
                column,
                f"{score:g} {problem}; bring all to one scale, or confirm that it is {scores.wide}"
                " for all",
            )

    def _scores(self, scores: MixedScores, which: str) -> list[tuple[str, int, str, float]]:
        """Return file, line, column and value of a judge's staged scores, filtered by position
        relative to the narrower scale."""
        about = "rater = %s AND criterion IS NOT DISTINCT FROM %s"
        rows = self._staged(
            "stage_score", about, [scores.run, scores.criterion], which, scores.narrow
        )
        columns = self.load.columns
        return [
            (
                file,
                line,
                column_of_rating(columns.get(file, {}), scores.criterion_name, scores.judge),
                score,
            )
            for file, line, _run, score in rows
        ]

    def _ratings(
        self, seen: SeenCriterion, which: str, scale: Scale
    ) -> list[tuple[str, int, str, float]]:
        """Return file, line, column and value of staged ratings, filtered by position relative to a
        scale."""
        raters = {annotator.pk: annotator.name for annotator in self.load.annotators.values()}
        columns = self.load.columns
        rows = self._staged("stage_rating", "criterion = %s", [seen.criterion.pk], which, scale)
        return [
            (
                file,
                line,
                column_of_rating(columns.get(file, {}), seen.criterion.name, raters[rater]),
                score,
            )
            for file, line, rater, score in rows
        ]

    def _staged(
        self, table: str, about: str, parameters: Sequence[Any], which: str, scale: Scale
    ) -> list[tuple[str, int, int, float]]:
        """Return file, line, rater (or run) and value of staged rows, filtered by position relative
        to a scale."""
        rows = fetch_rows(
            f"""SELECT file, line, rater, score FROM {table}
                WHERE {about} AND {which} ORDER BY file, line""",
            [*parameters, scale.lowest - ROUNDING, scale.highest + ROUNDING],
        )
        return [(self.load.file_names[number], *row) for number, *row in rows]

    def _conflicts(self, query: str, parameters: Sequence[Any] | None, explain: Any) -> None:
        # By place in the files, as only the first errors are listed.
        rows = fetch_rows(f"SELECT * FROM ({query}) AS c ORDER BY 1, 2", parameters or None)
        for file, line, *values in rows:
            column, message = explain(*values)
            self.load.errors.add(self.load.file_names[file], line, column, message)
