"""Moved to `geval.client`; scripts import it from there."""

from geval.client import *  # noqa: F403
