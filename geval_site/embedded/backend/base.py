"""Django's PostgreSQL backend, which starts the embedded server before it connects."""

from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base

from geval_site.embedded.server import embedded_server


class DatabaseWrapper(base.DatabaseWrapper):
    """Keeps the server running as long as any connected process lives; the last to end stops it."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        embedded_server(settings.DATA_DIR).ensure_running()
        return super().get_new_connection(conn_params)
