"""`python -m geval_site` is `geval-site`."""

from geval_site.command_line import main

main()
