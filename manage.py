#!/usr/bin/env python
"""Command line of geval_site: `python manage.py help` lists what it can do."""

from geval_site.command_line import main

if __name__ == "__main__":
    main()
