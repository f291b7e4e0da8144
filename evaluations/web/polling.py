"""Parts of pages that poll the server."""

# htmx uses the response and stops polling.
STOP_POLLING = 286
