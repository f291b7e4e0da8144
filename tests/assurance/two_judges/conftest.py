"""Reports of a test begin with nothing cached."""

from tests.reports.conftest import project

__all__ = ["project"]
