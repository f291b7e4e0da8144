"""Two judges of a project of which nothing is cached."""

from tests.reports.conftest import project

__all__ = ["project"]
