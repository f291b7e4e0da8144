"""Code shared by evaluators with local models: settings, loading, batches by length, limits. torch
is imported only when a model is loaded, so that everything else works without it."""
