"""What tests of this app begin with: judges of known quality, and documents to lock."""

from tests.strict_judge import criterion, judge, locked, rated_project

__all__ = ["criterion", "judge", "locked", "rated_project"]
