"""Contradictions in files: the same thing twice with different values is an error, equal rows count
once, and ratings off a scale are an error too.
"""

from geval.files.rows import (
    OutputRow,
    PreferenceRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
    ShareRow,
)
from geval.statistics.scales import NOT_APPLICABLE, ScaleGuess

# How much two numbers of the same score may differ, as a share of the larger: files round.
SAME = 1e-10
_SCORES = "score {} contradicts {}, the score that this output already has on this criterion"
REPLIES = "this output already has different replies on {}"
SOURCES = "document {} has a different {} at {}; a document has only one"
OUTPUTS = "system {} has a different output for document {} at {}"
OUTSIDE = "score {:g} is outside {}'s scale {}; change it or the scale"
OUTSIDE_GUESS = (
    "score {:g} is outside {}'s scale {}, which was guessed from its first ratings; change the"
    " score, or confirm that the scale is {}"
)
HAS_SCALE = "{} exists with the scale {}, not {}; change it on the criterion's page"
PREFERENCES = "contradicts this annotator's existing preference about these two outputs"
VERDICTS = "contradicts another row about these two outputs in this order"
PROBABILITIES = (
    "the probability {:g} contradicts {:g} of another rating of the same output on this criterion;"
    " state one for all of them"
)


class ContradictionError(ValueError):
    """A row contradicts an earlier one in `column`."""

    def __init__(self, column: str, message: str) -> None:
        super().__init__(message)
        self.column = column


class Repeats:
    """Remembers the values of earlier rows."""

    def __init__(self) -> None:
        self._scores: dict[tuple[object, ...], float] = {}
        self._probabilities: dict[tuple[str, ...], float] = {}
        self._outputs: dict[tuple[str, str], tuple[str, str]] = {}
        self._choices: dict[tuple[object, ...], int] = {}
        self._replies: dict[tuple[str, ...], tuple[str, ...]] = {}

    def is_new(self, row: Row, place: str) -> bool:
        """Return whether a row is new rather than a repetition.

        Args:
            place: the row's place, such as "ratings.csv:3".

        Raises:
            ContradictionError: it contradicts an earlier row.
        """
        if isinstance(row, ScoreRow):
            return self._is_new_score(row)
        if isinstance(row, OutputRow):
            self._check_output(row, place)
        elif isinstance(row, PreferenceRow) and not isinstance(row, ShareRow):
            return self._is_new_choice(row)
        elif isinstance(row, RepliesRow):
            return self._are_new_replies(row)
        return True

    def _is_new_score(self, row: ScoreRow) -> bool:
        output = (row.doc_id or row.source, row.system_id, row.criterion.lower())
        if isinstance(row, RatingRow) and row.probability is not None:
            stated = self._probabilities.setdefault(output, row.probability)
            if stated != row.probability:
                raise ContradictionError(
                    "probability", PROBABILITIES.format(row.probability, stated)
                )
        # A person who rates an output twice contradicts themselves; a judge was asked again.
        repeat = "" if isinstance(row, RatingRow) else row.repeat
        key = (isinstance(row, RatingRow), *output, row.rater, repeat)
        earlier = self._scores.get(key)
        if earlier is None:
            self._scores[key] = row.score
        elif not are_same(earlier, row.score):
            raise ContradictionError(row.column, of_scores(row.score, earlier))
        return earlier is None

    def _check_output(self, row: OutputRow, place: str) -> None:
        document = row.doc_id or row.source
        text, earlier = self._outputs.setdefault((document, row.system_id), (row.output, place))
        if text != row.output:
            raise ContradictionError("output", OUTPUTS.format(row.system_id, document, earlier))

    def _is_new_choice(self, row: PreferenceRow) -> bool:
        is_turned = row.first > row.second
        # A judge may have been asked in both orders.
        order = (row.first_was_left in (True, None)) != is_turned if row.by_judge else None
        key = (
            row.doc_id, row.turn, *sorted((row.first, row.second)), row.criterion.lower(),
            row.annotator, order,
        )  # fmt: skip
        value = -row.value if is_turned else row.value
        earlier = self._choices.get(key)
        if earlier is None:
            self._choices[key] = value
        elif earlier != value:
            raise ContradictionError(
                "winner",
                VERDICTS if row.by_judge else PREFERENCES,
            )
        return earlier is None

    def _are_new_replies(self, row: RepliesRow) -> bool:
        key = (row.doc_id or row.source, row.system_id, row.criterion.lower(), row.judge)
        earlier = self._replies.get(key)
        if earlier is None:
            self._replies[key] = row.replies
        elif earlier != row.replies:
            raise ContradictionError("all_responses", REPLIES.format(row.criterion))
        return earlier is None


def of_scores(here: float | None, there: float | None) -> str:
    """Return the error message for a score that contradicts another; None is "n/a"."""
    return _SCORES.format(
        *(NOT_APPLICABLE if score is None else f"{score:.12g}" for score in (here, there))
    )


def are_same(one_score: float, other: float) -> bool:
    """Return whether two numbers are the same score, except for rounding."""
    return abs(one_score - other) <= SAME * max(abs(one_score), abs(other))


def stray(rating: float, guess: ScaleGuess, name: str, *, others: int, wider: str) -> str:
    """Return the error message for a rating that is off the scale of a criterion's other ratings.

    Args:
        others: how many ratings are on the scale.
        wider: how to say that a wider scale is right, such as "confirm that the scale is 1-10".
    """
    if guess.is_mixed:
        return (
            f"{rating:g} is on another scale than the {others:,} ratings of {name} that seem to be"
            f" on {guess.scale}; bring all to one scale, or {wider} for all"
        )
    return (
        f"{rating:g} is off {guess.scale}, the scale of the other {others:,} ratings of {name};"
        f" correct it (an empty cell is no rating), or {wider}"
    )
