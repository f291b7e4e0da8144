"""Whether an LLM may judge texts, from ratings and scores in a file or a table: no site is needed.

`geval.measure` reads them, computes a report as the site does, and shows it."""
