"""Shared by evaluators with their own models: settings, loading, batches by length, limits. torch
is imported only when a model is loaded, so that everything else works without it."""
