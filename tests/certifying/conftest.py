"""The project of tests/improving: judges of known quality, three raters, 60 documents."""

from tests.improving.conftest import criterion, judge, rated_project

__all__ = ["criterion", "judge", "rated_project"]
