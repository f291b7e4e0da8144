"""Moved to `geval.client`; kept for scripts that import it from here."""

from geval.client import *  # noqa: F403
