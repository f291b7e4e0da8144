"""geval_site: find out, with statistics, whether an LLM can judge your texts."""

from geval_site.celery import app as celery_app
from geval_site.version import __version__

__all__ = ["__version__", "celery_app"]
