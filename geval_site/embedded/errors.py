"""Errors of the embedded PostgreSQL, for users."""


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL could not be started; the message says why and where its log is."""
