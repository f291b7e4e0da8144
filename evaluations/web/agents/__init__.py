"""The interface for coding agents (MCP): a few tools with short answers."""
