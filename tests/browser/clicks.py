"""Counts what somebody does with the mouse on the way to something."""

from playwright.sync_api import Locator


class Clicks:
    """Clicks, counted; choosing a file is one as well (add it to `count`)."""

    def __init__(self) -> None:
        self.count = 0

    def on(self, target: Locator) -> None:
        target.click()
        self.count += 1
