"""Addresses of pages."""

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, path

PROJECT = "p/<slug:slug>/"


def page(address: str, view: Callable[..., Any]) -> URLPattern:
    """Return the address of a page by its view's name."""
    return path(address, view, name=view.__name__)
