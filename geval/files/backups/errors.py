"""What can go wrong with a backup, for people."""


class BackupError(Exception):
    """A backup was not made, is damaged or does not fit; the message says what to do."""
