"""Format Gunicorn's messages like all other log lines."""

from typing import Any

from gunicorn.glogging import Logger

from geval_site import environment, logs


class WebLogger(Logger):
    """The logger class of `web_server.py`."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        production = environment.text("GEVAL_MODE", default="production") == "production"
        lines = logs.formatter(logs.format_from_environment(production=production))
        for handler in (*self.error_log.handlers, *self.access_log.handlers):
            handler.setFormatter(lines)
