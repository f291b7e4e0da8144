"""The offline stand-in LLM: a small OpenAI-compatible server that rates by lexical features. Not an
LLM."""
