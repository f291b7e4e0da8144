"""Counts what somebody does with the mouse on the way to something."""

import math
from typing import Any

from playwright.sync_api import Locator


class Clicks:
    """Clicks, counted; one too many fails. What a browser shows outside of the page (a list, a
    dialog for files) is clicked as well: add it to `count`."""

    def __init__(self, at_most: float = math.inf) -> None:
        self.count, self.at_most = 0, at_most

    def on(self, *targets: Locator) -> None:
        for target in targets:
            target.click()
            self._add()

    def choose(self, target: Locator, *values: str, **options: Any) -> None:
        """Choose of a drop-down list."""
        target.select_option(*values, **options)
        self._add()

    def choose_file(self, target: Locator, file: Any) -> None:
        target.set_input_files(file)
        self._add()

    def _add(self) -> None:
        self.count += 1
        assert self.count <= self.at_most, f"takes more than {self.at_most} clicks"
