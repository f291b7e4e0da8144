"""Gunicorn's configuration; options on its command line take precedence.

https://docs.gunicorn.org/en/stable/settings.html
"""

import os
from typing import Any

from geval_site import environment
from geval_site.metrics_folder import remove_metrics, share_metrics
from geval_site.processes import hide_secrets

# Gunicorn's threads, used only once a request's headers have arrived, because of slow clients.
worker_class = "geval_site.web_worker.HeadFirstWorker"
workers = 2
threads = 4
# A worker accepts hardly more requests than it has threads, and keeps no idle connections, so that
# another worker can answer requests that this one cannot start.
worker_connections = 5
keepalive = 0
# Seconds allowed for loading, or for opening a large report for the first time.
timeout = 120
loglevel = "warning"
logger_class = "geval_site.web_log.WebLogger"

# Its first process never reads the settings.
if environment.text("GEVAL_MODE", default="production") == "production":
    hide_secrets()
# Files that libraries write, such as counters, are readable only by the site's own user.
os.umask(0o077)
# Now, because the application may be loaded before any hook is called.
share_metrics()


def on_exit(_server: Any) -> None:
    """Clean up; Gunicorn calls this when its first process ends."""
    remove_metrics()
