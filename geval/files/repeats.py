"""Repeated rows in files: equal rows count once, and a contradiction is an error."""

from geval.files import contradictions
from geval.files.rows import (
    OutputRow,
    PreferenceRow,
    RatingRow,
    RepliesRow,
    Row,
    ScoreRow,
    ShareRow,
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
                    "probability", contradictions.PROBABILITIES.format(row.probability, stated)
                )
        key = (isinstance(row, RatingRow), *output, row.rater)
        earlier = self._scores.get(key)
        if earlier is None:
            self._scores[key] = row.score
        elif not contradictions.are_same(earlier, row.score):
            raise ContradictionError(row.column, contradictions.SCORES.format(row.score, earlier))
        return earlier is None

    def _check_output(self, row: OutputRow, place: str) -> None:
        document = row.doc_id or row.source
        text, earlier = self._outputs.setdefault((document, row.system_id), (row.output, place))
        if text != row.output:
            raise ContradictionError(
                "output", contradictions.OUTPUTS.format(row.system_id, document, earlier)
            )

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
                contradictions.VERDICTS if row.by_judge else contradictions.PREFERENCES,
            )
        return earlier is None

    def _are_new_replies(self, row: RepliesRow) -> bool:
        key = (row.doc_id or row.source, row.system_id, row.criterion.lower(), row.judge)
        earlier = self._replies.get(key)
        if earlier is None:
            self._replies[key] = row.replies
        elif earlier != row.replies:
            raise ContradictionError("all_responses", contradictions.REPLIES.format(row.criterion))
        return earlier is None
