"""Results of comparisons as tables: leaderboards, and agreement of people and judges."""

from collections.abc import Iterator, Sequence
from typing import Any

from geval.reports.downloads.json_values import ends_json, estimate_json
from geval.reports.leaderboard import Leaderboard
from geval.statistics.comparisons import Agreed
from geval.texts.numbers import in_brackets, two_decimals

STANDINGS = ("system", "strength", "95 % interval", "won", "tied", "lost")
AGREEMENT = ("agreement on comparisons", "with ties (S1)", "pairs", "without ties (S2)", "pairs")
NOTE = (
    "Strengths by Davidson's model. Agreement: the share of pairs of choices about the same two"
    " outputs that are equal, with 95 % intervals over documents; with ties as a third choice (S1"
    " of MT-bench), and without pairs that have a tie (S2)."
)


def standings_rows(board: Leaderboard) -> Iterator[tuple[str, ...]]:
    """Yield a row for each system, the best first."""
    for standing in board.standings:
        interval = in_brackets(standing.interval)
        strength = ("–", "") if board.reason else (two_decimals(standing.strength), interval)
        yield (
            standing.system,
            *strength,
            str(standing.wins),
            str(standing.ties),
            str(standing.losses),
        )


def agreement_rows(board: Leaderboard) -> Iterator[tuple[str, ...]]:
    """Return a row for people among each other, and one for each judge with people."""
    for side in board.agreement:
        cells = [part for setup in side.setups for part in (_share(setup), str(setup.pairs))]
        yield side.words, *cells


def _share(measured: Agreed) -> str:
    if measured.estimate.value is None:
        return "–"
    return f"{two_decimals(measured.estimate.value)} {in_brackets(measured.interval)}".rstrip()


def boards_text(boards: Sequence[tuple[str, Leaderboard]]) -> list[str]:
    """Return lines for the terminal."""
    lines = []
    for name, board in boards:
        lines.append(f"\nLeaderboard by {board.comparisons} comparisons: {name}")
        for header, rows in (
            (STANDINGS, list(standings_rows(board))),
            (AGREEMENT, list(agreement_rows(board))),
        ):
            lines += _in_columns([header, *rows]) if rows else []
        if board.comparisons and board.reason:
            lines.append(f"No strengths: {board.reason}.")
    return [*lines, f"\n{NOTE}"] if lines else []


def _in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for row in rows
    ]


def board_json(board: Leaderboard) -> dict[str, Any]:
    """Return a leaderboard as JSON; an undefined value is null, with its reason."""
    return {
        "comparisons": board.comparisons,
        "leaderboard": [
            {
                "system": standing.system,
                "strength": None if board.reason else standing.strength,
                "ci": ends_json(standing.interval),
                "won": standing.wins,
                "tied": standing.ties,
                "lost": standing.losses,
            }
            for standing in board.standings
        ],
        **({"reason": board.reason} if board.reason else {}),
        "left_share": board.left_share,
        "left_share_ci": ends_json(board.left_interval),
        "agreement": [
            {
                "between": ["people", "people"] if side.is_people else [side.name, "people"],
                **({"seen_by_search": True} if side.is_seen else {}),
                **{
                    setup: estimate_json(accuracy.estimate)
                    | {
                        "ci": ends_json(accuracy.interval),
                        **(
                            {"ci_reason": accuracy.interval.reason}
                            if accuracy.interval.reason
                            else {}
                        ),
                        "pairs": accuracy.pairs,
                        "documents": accuracy.documents,
                    }
                    for setup, accuracy in zip(
                        ("with_ties", "without_ties"), side.setups, strict=True
                    )
                },
            }
            for side in board.agreement
        ],
        "pairwise_judges": {
            judge.judge: {
                "pairs": judge.pairs,
                "prefers_as_people_do": estimate_json(judge.agreement)
                | {"comparisons": judge.comparisons},
                "shown_first_wins": judge.left,
                "ties": judge.tie,
                "kendall_of_ranking": estimate_json(judge.tau),
                "strengths": dict(judge.ranking),
                **({"seen_by_search": True} if judge.is_seen else {}),
            }
            for judge in board.pairwise
        },
    }
