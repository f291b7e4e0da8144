"""Errors of archives, with messages for users."""


class ArchiveError(ValueError):
    """An invalid archive; the message says where and what to do. Nothing was written."""


class WrongValueError(ValueError):
    """A value that no form would accept; the message says what is wrong with it."""
