"""A judge from a notebook or a terminal: G-Eval on the outputs of files and tables, without a site.

`geval.evaluate` reads them, asks a model as a site's workers do, and keeps answers in a file."""
