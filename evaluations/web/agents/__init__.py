"""The interface for coding agents (MCP): the HTTP API as a few tools with short answers."""
