"""`python -m evaluations.corpus.apart`: a process that reads files for the site."""

from evaluations.corpus.apart.process import main

main()
