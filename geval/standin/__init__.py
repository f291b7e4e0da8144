"""The offline stand-in LLM: a small OpenAI-compatible server that rates by lexical features. Not an
LLM."""

MODEL = "offline-stand-in"
HONEST_NAME = "offline stand-in, not an LLM"
