"""What can go wrong with the embedded PostgreSQL, for people."""


class EmbeddedServerError(RuntimeError):
    """The embedded PostgreSQL could not be started; the message says why and where its log is."""
