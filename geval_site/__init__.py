"""geval_site: find out, with statistics, whether an LLM can judge your texts."""

from geval_site.version import __version__

__all__ = ["__version__"]
