"""A project as one YAML file."""
