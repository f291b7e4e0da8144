"""What the site is measured by; each is a `make bench-…` target that prints figures and ratios of
one run."""
