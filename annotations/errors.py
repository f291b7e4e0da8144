"""Errors during annotation, with messages for the annotator."""

from collections.abc import Mapping


class AnnotationError(Exception):
    """A refused action; the message says what is wrong, and what to do.

    `fields` holds the errors of an answer by form field. `keeps_place` says whether the annotator
    may retry the same item.
    """

    def __init__(
        self, message: str, *, fields: Mapping[str, str] | None = None, keeps_place: bool = True
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fields = dict(fields or {})
        self.keeps_place = keeps_place
