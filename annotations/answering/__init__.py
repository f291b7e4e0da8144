"""One annotator and one item: what is shown, what is submitted, and where it is stored."""
