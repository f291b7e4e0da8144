"""What coding agents call (MCP): the HTTP API as a few tools with short answers."""
