"""The Chromium of tests/browser."""

from tests.browser.conftest import (
    browser,
    context,
    desk,
    home,
    kept_data,
    owned,
    sign_in,
    site,
    worker,
)

__all__ = ["browser", "context", "desk", "home", "kept_data", "owned", "sign_in", "site", "worker"]
