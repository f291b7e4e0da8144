"""How texts, ratings and scores come in: readers (bytes to rows), staging and checks, one
transaction."""
