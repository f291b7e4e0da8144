"""Errors of backups, with messages for users."""


class BackupError(Exception):
    """A backup was not made, is damaged or does not fit; the message says what to do."""
