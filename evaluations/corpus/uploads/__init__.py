"""Uploads in the browser: files are stored, previewed, checked, and loaded in the background."""
