"""A judge's newest scores: those of its latest run with one, whatever earlier runs gave. Scores of
searches for a better judge and of studies do not count.

Every place that shows, averages or compares scores uses this query.
"""

from geval_site.sql import fetch_rows

_KEYS = {
    "evaluations_score": "r.judge_id, s.output_id, s.criterion_id",
    "evaluations_pairscore": "r.judge_id, s.output_id, s.rival_id, s.criterion_id",
}


# A condition for runs (`r`) whose scores are their judge's.
COUNTS = "r.search_id IS NULL AND r.purpose = ''"


def newest_scores(where: str, *, joins: str = "", table: str = "evaluations_score") -> str:
    """Return the query for `judge_id` and all columns of the newest score of each judge, output (or
    pair) and criterion.

    Scores without a criterion, which count for every criterion, are compared among themselves.
    Filter on values outside this query: inside, an older score would replace a newer one.

    Args:
        where: a condition on judges (`r` is the run), outputs or criteria (`s` is the score).
        joins: tables that `where` needs.
        table: `evaluations_score`, or `evaluations_pairscore` for verdicts on pairs.
    """
    keys = _KEYS[table]
    return f"""
        SELECT DISTINCT ON ({keys}) r.judge_id, s.*
        FROM {table} s JOIN evaluations_evaluationrun r ON r.id = s.run_id {joins}
        WHERE {where} AND {COUNTS} ORDER BY {keys}, s.run_id DESC"""


def runs_of_newest(judge: int, criterion: int) -> list[int]:
    """Return the runs of a judge's newest scores on a criterion, both by id."""
    newest = newest_scores("r.judge_id = %s AND s.criterion_id = %s")
    rows = fetch_rows(f"SELECT DISTINCT n.run_id FROM ({newest}) AS n", [judge, criterion])
    return [run for (run,) in rows]
