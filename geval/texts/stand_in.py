"""What the offline stand-in is called, which is no LLM; `geval.standin` serves it."""

MODEL = "offline-stand-in"
HONEST_NAME = "offline stand-in, not an LLM"
