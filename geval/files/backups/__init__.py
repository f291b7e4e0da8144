"""A site's backup as a file: a zip of the dump and a manifest with checksums, written under its
name once it is complete, and read through without a site; and the names of those that a timer
makes."""
