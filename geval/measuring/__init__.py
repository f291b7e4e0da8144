"""Find out whether an LLM may judge texts, from ratings and scores in a file or a table, without a
site.

`geval.measure` reads them, computes the same report as a site, and shows it.
"""
