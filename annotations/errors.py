"""What can be refused while annotating, in words for the annotator."""

from collections.abc import Mapping


class AnnotationError(Exception):
    """Something is refused; the message says what, and what to do.

    `fields` names the parts of an answer that are wrong, by the name of their form field.
    `keeps_place` tells whether the annotator may try again with the same item.
    """

    def __init__(
        self, message: str, *, fields: Mapping[str, str] | None = None, keeps_place: bool = True
    ) -> None:
        super().__init__(message)
        self.message = message
        self.fields = dict(fields or {})
        self.keeps_place = keeps_place
