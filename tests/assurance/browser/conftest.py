"""The Chromium of tests/browser."""

from tests.browser.conftest import browser, context, sign_in, site

__all__ = ["browser", "context", "sign_in", "site"]
