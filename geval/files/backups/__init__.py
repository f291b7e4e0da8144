"""A site's backup as a file: a zip of the dump and a manifest with checksums, which gets its name
once it is complete, and can be verified without a site; and the names of scheduled backups."""
