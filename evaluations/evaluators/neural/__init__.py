"""What the evaluators with models of their own share: settings, loading, batches by length, limits.
torch is imported only when a model is loaded, so that everything else works without it."""
