"""A project as one YAML file: read, checked, compared with a site, applied, written."""
