"""The HTTP API: `/api/v1/`, described by its own OpenAPI document at `/api/v1/docs`."""
