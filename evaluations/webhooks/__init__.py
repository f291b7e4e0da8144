"""Telling other servers what has ended: announced in the database, signed, sent by a worker, tried
again."""
