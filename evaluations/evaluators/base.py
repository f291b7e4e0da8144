"""Moved to `geval.evaluators.base`; packages with evaluators import it from there."""

from geval.evaluators.base import *  # noqa: F403
