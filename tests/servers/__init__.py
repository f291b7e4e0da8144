"""Judges against real servers with real tokenizers; `make test-servers`."""
