"""Pages and API of what this app does."""
