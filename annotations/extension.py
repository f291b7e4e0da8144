"""What this app adds to the site besides its pages, which have addresses of their own."""

from geval_site.extensions import Extension

EXTENSION = Extension(api="annotations.api")
