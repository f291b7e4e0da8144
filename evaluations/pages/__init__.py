"""What pages of documents, runs and the project's home show."""
