"""The name of the offline stand-in, which is not an LLM; `geval.standin` serves it."""

MODEL = "offline-stand-in"
HONEST_NAME = "offline stand-in, not an LLM"
