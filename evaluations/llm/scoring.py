"""Moved to `geval.llm.scoring`; packages with evaluators import it from there."""

from geval.llm.scoring import *  # noqa: F403
