"""Pages and API of this app."""
