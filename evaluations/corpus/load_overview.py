"""The overview of a dry run, read from its staged rows."""

from collections.abc import Iterable

from django.db import connection

from evaluations.corpus.row_staging import RowStager
from geval.files.load_contents import CriterionContents, ExampleItem, ExampleScore, LoadContents
from geval.statistics.scales import short

# People check at a glance whether columns were understood; more would fill the page.
EXAMPLES = 3
SHOWN_VALUES = 20
SHOWN_NAMES = 200
SHOWN_CHARACTERS = 300
MOST_EXAMPLE_SCORES = 24
# The outputs that are scored first, or else the first outputs.
FIRST_SCORED = """SELECT output FROM (
        SELECT DISTINCT ON (output) output, file, line FROM (
            (SELECT output, file, line FROM stage_rating ORDER BY file, line LIMIT 1000)
            UNION ALL (SELECT output, file, line FROM stage_score ORDER BY file, line LIMIT 1000)
        ) AS scored ORDER BY output, file, line
    ) AS once ORDER BY file, line LIMIT %s"""
STAGED_OUTPUT = f"""SELECT o.doc_id, y.name, left(d.source, {SHOWN_CHARACTERS}),
        left(o.body, {SHOWN_CHARACTERS})
    FROM stage_output o JOIN evaluations_system y ON y.id = o.system
    JOIN stage_document d ON d.doc_id = o.doc_id WHERE o.number = %s LIMIT 1"""
KNOWN_OUTPUT = f"""SELECT d.doc_id, y.name, left(d.source, {SHOWN_CHARACTERS}),
        left(o.text, {SHOWN_CHARACTERS})
    FROM evaluations_candidateoutput o JOIN evaluations_system y ON y.id = o.system_id
    JOIN evaluations_document d ON d.id = o.document_id WHERE o.id = %s"""


def contents_of(load: RowStager) -> LoadContents:
    """Return what a load's staged rows would create."""
    people = {annotator.pk: annotator.name for annotator in load.annotators.values()}
    judges = {run: name for name, run in load.import_runs.items()}
    systems = {pk: name for name, pk in load.systems.items()}
    return LoadContents(
        criteria=criteria_of(load),
        raters=_counts("stage_rating", "rater", people),
        judges=_counts("stage_score", "rater", judges),
        systems=_counts("stage_output", "system", systems),
        examples=tuple(_examples(load, people, judges)),
    )


def criteria_of(load: RowStager) -> tuple[CriterionContents, ...]:
    """Return the criteria of a load's ratings and scores, and the judges whose scores on a
    criterion seem to be on two scales."""
    return tuple(_criteria(load))


def _criteria(load: RowStager) -> Iterable[CriterionContents]:
    for name, seen in load.seen.items():
        ratings, criterion = seen.ratings, seen.criterion
        if not ratings.total and not seen.scores.total:
            continue
        is_guess = seen.is_new and name not in load.scales
        shown = sorted(ratings.counts) if len(ratings.counts) <= SHOWN_VALUES else []
        yield CriterionContents(
            criterion.name, seen.is_new, criterion.scale_min, criterion.scale_max,
            criterion.scale_step, is_guess, ratings.total, seen.scores.total,
            {short(value): ratings.counts[value] for value in shown},
            seen.off if len(seen.off) <= SHOWN_VALUES else (seen.off[0], seen.off[-1]),
        )  # fmt: skip
    for mixed in load.mixed_scores:
        # A separate row, so that its scale can be confirmed like those of ratings.
        yield CriterionContents(
            mixed.name, False, mixed.narrow.lowest, mixed.narrow.highest, mixed.narrow.step, True,
            0, mixed.scores, {}, (mixed.wide.lowest, mixed.wide.highest),
        )  # fmt: skip


def _counts(table: str, column: str, names: dict[int, str]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT {column}, count(*) FROM {table} GROUP BY {column}
                ORDER BY min(file), min(line), {column} LIMIT {SHOWN_NAMES}"""
        )
        return {names[pk]: count for pk, count in cursor.fetchall()}


def _examples(
    load: RowStager, people: dict[int, str], judges: dict[int, str]
) -> Iterable[ExampleItem]:
    criteria = {seen.criterion.pk: seen.criterion.name for seen in load.seen.values()}
    with connection.cursor() as cursor:
        cursor.execute(FIRST_SCORED, [EXAMPLES])
        numbers = [number for (number,) in cursor.fetchall()]
        for number in numbers or range(min(EXAMPLES, len(load.outputs))):
            is_staged = number >= 0
            cursor.execute(STAGED_OUTPUT if is_staged else KNOWN_OUTPUT, [abs(number)])
            example = cursor.fetchone()
            if example is None:
                continue
            scores: list[ExampleScore] = []
            for table, raters in (("stage_rating", people), ("stage_score", judges)):
                cursor.execute(
                    f"""SELECT criterion, rater, score FROM {table} WHERE output = %s
                        ORDER BY file, line, criterion, rater LIMIT {MOST_EXAMPLE_SCORES}""",
                    [number],
                )
                scores += [
                    ExampleScore(
                        criteria.get(criterion, ""), raters[rater], score, raters is judges
                    )
                    for criterion, rater, score in cursor.fetchall()
                ]
            doc_id, system, source, output = example
            yield ExampleItem(doc_id, system, source, output, tuple(scores))
