"""Parts of pages that ask for themselves again."""

# htmx takes the answer and asks no more.
STOP_POLLING = 286
