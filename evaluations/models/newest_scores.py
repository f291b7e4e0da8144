"""The newest score of a judge: the one of its latest run that has one, whatever earlier runs gave.
What a search for a better judge tried, and what a study of a judge as an instrument asked, is no
score of it.

Every place that shows, averages or compares scores takes them from here.
"""

from django.db import connection

_KEYS = {
    "evaluations_score": "r.judge_id, s.output_id, s.criterion_id",
    "evaluations_pairscore": "r.judge_id, s.output_id, s.rival_id, s.criterion_id",
}


# A condition for runs (`r`) whose scores are their judge's.
COUNTS = "r.search_id IS NULL AND r.purpose = ''"


def newest_scores(where: str, *, joins: str = "", table: str = "evaluations_score") -> str:
    """The query for `judge_id` and all columns of the newest score of each judge, output (or pair)
    and criterion.

    A score without a criterion, which counts for every one, is newest among its like. Filter on
    values outside: inside, an older score would take the place of a newer one.

    Args:
        where: which scores are looked at, by judges (`r` is the run), outputs or criteria (`s` is
            the score).
        joins: tables that `where` needs.
        table: `evaluations_score`, or `evaluations_pairscore` for verdicts on pairs.
    """
    keys = _KEYS[table]
    return f"""
        SELECT DISTINCT ON ({keys}) r.judge_id, s.*
        FROM {table} s JOIN evaluations_evaluationrun r ON r.id = s.run_id {joins}
        WHERE {where} AND {COUNTS} ORDER BY {keys}, s.run_id DESC"""


def runs_of_newest(judge: int, criterion: int) -> list[int]:
    """The runs that a judge's newest scores on a criterion are from, by the ids of both."""
    newest = newest_scores("r.judge_id = %s AND s.criterion_id = %s")
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT DISTINCT n.run_id FROM ({newest}) AS n", [judge, criterion])
        return [run for (run,) in cursor.fetchall()]
