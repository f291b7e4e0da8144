"""Members of a project, their rights, and the audit log."""
