"""geval_site: find out, with statistics, whether an LLM may judge your texts."""

__version__ = "0.1.0"

from geval_site.celery import app as celery_app

__all__ = ["celery_app"]
