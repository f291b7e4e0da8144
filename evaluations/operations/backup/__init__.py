"""The whole site in one file: written while the site works, verified, and restored all or
nothing."""
