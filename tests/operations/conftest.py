"""What tests of operations share with those of the log."""

from tests.logs.conftest import lines

__all__ = ["lines"]
