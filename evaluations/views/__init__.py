"""Thin views, one module a subject of the pages: read the request, call one function, render."""
