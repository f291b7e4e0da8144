"""The whole site in one file: written while it works, read through, and restored all or nothing."""
