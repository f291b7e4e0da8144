"""What the site's forms are sent: fields that they know, with values of all kinds."""

import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from django import forms
from django.urls import URLPattern, URLResolver, get_resolver
from hypothesis import strategies as st

from annotations.planning.drafts import ASKED
from tests.made_up_files import HOSTILE

# Signing out ends the session; the admin's forms are Django's own, the API has a fuzz of its own.
LEFT_OUT = re.compile(r"^(admin|api|sign-out|sign-in/with)")
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
NAMED = re.compile(r'<(?:input|select|textarea|button)[^>]*\sname="([^"]+)"')
# These call an endpoint, which takes its time to be found dead.
CALLING = frozenset({"generate", "csrfmiddlewaretoken"})
NUMBERS = (
    "0", "-1", "1", "2", "50", "1e308", "-1e999", "NaN", "Infinity", "9" * 25, "9" * 5000, "1_000",
    "٣", "²", "1e-9",
)  # fmt: skip
WORDS = (
    "on", "true", "good", "coherence", "rating", "all", "document", "owner", "rouge", "pairwise",
    "logprobs",
    "a" * 5000,
    "2030-01-01T10:00", "9999-12-31T23:59", "0001-01-01T00:00", "http://127.0.0.1:1/v1",
    "http://169.254.169.254/",
    "http://[::1", "file:///etc/passwd", "1 = Yes", "nan = No", "{{Document}}", "{{", "{% x %}",
    "[]", "{}", "[[1]]",
    '{"scores": {}}', "file-1", "file-x", "d1, good, 3",
)  # fmt: skip

values = st.one_of(
    st.sampled_from(WORDS), st.sampled_from(NUMBERS), st.sampled_from(HOSTILE), st.text(max_size=20)
).map(lambda text: text.encode("utf-8", "replace").decode())


def routes() -> list[str]:
    """The patterns of all addresses of our own pages, with their parameters in angle brackets."""
    return sorted(route for route in _routes(get_resolver()) if not LEFT_OUT.match(route))


def _routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        elif not LEFT_OUT.match(route):
            yield from _routes(pattern, route)


def address(route: str, given: dict[str, str], number: str) -> str:
    """The address of a route: parameters by their names, all others by a number."""
    return "/" + PARAMETER.sub(lambda match: given.get(match[1], number), route)


def names_of_forms() -> list[str]:
    """The fields of every form class of ours."""
    packages = [import_module(name) for name in ("evaluations.web.forms", "annotations.forms")]
    modules = [
        import_module(f"{package.__name__}.{module.name}")
        for package in packages
        for module in iter_modules(package.__path__)
    ]
    classes = [
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, forms.BaseForm)
    ]
    of_goals = {"difference", "price", "criterion", *ASKED}  # added to each instance
    of_goals |= {f"goal_{name}" for name in of_goals}
    return sorted(
        {name for each in classes for name in getattr(each, "base_fields", {})} | of_goals
    )


def names_on_page(content: str) -> list[str]:
    """The fields on a page, which may have names made for its records."""
    return sorted(set(NAMED.findall(content)) - CALLING)


def filled(names: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """A form with some of its fields, one or several times."""
    several = values | st.lists(values, max_size=3)
    return st.dictionaries(st.sampled_from(names or ["name"]), several, max_size=12)
