"""Thin views, one module per subject: read the request, call one function, render."""
