"""Run a judge from a notebook or a terminal: G-Eval on the outputs of files and tables, without a
site.

`geval.evaluate` reads them, asks a model like a site's workers, and stores answers in a file.
"""
