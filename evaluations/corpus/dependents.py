"""Count the records that depend on a text: ratings, scores and everything else that needs it
unchanged."""

from collections.abc import Mapping, Sequence

from django.db import connection

# Kind of record -> its table, and how its rows point to an output `o`.
STANDING = {
    "ratings": ("annotations_rating", "t.output_id = o.id"),
    "preferences": ("annotations_preference", "o.id IN (t.output_a_id, t.output_b_id)"),
    "marked spans": ("annotations_span", "t.output_id = o.id"),
    "scores": ("evaluations_score", "t.output_id = o.id"),
    "comparisons by judges": ("evaluations_pairscore", "o.id IN (t.output_id, t.rival_id)"),
    "items of runs": ("evaluations_runitem", "o.id IN (t.output_id, t.rival_id)"),
    "items of campaigns": (
        "annotations_campaignitem",
        "t.document_id = o.document_id AND o.id = ANY(t.outputs)",
    ),
}


def _exists() -> str:
    parts = (
        f"EXISTS (SELECT 1 FROM {table} t WHERE {points})" for table, points in STANDING.values()
    )
    return " OR ".join(parts)


# Whether anything depends on a row `o` of outputs, or on a row `d` of documents.
OUTPUT_HAS_DEPENDENTS = f"({_exists()})"
DOCUMENT_HAS_DEPENDENTS = (
    "EXISTS (SELECT 1 FROM evaluations_candidateoutput o WHERE o.document_id = d.id AND"
    f" {OUTPUT_HAS_DEPENDENTS})"
)


def count_dependents(ids: Sequence[int]) -> dict[str, int]:
    """Return how many records of each kind depend on these outputs, without kinds that have
    none."""
    counted = " UNION ALL ".join(
        f"""SELECT '{what}', count(DISTINCT t.id) FROM evaluations_candidateoutput o JOIN {table} t
            ON {points}
            WHERE o.id = ANY(%(ids)s)"""
        for what, (table, points) in STANDING.items()
    )
    with connection.cursor() as cursor:
        cursor.execute(counted, {"ids": list(ids)})
        return {what: count for what, count in cursor.fetchall() if count}


def describe_dependents(counts: Mapping[str, int]) -> str:
    """Describe the counts, for example "24 ratings, 12 scores and 12 items of runs depend on
    it"."""
    parts = [f"{count:,} {what if count != 1 else _one(what)}" for what, count in counts.items()]
    if len(parts) > 1:
        return f"{', '.join(parts[:-1])} and {parts[-1]} depend on it"
    return f"{parts[0]} {'depends' if set(counts.values()) == {1} else 'depend'} on it"


def _one(what: str) -> str:
    first, _, rest = what.partition(" ")
    if first == "marked":
        return "marked span"
    return f"{first.removesuffix('s')} {rest}".strip()
