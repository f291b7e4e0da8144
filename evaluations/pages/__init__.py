"""The contents of pages of documents, runs and the project's home."""
